// Deploys Perigee to a Cloudflare account and creates what is missing there. Can be run again at
// any time.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuckets } from './buckets.mjs'
import { run } from './child.mjs'
import {
  chooseJurisdiction,
  configOf,
  parseOptions,
  readVariable,
  setDomain,
} from './deploy-config.mjs'
import { requireValidAccess, requireValidPublicUrl } from './public-url.mjs'
import { ensureSecrets, randomSecret } from './secrets.mjs'
import { fail, useToolchain } from './toolchain.mjs'
import {
  listDatabases,
  listRequiredSecrets,
  useConfig,
  withConfig,
  wrangler,
  writeDatabaseId,
} from './wrangler.mjs'

let configFile
let secretsFile

await useToolchain()
const options = readOptions()
prepareConfig()
await requireValidPublicUrl(readVariable(readConfig(), 'PUBLIC_URL') ?? '')
await requireValidAccess()
chooseAccount()
for (const database of listDatabases()) if (!database.isCreated) ensureDatabase(database)
ensureBuckets(readConfig())
const secrets = secretArguments()
// Before the code: the new code may need the new schema, and the old code must work with it.
for (const { binding } of listDatabases())
  await runWrangler('d1', 'migrations', 'apply', binding, '--remote')
const urls = await deploy(secrets)
printNextSteps(urls[0] ?? 'https://<your Worker>')

function readOptions() {
  try {
    return parseOptions(process.argv.slice(2))
  } catch (error) {
    return fail(error.message)
  }
}

/** Writes what the options ask for into the configuration of the environment. */
function prepareConfig() {
  const production = readFileSync('wrangler.toml', 'utf8')
  const { env } = options
  configFile = env === null ? 'wrangler.toml' : `wrangler.${env}.toml`
  // The operator's copy of the secrets that the first deploy generated.
  secretsFile = env === null ? '.deploy.vars' : `.deploy.${env}.vars`
  useConfig(configFile)
  const before = existsSync(configFile) ? readConfig() : null
  try {
    const own = env === null ? production : configOf(env, production, before)
    const config = setDomain(chooseJurisdiction(own, options.jurisdiction), options.domain)
    if (config !== before) writeFileSync(configFile, config)
  } catch (error) {
    fail(error.message)
  }
}

function readConfig() {
  return readFileSync(configFile, 'utf8')
}

/** Where databases and buckets are created. */
function placeArguments() {
  const jurisdiction = readVariable(readConfig(), 'JURISDICTION')
  return jurisdiction ? ['--jurisdiction', jurisdiction] : []
}

function chooseAccount() {
  const { ok, stdout } = wrangler('whoami', '--json')
  if (!ok)
    fail(
      'You are not logged in to Cloudflare. Run npx wrangler login (or set CLOUDFLARE_API_TOKEN), then npm run deploy again.',
    )
  const { accounts = [] } = JSON.parse(stdout)
  if (
    accounts.length < 2 ||
    process.env.CLOUDFLARE_ACCOUNT_ID ||
    /^account_id\s*=/m.test(readConfig())
  )
    return
  const choices = accounts.map(
    ({ id, name }) => `  CLOUDFLARE_ACCOUNT_ID=${id} npm run deploy   # ${name}`,
  )
  fail(`You have several Cloudflare accounts. Choose the one to deploy to:\n${choices.join('\n')}`)
}

function ensureDatabase(database) {
  const present = findDatabaseId(database.name)
  if (present && !options.adopt)
    fail(
      `The Cloudflare account has a database named ${database.name} already, and ${configFile} does not have its id. If it belongs to this installation, deploy again with --adopt: its data stay, and the migrations that it lacks are applied. Otherwise change database_name in wrangler.toml.`,
    )
  // What CI writes into its copy of the repository is lost, and with it the id.
  if (!present && process.env.CI)
    fail(
      `The database ${database.name} does not exist yet. Make the first deploy on your own machine, commit ${configFile}, then deploy from CI.`,
    )
  const id = present ?? createDatabase(database.name)
  writeDatabaseId(database, id)
  console.log(`The id of the database ${database.name}, ${id}, is now in ${configFile}. Commit it.`)
}

function createDatabase(name) {
  const { ok, output } = wrangler('d1', 'create', name, ...placeArguments())
  return (ok && findDatabaseId(name)) || fail(`${output}\nCould not create the database ${name}.`)
}

function findDatabaseId(name) {
  const { ok, stdout, output } = wrangler('d1', 'list', '--json')
  if (!ok) fail(output)
  return JSON.parse(stdout).find((database) => database.name === name)?.uuid
}

/** A Worker that does not exist yet gets its secrets together with its first deploy. */
function secretArguments() {
  const { ok, stdout, output } = wrangler('secret', 'list', '--format', 'json')
  if (!ok && !/Worker ".*" not found/.test(output)) fail(output)
  if (!ok) {
    const stored = ensureSecrets(
      secretsFile,
      Object.fromEntries(listRequiredSecrets().map((name) => [name, generateSecret(name)])),
    )
    const missing = listRequiredSecrets().filter((name) => !stored[name])
    if (missing.length > 0)
      fail(
        `Add your provider's secrets to ${secretsFile}, then deploy again: ${missing.join(', ')}`,
      )
    return ['--secrets-file', secretsFile]
  }
  const present = JSON.parse(stdout).map(({ name }) => name)
  const missing = listRequiredSecrets().filter((name) => !present.includes(name))
  if (missing.length === 0) return []
  const random = `node -p "crypto.randomBytes(32).toString('base64url')" | `
  const commands = missing.map(
    (name) => `  ${generateSecret(name) && random}npx wrangler secret put ${name}`,
  )
  return fail(
    `Secrets of the Worker are missing. Set each, then deploy again:\n${commands.join('\n')}`,
  )
}

/** A new value for the service's own secrets; a provider's cannot be generated. */
function generateSecret(name) {
  return ['TOKEN_SECRET', 'ADMIN_TOKEN'].includes(name) ? randomSecret() : ''
}

/** Deploys and returns the Worker's addresses. */
async function deploy(args) {
  const folder = mkdtempSync(join(tmpdir(), 'perigee-deploy-'))
  process.env.WRANGLER_OUTPUT_FILE_PATH = join(folder, 'output.ndjson')
  try {
    await runWrangler('deploy', ...args)
    const records = readFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const { targets = [] } = records.find(({ type }) => type === 'deploy') ?? {}
    return targets.filter((target) => target.startsWith('https://'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs wrangler on the terminal, where it can ask questions. */
async function runWrangler(...args) {
  const code = await run('wrangler', withConfig(args))
  if (code !== 0)
    fail(`wrangler ${args.join(' ')} failed. Fix the cause, then run npm run deploy again.`)
}

function printNextSteps(url) {
  const token = existsSync(secretsFile)
    ? `The secrets are in ${secretsFile}. Move them to a safe place and delete the file.\n\n  export ADMIN_TOKEN=$(sed -n s/^ADMIN_TOKEN=//p ${secretsFile})`
    : `  export ADMIN_TOKEN=…   # the value you set`
  const account = JSON.stringify({
    userName: 'acme',
    name: 'Acme',
    licenses: 25,
    timeZone: 'Europe/Lisbon',
  })
  console.log(`\nPerigee is at ${url}, its reference page at ${url}/docs.\n
To create an account (the reply shows its API key once):\n\n${token}
  curl ${url}/admin/accounts -H "Authorization: Bearer $ADMIN_TOKEN" -H 'Content-Type: application/json' \\
    -d '${account}'\n`)
}
