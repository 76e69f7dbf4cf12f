// Puts Perigee on a real Cloudflare account; the first time it makes what is missing there. Can be run again at any point.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './child.mjs'
import { ensureSecrets, randomSecret } from './secrets.mjs'
import { fail, useToolchain } from './toolchain.mjs'
import { databases, requiredSecrets, wrangler, writeDatabaseId } from './wrangler.mjs'

// The operator's own copy of what the first deploy made up.
const secretsFile = '.deploy.vars'

await useToolchain()
chooseAccount()
for (const database of databases()) if (!database.made) makeDatabase(database)
const secrets = secretArguments()
// The schema first: the new code may need it, and the old code must bear it until then.
for (const { binding } of databases())
  await succeed('d1', 'migrations', 'apply', binding, '--remote')
const urls = await deploy(secrets)
nextSteps(urls[0] ?? 'https://<where you deployed>')

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
  fail(`You have several Cloudflare accounts. Say which one to deploy to:\n${choices.join('\n')}`)
}

function makeDatabase(database) {
  const id = databaseId(database.name) ?? created(database.name)
  writeDatabaseId(database, id)
  console.log(`The database ${database.name} is ${id}; wrangler.toml says so now. Commit that.`)
}

function created(name) {
  const { ok, output } = wrangler('d1', 'create', name)
  return (ok && databaseId(name)) || fail(`${output}\nThe database ${name} could not be made.`)
}

function databaseId(name) {
  const { ok, stdout, output } = wrangler('d1', 'list', '--json')
  if (!ok) fail(output)
  return JSON.parse(stdout).find((database) => database.name === name)?.uuid
}

/** A Worker that does not exist yet can be given its secrets only together with its first deploy. */
function secretArguments() {
  const { ok, stdout, output } = wrangler('secret', 'list', '--format', 'json')
  if (!ok && !/Worker ".*" not found/.test(output)) fail(output)
  if (!ok) {
    const kept = ensureSecrets(
      secretsFile,
      Object.fromEntries(requiredSecrets().map((name) => [name, madeUp(name)])),
    )
    const unknown = requiredSecrets().filter((name) => !kept[name])
    if (unknown.length > 0)
      fail(
        `Write what your provider gave you into ${secretsFile}, then deploy again: ${unknown.join(', ')}`,
      )
    return ['--secrets-file', secretsFile]
  }
  const present = JSON.parse(stdout).map(({ name }) => name)
  const missing = requiredSecrets().filter((name) => !present.includes(name))
  if (missing.length === 0) return []
  const random = `node -p "crypto.randomBytes(32).toString('base64url')" | `
  const commands = missing.map(
    (name) => `  ${madeUp(name) && random}npx wrangler secret put ${name}`,
  )
  return fail(`The Worker lacks secrets. Set each, then deploy again:\n${commands.join('\n')}`)
}

/** Our own secrets can be made up; a provider's cannot. */
function madeUp(name) {
  return ['TOKEN_SECRET', 'ADMIN_TOKEN'].includes(name) ? randomSecret() : ''
}

/** The addresses that the Worker is served at now. */
async function deploy(args) {
  const folder = mkdtempSync(join(tmpdir(), 'perigee-deploy-'))
  process.env.WRANGLER_OUTPUT_FILE_PATH = join(folder, 'output.ndjson')
  try {
    await succeed('deploy', ...args)
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

/** On our terminal: wrangler may have questions. */
async function succeed(...args) {
  const code = await run('wrangler', args)
  if (code !== 0) fail(`wrangler ${args.join(' ')} failed; mend that and run npm run deploy again.`)
}

function nextSteps(url) {
  const token = existsSync(secretsFile)
    ? `The secrets are in ${secretsFile}: keep them somewhere safer and delete that file.\n\n  export ADMIN_TOKEN=$(sed -n s/^ADMIN_TOKEN=//p ${secretsFile})`
    : `  export ADMIN_TOKEN=…   # the one you set`
  const account = JSON.stringify({
    userName: 'acme',
    name: 'Acme',
    licenses: 25,
    timeZone: 'Europe/Lisbon',
  })
  console.log(`\nPerigee is at ${url}, its reference page at ${url}/docs.\n
To make an account (the answer holds its API key, this once):\n\n${token}
  curl ${url}/admin/accounts -H "Authorization: Bearer $ADMIN_TOKEN" -H 'Content-Type: application/json' \\
    -d '${account}'\n`)
}
