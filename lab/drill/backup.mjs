import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { wrangler } from '../../scripts/wrangler.mjs'
import { cellNames } from '../harness/server.mjs'

/* The data of a stopped local server, taken out and put back with the tools that an operator has: wrangler for the databases, files for the ledgers. */

const stateOf = (folder) => join(folder, '.wrangler/state')
const databasesOf = (folder) => join(stateOf(folder), 'v3/d1')
const ledgersOf = (folder) => join(stateOf(folder), 'v3/do')

/** Lets wrangler find the databases of a folder. */
function configure(folder, cells) {
  const blocks = cellNames(cells).map(
    (name) =>
      `[[d1_databases]]\nbinding = "${name}"\ndatabase_name = "${name}"\ndatabase_id = "${name}"\n`,
  )
  const file = join(folder, 'wrangler.toml')
  writeFileSync(file, `name = "drill"\n\n${blocks.join('\n')}`)
  return ['--local', '--config', file]
}

function succeed(...args) {
  const { ok, output } = wrangler(...args)
  if (!ok) throw new Error(`wrangler ${args.join(' ')}\n${output}`)
}

export function exportDatabases(folder, cells, to) {
  const where = configure(folder, cells)
  for (const name of cellNames(cells))
    succeed('d1', 'export', name, ...where, '--output', join(to, `${name}.sql`))
}

export function importDatabases(folder, cells, from) {
  const where = configure(folder, cells)
  destroyDatabases(folder)
  for (const name of cellNames(cells))
    succeed(
      'd1',
      'execute',
      name,
      ...where,
      '--persist-to',
      stateOf(folder),
      '--yes',
      '--file',
      join(from, `${name}.sql`),
    )
}

export const destroyDatabases = (folder) =>
  rmSync(databasesOf(folder), { recursive: true, force: true })

export const copyLedgers = (folder, to) =>
  cpSync(ledgersOf(folder), join(to, 'ledgers'), { recursive: true })

export function putBackLedgers(folder, from) {
  rmSync(ledgersOf(folder), { recursive: true, force: true })
  if (existsSync(join(from, 'ledgers')))
    cpSync(join(from, 'ledgers'), ledgersOf(folder), { recursive: true })
}
