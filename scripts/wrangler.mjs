import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

let configFile = 'wrangler.toml'
const PLACEHOLDER_ID = '00000000-0000-0000-0000-000000000000'

/** From here on another file is read and given to wrangler. */
export function useConfig(file) {
  configFile = file
}

/** The arguments of wrangler, with the file if it is not the usual one. */
export const withConfig = (args) =>
  configFile === 'wrangler.toml' ? args : [...args, '--config', configFile]

/** Runs wrangler without a terminal, so that it asks no questions. */
export function wrangler(...args) {
  const { status, stdout, stderr } = spawnSync('wrangler', withConfig(args), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { ok: status === 0, stdout, output: `${stdout}${stderr}` }
}

const readConfig = () => readFileSync(configFile, 'utf8')

/** The D1 databases of wrangler.toml. */
export function listDatabases(config = readConfig()) {
  const blocks = config.match(/^\[\[d1_databases\]\]\n(?:(?!\[).*\n?)*/gm) ?? []
  return blocks.map((block) => {
    const read = (key) => block.match(new RegExp(`^${key}\\s*=\\s*"(.*)"`, 'm'))?.[1]
    return {
      block,
      binding: read('binding'),
      name: read('database_name'),
      isCreated: read('database_id') !== PLACEHOLDER_ID,
      /** What wrangler calls it on this machine. */
      localId: read('preview_database_id') ?? read('database_id') ?? read('binding'),
    }
  })
}

export function writeDatabaseId({ block }, id) {
  writeFileSync(configFile, readConfig().replace(block, block.replace(PLACEHOLDER_ID, id)))
}

export function listRequiredSecrets(config = readConfig()) {
  const list = config.match(/^\[secrets\]\s*\nrequired\s*=\s*\[([^\]]*)\]/m)?.[1] ?? ''
  return [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name)
}

/** Those of the names that wrangler does not read from `.dev.vars`, and `npm start` neither. */
export function listUnread(names, config = readConfig()) {
  const variables = config.match(/^\[vars\]\n(?:(?!\[).*\n?)*/m)?.[0] ?? ''
  const read = [
    ...listRequiredSecrets(config),
    ...[...variables.matchAll(/^(\w+)\s*=/gm)].map(([, name]) => name),
    'PUBLIC_URL',
  ]
  return names.filter((name) => !read.includes(name) && !name.startsWith('DEMO_'))
}

/** The variables of a service on this machine, as options of `wrangler dev`. */
export function localVariables(base, { PUBLIC_URL, ALLOW_LOOPBACK_WEBHOOKS }) {
  const variables = {
    // Links in e-mails are made from it, never from the address that a request names.
    PUBLIC_URL: process.env.PUBLIC_URL || PUBLIC_URL || base,
    ALLOW_LOOPBACK_WEBHOOKS: ALLOW_LOOPBACK_WEBHOOKS || 'true',
  }
  return Object.entries(variables).flatMap(([name, value]) => ['--var', `${name}:${value}`])
}
