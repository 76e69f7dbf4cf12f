import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { wrangler } from '../../scripts/wrangler.mjs'
import { cellNames } from '../harness/server.mjs'

/*
 * Backs up and restores the data of a stopped local server with an operator's tools: wrangler for
 * databases, file copies for ledgers.
 */

const stateFolder = (folder) => join(folder, '.wrangler/state')
const databaseFolder = (folder) => join(stateFolder(folder), 'v3/d1')
const ledgerFolder = (folder) => join(stateFolder(folder), 'v3/do')

/** Writes a configuration with the folder's databases; returns wrangler's options to use it. */
function configureWrangler(folder, cells) {
  const blocks = cellNames(cells).map(
    (name) =>
      `[[d1_databases]]\nbinding = "${name}"\ndatabase_name = "${name}"\ndatabase_id = "${name}"\n`,
  )
  const file = join(folder, 'wrangler.toml')
  writeFileSync(file, `name = "drill"\n\n${blocks.join('\n')}`)
  return ['--local', '--config', file]
}

function runWrangler(...args) {
  const { ok, output } = wrangler(...args)
  if (!ok) throw new Error(`wrangler ${args.join(' ')}\n${output}`)
}

export function exportDatabases(folder, cells, to) {
  const options = configureWrangler(folder, cells)
  for (const name of cellNames(cells))
    runWrangler('d1', 'export', name, ...options, '--output', join(to, `${name}.sql`))
}

export function importDatabases(folder, cells, from) {
  const options = configureWrangler(folder, cells)
  deleteDatabases(folder)
  for (const name of cellNames(cells))
    runWrangler(
      'd1',
      'execute',
      name,
      ...options,
      '--persist-to',
      stateFolder(folder),
      '--yes',
      '--file',
      join(from, `${name}.sql`),
    )
}

const deleteDatabases = (folder) => rmSync(databaseFolder(folder), { recursive: true, force: true })

export const copyLedgers = (folder, to) =>
  cpSync(ledgerFolder(folder), join(to, 'ledgers'), { recursive: true })

export function restoreLedgers(folder, from) {
  rmSync(ledgerFolder(folder), { recursive: true, force: true })
  if (existsSync(join(from, 'ledgers')))
    cpSync(join(from, 'ledgers'), ledgerFolder(folder), { recursive: true })
}
