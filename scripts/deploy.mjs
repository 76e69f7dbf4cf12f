// Deploys Perigee to a Cloudflare account and creates what is missing there. Can be run again at
// any time.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuckets } from './buckets.mjs'
import { run } from './child.mjs'
import { requireValidAccess, requireValidPublicUrl } from './public-url.mjs'
import { ensureSecrets, randomSecret } from './secrets.mjs'
import { fail, useToolchain } from './toolchain.mjs'
import { listDatabases, listRequiredSecrets, wrangler, writeDatabaseId } from './wrangler.mjs'

// The operator's copy of the secrets that the first deploy generated.
const secretsFile = '.deploy.vars'

await useToolchain()
await requireValidPublicUrl()
await requireValidAccess()
chooseAccount()
for (const database of listDatabases()) if (!database.isCreated) ensureDatabase(database)
ensureBuckets()
const secrets = secretArguments()
// Before the code: the new code may need the new schema, and the old code must work with it.
for (const { binding } of listDatabases())
  await runWrangler('d1', 'migrations', 'apply', binding, '--remote')
const urls = await deploy(secrets)
printNextSteps(urls[0] ?? 'https://<your Worker>')

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
    /^account_id\s*=/m.test(readFileSync('wrangler.toml', 'utf8'))
  )
    return
  const choices = accounts.map(
    ({ id, name }) => `  CLOUDFLARE_ACCOUNT_ID=${id} npm run deploy   # ${name}`,
  )
  fail(`You have several Cloudflare accounts. Choose the one to deploy to:\n${choices.join('\n')}`)
}

function ensureDatabase(database) {
  const id = findDatabaseId(database.name) ?? createDatabase(database.name)
  writeDatabaseId(database, id)
  console.log(`The id of the database ${database.name}, ${id}, is now in wrangler.toml. Commit it.`)
}

function createDatabase(name) {
  const { ok, output } = wrangler('d1', 'create', name)
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
  const code = await run('wrangler', args)
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
