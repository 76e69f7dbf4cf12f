// Fails when src/db/schema.ts has a change that no migration makes. Tries on a copy, so that the tree stays clean.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'

mkdirSync('.wrangler', { recursive: true })
// Inside the project: drizzle-kit takes an absolute path for a relative one.
const copy = mkdtempSync('.wrangler/migrations-')
try {
  cpSync('migrations', copy, { recursive: true })
  const args = ['generate', '--dialect', 'sqlite', '--schema', './src/db/schema.ts', '--out', copy]
  const { stdout, stderr } = spawnSync('drizzle-kit', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Its exit code is 0 even when it fails.
  if (!stdout?.includes('nothing to migrate')) {
    console.error(
      `${stdout}${stderr}\nsrc/db/schema.ts and migrations/ differ: run npm run migrate:new -- --name what_changes`,
    )
    process.exitCode = 1
  }
} finally {
  rmSync(copy, { recursive: true })
}
