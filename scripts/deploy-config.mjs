// What a deploy reads and writes in the configuration. Pure, so that tests can try it.

const PLACEHOLDER_ID = '00000000-0000-0000-0000-000000000000'
export const JURISDICTIONS = ['eu', 'fedramp']

/** The options of `npm run deploy`; throws a sentence for one that is not known. */
export function parseOptions(args) {
  const options = { env: null, jurisdiction: null, domain: null, adopt: false }
  for (let at = 0; at < args.length; at++) {
    const name = args[at].replace(/^--/, '')
    if (name === 'adopt') options.adopt = true
    else if (args[at].startsWith('--') && name in options && args[at + 1])
      options[name] = args[++at]
    else
      throw new Error(
        `${args[at]} is not an option. Use --env NAME, --jurisdiction ${JURISDICTIONS.join('|')}, --domain NAME or --adopt.`,
      )
  }
  const { env, jurisdiction, domain } = options
  if (env !== null && !/^[a-z][a-z0-9-]{0,20}$/.test(env))
    throw new Error('--env must be lower-case letters, digits and hyphens, such as staging.')
  if (jurisdiction !== null && !JURISDICTIONS.includes(jurisdiction))
    throw new Error(`--jurisdiction must be one of ${JURISDICTIONS.join(', ')}.`)
  if (domain !== null && !/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain))
    throw new Error('--domain must be a host name, such as perigee.example.com.')
  return options
}

export const readVariable = (config, name) =>
  config.match(new RegExp(`^${name}\\s*=\\s*"(.*?)"`, 'm'))?.[1] ?? null

export const readJurisdiction = (config) => readVariable(config, 'JURISDICTION')

/** Sets a variable under [vars]. */
export function setVariable(config, name, value) {
  const line = `${name} = "${value}"`
  const present = new RegExp(`^${name}\\s*=.*$`, 'm')
  return present.test(config)
    ? config.replace(present, line)
    : config.replace(/^\[vars\]\n/m, `[vars]\n${line}\n`)
}

/** Buckets have a jurisdiction of their own; D1 and objects get theirs otherwise. */
const setBucketJurisdiction = (config, jurisdiction) =>
  config.replace(
    /^(bucket_name\s*=.*)\n(?!jurisdiction)/gm,
    `$1\njurisdiction = "${jurisdiction}"\n`,
  )

/**
 * The configuration with the jurisdiction; throws when a database exists already, since neither it
 * nor the objects can move.
 */
export function chooseJurisdiction(config, wanted) {
  const recorded = readJurisdiction(config)
  if (wanted === null || wanted === recorded) return config
  const ids = [...config.matchAll(/^database_id\s*=\s*"(.*)"/gm)].map(([, id]) => id)
  if (recorded !== null || ids.some((id) => id !== PLACEHOLDER_ID))
    throw new Error(
      `This installation was created ${recorded ? `with --jurisdiction ${recorded}` : 'without a jurisdiction'}, and its databases and objects cannot move. Deploy without --jurisdiction ${wanted}, or create another installation with it (--env NAME) and move the accounts by export and import.`,
    )
  return setBucketJurisdiction(setVariable(config, 'JURISDICTION', wanted), wanted)
}

/** A host name of a zone in the same Cloudflare account, with links that begin with it. */
export function setDomain(config, domain) {
  if (domain === null) return config
  const route = `routes = [{ pattern = "${domain}", custom_domain = true }]`
  const withRoute = /^routes\s*=/m.test(config)
    ? config.replace(/^routes\s*=.*$/m, route)
    : config.replace(/^workers_dev\s*=.*$/m, `$&\n${route}`)
  return setVariable(withRoute, 'PUBLIC_URL', `https://${domain}`)
}

/** What an environment keeps of its own from one deploy to the next. */
function keepOwn(config, before) {
  if (before === null) return config
  const idOf = new Map(
    [...before.matchAll(/^database_name\s*=\s*"(.*)"\ndatabase_id\s*=\s*"(.*)"/gm)].map(
      ([, name, id]) => [name, id],
    ),
  )
  let own = config.replace(
    /^(database_name\s*=\s*"(.*)"\ndatabase_id\s*=\s*")(.*)"/gm,
    (_, start, name, id) => `${start}${idOf.get(name) ?? id}"`,
  )
  const jurisdiction = readJurisdiction(before)
  if (jurisdiction !== null)
    own = setBucketJurisdiction(setVariable(own, 'JURISDICTION', jurisdiction), jurisdiction)
  const domain = before.match(/^routes\s*=.*pattern = "(.*?)"/m)?.[1] ?? null
  return setDomain(own, domain)
}

/**
 * The configuration of another environment: everything is its own (Worker, databases, buckets, queues,
 * counters), no message leaves it, and production's addresses are not in it. Made anew at each deploy
 * from wrangler.toml, so that a new binding is not forgotten.
 */
export function configOf(env, production, before) {
  const own = production
    .replace(/^routes\s*=.*\n/m, '')
    .replace(/^(PUBLIC_URL|JURISDICTION)\s*=.*\n/gm, '')
    .replace(/^jurisdiction\s*=.*\n/gm, '')
    .replace(
      /^(database_name|preview_database_id|bucket_name|queue)\s*=\s*"(.*?)"/gm,
      `$1 = "$2-${env}"`,
    )
    // The first name is the Worker's, later ones are those of bindings.
    .replace(/^name\s*=\s*"(.*?)"/m, `name = "$1-${env}"`)
    .replace(/^(dataset)\s*=\s*"(.*?)"/gm, (_, key, value) => `${key} = "${value}_${env}"`)
    .replace(/^database_id\s*=.*$/gm, `database_id = "${PLACEHOLDER_ID}"`)
    .replace(/^(EMAIL|SMS|VOICE)_PROVIDER\s*=.*$/gm, '$1_PROVIDER = "outbox"')
    .replace(/^namespace_id\s*=\s*"(\d+)"/gm, (_, id) => `namespace_id = "${namespaceOf(env, id)}"`)
  const head = `# Made from wrangler.toml by npm run deploy -- --env ${env}. Commit it; change wrangler.toml instead.\n`
  return keepOwn(head + own, before)
}

/** Workers that use the same number share their counters. */
function namespaceOf(env, id) {
  let sum = 0
  for (const character of env) sum = (sum * 31 + character.codePointAt(0)) % 1_000_000
  return String(Number(id) + 10_000 * (1 + sum))
}
