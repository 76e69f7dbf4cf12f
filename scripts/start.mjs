import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ended } from './child.mjs'
import { seedDemo } from './demo.mjs'
import { demoApiKey } from './demo-account.mjs'
import { migrateLocalDatabases } from './migrate-local.mjs'
import { ensureSecrets, randomSecret, writeSecrets } from './secrets.mjs'
import { fail, useToolchain } from './toolchain.mjs'

const port = Number(process.env.PORT || 8787)
const base = `http://localhost:${port}`
const secretsFile = '.dev.vars'
const patience = 60_000

if (!Number.isInteger(port) || port < 1 || port > 65535)
  fail(`PORT must be a number from 1 to 65535, not "${process.env.PORT}".`)
if (await taken(port))
  fail(
    `Port ${port} is taken. Stop what listens there, or choose another one: PORT=${port + 1} npm start`,
  )
await useToolchain()

const secrets = ensureSecrets(secretsFile, {
  TOKEN_SECRET: randomSecret(),
  ADMIN_TOKEN: randomSecret(),
  DEMO_USER_NAME: 'demo',
  DEMO_API_KEY: '',
})
migrateLocalDatabases()

const server = spawn('wrangler', ['dev', '--port', String(port)], {
  stdio: ['ignore', 'pipe', 'pipe'],
  env: withColours(),
})
const serverEnded = ended(server)
const showServerOutput = holdOutput(server)

try {
  await Promise.race([healthy(), serverEnded])
  if (server.exitCode === null && server.signalCode === null) {
    const apiKey = await demoApiKey(base, secrets)
    if (apiKey !== secrets.DEMO_API_KEY) writeSecrets(secretsFile, { DEMO_API_KEY: apiKey })
    await seedDemo({ base, userName: secrets.DEMO_USER_NAME, apiKey })
    welcome(secrets.DEMO_USER_NAME, apiKey)
    showServerOutput({ fromNowOn: true })
    runCron()
  } else showServerOutput()
} catch (problem) {
  showServerOutput()
  console.error(`\nPerigee could not start: ${problem.message}`)
  process.exitCode = 1
  server.kill()
}
const code = await serverEnded
process.exit(process.exitCode ?? (wasAskedToStop(code) ? 0 : code))

function wasAskedToStop(code) {
  return code === 130 || code === 143
}

async function taken(port) {
  const busy = await Promise.all(['127.0.0.1', '::1'].map((host) => listeningFails(port, host)))
  return busy.includes('EADDRINUSE')
}

function listeningFails(port, host) {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', ({ code }) => resolve(code))
    probe.listen(port, host, () => probe.close(() => resolve(undefined)))
  })
}

async function healthy() {
  const deadline = Date.now() + patience
  while (Date.now() < deadline) {
    const answer = await fetch(`${base}/healthz`, { signal: AbortSignal.timeout(5_000) }).catch(
      () => undefined,
    )
    if (answer?.ok) return
    await sleep(100)
  }
  throw new Error(`${base}/healthz did not answer within ${patience / 1000} s.`)
}

/** Keeps wrangler's preamble back until there is something to see: an error, a failed start, or the first requests. */
function holdOutput(child) {
  let held = []
  const show = ({ fromNowOn = false } = {}) => {
    if (!fromNowOn) for (const chunk of held ?? []) process.stdout.write(chunk)
    held = undefined
  }
  const take = (chunk) => {
    if (!held) return process.stdout.write(chunk)
    held.push(chunk)
    if (chunk.includes('ERROR')) show()
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  return show
}

/** On Cloudflare the cron trigger fires every minute; `wrangler dev` leaves that to us. */
function runCron() {
  setInterval(
    () => fetch(`${base}/cdn-cgi/handler/scheduled`).catch(() => undefined),
    60_000,
  ).unref()
}

function withColours() {
  return process.stdout.isTTY ? { ...process.env, FORCE_COLOR: '1' } : process.env
}

function welcome(userName, apiKey) {
  const places = [
    ['API', `${base}/api`],
    ['Reference', `${base}/docs`],
    ...(existsSync('public/console') ? [['Console', `${base}/console`]] : []),
    ['User name', userName],
    ['API key', apiKey],
  ]
  const body = JSON.stringify({ userName, apiKey })
  console.log(`\nPerigee is up; Ctrl-C stops it.\n`)
  for (const [name, value] of places) console.log(`  ${name.padEnd(11)}${value}`)
  console.log(
    `\nGet a token:\n\n  curl ${base}/api/Auth/Token -H 'Content-Type: application/json' -d '${body}'\n`,
  )
}
