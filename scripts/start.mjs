// `npm start`: serves the console, the API, its reference page and a demo account on this machine.
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitForExit } from './child.mjs'
import { migrateLocalDatabases } from './migrations/migrate-local.mjs'
import { requireValidPublicUrl } from './public-url.mjs'
import {
  ensureSecrets,
  randomPassword,
  randomSecret,
  readSecrets,
  writeSecrets,
} from './secrets.mjs'
import { hideOutput } from './server-output.mjs'
import { fail, useToolchain } from './toolchain.mjs'
import { listUnread, localVariables } from './wrangler.mjs'

const port = Number(process.env.PORT || 8787)
const base = `http://localhost:${port}`
const secretsFile = '.dev.vars'
const START_TIMEOUT_MS = 60_000
const CRON_INTERVAL_MS = 60_000

if (!Number.isInteger(port) || port < 1 || port > 65535)
  fail(`PORT must be a number from 1 to 65535, not "${process.env.PORT}".`)
if (await isPortTaken(port))
  fail(
    `Port ${port} is taken. Stop the process that listens there, or use another port: PORT=${port + 1} npm start`,
  )
await useToolchain()
// The demo shares TypeScript with the service, which the machine's own Node may not know.
const { ensureDemoApiKey, ensureDemoLicenses } = await import('./demo/account.mjs')
const { DemoClient } = await import('./demo/client.mjs')
const { DEMO_EMAIL, seedDemo } = await import('./demo/seed.mjs')
const { moveFleet } = await import('./demo/track.mjs')
await requireValidPublicUrl(readSecrets(secretsFile).PUBLIC_URL)

const secrets = ensureSecrets(secretsFile, {
  TOKEN_SECRET: randomSecret(),
  ADMIN_TOKEN: randomSecret(),
  DEMO_USER_NAME: 'demo',
  DEMO_API_KEY: '',
  DEMO_PASSWORD: '',
})
const unread = listUnread(Object.keys(secrets))
if (unread.length > 0)
  console.warn(
    `${secretsFile} has names that are ignored: ${unread.join(', ')}. Add secrets to [secrets] required in wrangler.toml, variables to [vars].`,
  )
migrateLocalDatabases()

const options = ['--port', String(port), ...localVariables(base, secrets)]
const server = spawn('wrangler', ['dev', ...options], {
  stdio: ['ignore', 'pipe', 'pipe'],
  env: withColour(),
})
const serverExit = waitForExit(server)
const stopped = new AbortController()
const showServerOutput = hideOutput(server)

try {
  await Promise.race([waitUntilHealthy(), serverExit])
  if (server.exitCode === null && server.signalCode === null) {
    const apiKey = await ensureDemoApiKey(base, secrets)
    if (apiKey !== secrets.DEMO_API_KEY) writeSecrets(secretsFile, { DEMO_API_KEY: apiKey })
    const client = new DemoClient({ base, userName: secrets.DEMO_USER_NAME, apiKey })
    const password = secrets.DEMO_PASSWORD || randomPassword()
    const fleet = await seedDemo(client, {
      password,
      isNewPassword: !secrets.DEMO_PASSWORD,
      ensureLicenses: () => ensureDemoLicenses(base, secrets),
    })
    if (password !== secrets.DEMO_PASSWORD) writeSecrets(secretsFile, { DEMO_PASSWORD: password })
    printWelcome({ userName: secrets.DEMO_USER_NAME, apiKey, password })
    showServerOutput({ fromNowOn: true })
    runCron()
    moveFleet(client, fleet, stopped.signal)
  } else showServerOutput()
} catch (error) {
  showServerOutput()
  console.error(`\nPerigee could not start: ${error.message}`)
  process.exitCode = 1
  server.kill()
}
const code = await serverExit
stopped.abort()
process.exit(process.exitCode ?? (wasInterrupted(code) ? 0 : code))

function wasInterrupted(code) {
  return code === 130 || code === 143
}

async function isPortTaken(port) {
  const errors = await Promise.all(['127.0.0.1', '::1'].map((host) => listenError(port, host)))
  return errors.includes('EADDRINUSE')
}

function listenError(port, host) {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', ({ code }) => resolve(code))
    probe.listen(port, host, () => probe.close(() => resolve(undefined)))
  })
}

async function waitUntilHealthy() {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (Date.now() < deadline) {
    const response = await fetch(`${base}/healthz`, { signal: AbortSignal.timeout(5_000) }).catch(
      () => undefined,
    )
    if (response?.ok) return
    await sleep(100)
  }
  throw new Error(`${base}/healthz did not answer within ${START_TIMEOUT_MS / 1000} s.`)
}

/** `wrangler dev` does not fire cron triggers, so this does. */
function runCron() {
  setInterval(
    () => fetch(`${base}/cdn-cgi/local/scheduled`).catch(() => undefined),
    CRON_INTERVAL_MS,
  ).unref()
}

function withColour() {
  return process.stdout.isTTY ? { ...process.env, FORCE_COLOR: '1' } : process.env
}

function printWelcome({ userName, apiKey, password }) {
  const sections = {
    'Open the console and sign in': [
      ['Console', base],
      ['Account', userName],
      ['E-mail', DEMO_EMAIL],
      ['Password', password],
    ],
    'Or call the API': [
      ['API', `${base}/api`],
      ['Reference', `${base}/docs`],
      ['User name', userName],
      ['API key', apiKey],
    ],
  }
  const body = JSON.stringify({ userName, apiKey })
  console.log(`\nPerigee is running. Press Ctrl-C to stop it.`)
  for (const [title, lines] of Object.entries(sections)) {
    console.log(`\n${title}:\n`)
    for (const [name, value] of lines) console.log(`  ${name.padEnd(11)}${value}`)
  }
  console.log(
    `\nGet a token:\n\n  curl ${base}/api/Auth/Token -H 'Content-Type: application/json' -d '${body}'\n`,
  )
  if (options.includes('ALLOW_LOOPBACK_WEBHOOKS:true'))
    console.log(
      `Webhooks may call this machine, such as http://localhost:9000. A deployed service refuses that.\n`,
    )
}
