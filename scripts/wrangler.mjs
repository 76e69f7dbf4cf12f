import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const configFile = 'wrangler.toml'
const PLACEHOLDER_ID = '00000000-0000-0000-0000-000000000000'

/** Runs wrangler without a terminal, so that it asks no questions. */
export function wrangler(...args) {
  const { status, stdout, stderr } = spawnSync('wrangler', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { ok: status === 0, stdout, output: `${stdout}${stderr}` }
}

/** The D1 databases of wrangler.toml. */
export function listDatabases() {
  const blocks =
    readFileSync(configFile, 'utf8').match(/^\[\[d1_databases\]\]\n(?:(?!\[).*\n?)*/gm) ?? []
  return blocks.map((block) => {
    const read = (key) => block.match(new RegExp(`^${key}\\s*=\\s*"(.*)"`, 'm'))?.[1]
    return {
      block,
      binding: read('binding'),
      name: read('database_name'),
      isCreated: read('database_id') !== PLACEHOLDER_ID,
    }
  })
}

export function writeDatabaseId({ block }, id) {
  const config = readFileSync(configFile, 'utf8')
  writeFileSync(configFile, config.replace(block, block.replace(PLACEHOLDER_ID, id)))
}

export function listRequiredSecrets() {
  const list =
    readFileSync(configFile, 'utf8').match(/^\[secrets\]\s*\nrequired\s*=\s*\[([^\]]*)\]/m)?.[1] ??
    ''
  return [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name)
}
