// Fails if src/db/schema.ts has a change without a migration. Works on a copy of the migrations.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'

mkdirSync('.wrangler', { recursive: true })
// Inside the project, because drizzle-kit reads an absolute path as a relative one.
const copy = mkdtempSync('.wrangler/migrations-')
try {
  cpSync('migrations', copy, { recursive: true })
  const args = ['generate', '--dialect', 'sqlite', '--schema', './src/db/schema.ts', '--out', copy]
  const { stdout, stderr } = spawnSync('drizzle-kit', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // drizzle-kit exits with 0 even when it fails.
  if (!stdout?.includes('nothing to migrate')) {
    console.error(
      `${stdout}${stderr}\nsrc/db/schema.ts has a change without a migration. Run npm run migrate:new -- --name what_changes`,
    )
    process.exitCode = 1
  }
} finally {
  rmSync(copy, { recursive: true })
}
