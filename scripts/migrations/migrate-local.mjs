import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fail } from '../toolchain.mjs'
import { listDatabases, wrangler } from '../wrangler.mjs'

// Next to the data, so that it is deleted with them.
const stampFolder = '.wrangler/state/v3/d1'
const stamp = `${stampFolder}/migrated.json`

/**
 * Applies migrations only when a database or a migration is new: wrangler takes two seconds for
 * each database.
 */
export function migrateLocalDatabases() {
  const fault = findSharedDatabase(listDatabases())
  if (fault) fail(fault)
  const migrations = readdirSync('migrations').filter((file) => file.endsWith('.sql'))
  const state = JSON.stringify([listDatabases().map(({ block }) => block), migrations])
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return
  for (const { binding } of listDatabases()) {
    const applied = wrangler('d1', 'migrations', 'apply', binding, '--local')
    if (!applied.ok) fail(`${applied.output}\nCould not apply the migrations of ${binding}.`)
  }
  mkdirSync(stampFolder, { recursive: true })
  writeFileSync(stamp, state)
}

/** What is wrong when two cells are one database on this machine; undefined when none are. */
export function findSharedDatabase(databases) {
  for (const { binding, name, localId } of databases) {
    const other = databases.find((one) => one.localId === localId)
    if (other.binding !== binding)
      return `${other.binding} and ${binding} of wrangler.toml would share one local database. Add to the block of ${binding} the line\n\n  preview_database_id = "${name}"\n`
  }
}
