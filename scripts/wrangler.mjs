import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const configFile = 'wrangler.toml'
const unmadeId = '00000000-0000-0000-0000-000000000000'

/** Runs wrangler without a terminal, so that it asks nothing. */
export function wrangler(...args) {
  const { status, stdout, stderr } = spawnSync('wrangler', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { ok: status === 0, stdout, output: `${stdout}${stderr}` }
}

/** Every D1 database that wrangler.toml binds. */
export function databases() {
  const blocks =
    readFileSync(configFile, 'utf8').match(/^\[\[d1_databases\]\]\n(?:(?!\[).*\n?)*/gm) ?? []
  return blocks.map((block) => {
    const read = (key) => block.match(new RegExp(`^${key}\\s*=\\s*"(.*)"`, 'm'))?.[1]
    return {
      block,
      binding: read('binding'),
      name: read('database_name'),
      made: read('database_id') !== unmadeId,
    }
  })
}

export function writeDatabaseId({ block }, id) {
  const config = readFileSync(configFile, 'utf8')
  writeFileSync(configFile, config.replace(block, block.replace(unmadeId, id)))
}

export function requiredSecrets() {
  const list =
    readFileSync(configFile, 'utf8').match(/^\[secrets\]\s*\nrequired\s*=\s*\[([^\]]*)\]/m)?.[1] ??
    ''
  return [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name)
}
