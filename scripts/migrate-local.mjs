import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fail } from './toolchain.mjs'
import { databases, wrangler } from './wrangler.mjs'

// Beside the data, so that it goes when they go.
const stampFolder = '.wrangler/state/v3/d1'
const stamp = `${stampFolder}/migrated.json`

/** Asking wrangler takes two seconds a database: it is asked only when a database or a migration is new. */
export function migrateLocalDatabases() {
  const migrations = readdirSync('migrations').filter((file) => file.endsWith('.sql'))
  const state = JSON.stringify([databases().map(({ block }) => block), migrations])
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return
  for (const { binding } of databases()) {
    const applied = wrangler('d1', 'migrations', 'apply', binding, '--local')
    if (!applied.ok) fail(`${applied.output}\nThe migrations of ${binding} could not be applied.`)
  }
  mkdirSync(stampFolder, { recursive: true })
  writeFileSync(stamp, state)
}
