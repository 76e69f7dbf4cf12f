import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { send } from './load.mjs'

const compatibilityDate = readFileSync('wrangler.toml', 'utf8').match(/^compatibility_date = "(.*)"/m)?.[1]

/** The bundle that a deploy would upload. */
function bundle(config) {
  const folder = mkdtempSync(join(tmpdir(), 'perigee-bench-'))
  const args = ['deploy', '--config', config, '--dry-run', '--outdir', folder]
  execFileSync('wrangler', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const file = readdirSync(folder).find((name) => name.endsWith('.js'))
  return readFileSync(join(folder, file), 'utf8')
}

async function serve(options) {
  const folder = mkdtempSync(join(tmpdir(), 'perigee-bench-'))
  const server = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      compatibilityDate,
      d1Databases: ['DB'],
      d1Persist: folder,
      logRequests: false,
      handleStructuredLogs() {},
      ...options,
    }),
  )
  const base = await server.ready
  const db = await server.getD1Database('DB')
  for (const file of readdirSync('migrations').sort()) {
    if (!file.endsWith('.sql')) continue
    const statements = readFileSync(`migrations/${file}`, 'utf8').split('--> statement-breakpoint')
    await db.batch(statements.map((sql) => db.prepare(sql)))
  }
  return { base: base.origin, db, folder, server }
}

const adminToken = 'the-operator-of-the-benchmark'

export const serveApi = () =>
  serve({
    script: bundle('wrangler.toml'),
    durableObjects: { LEDGER: { className: 'AccountLedger', useSQLite: true }, FEED: { className: 'AccountFeed', useSQLite: true } },
    ratelimits: {
      TOKEN_FAILURES: { namespace_id: '1', simple: { limit: 1_000_000, period: 60 } },
      ACCOUNT_SLICES: { namespace_id: '2', simple: { limit: 1_000_000, period: 60 } },
    },
    bindings: {
      TOKEN_SECRET: 'a-secret-of-the-benchmark-and-of-nothing-else',
      ADMIN_TOKEN: adminToken,
      ACCOUNT_REQUESTS_PER_MINUTE: '1000000000',
    },
  })

export const serveBare = () => serve({ script: bundle('scripts/bench/bare.toml') })

/** An account on the API, with a token, and a way to make devices for it. */
export async function openAccount(api) {
  const json = async (path, body, token) => {
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) }
    return JSON.parse((await send(`${api.base}${path}`, { method: 'POST', body: JSON.stringify(body), headers })).text)
  }
  const opening = { userName: 'bench', name: 'Bench', licenses: 1000, timeZone: 'UTC' }
  const { apiKey } = await json('/admin/accounts', opening, adminToken)
  const { token } = await json('/api/Auth/Token', { userName: 'bench', apiKey })
  return {
    headers: { Authorization: `Bearer ${token}` },
    createDevice: async (name) => (await json('/api/devices', { name }, token)).device.id,
  }
}

/** The same devices for the bare Worker, written straight into its database. */
export async function addBareDevices(bare, ids) {
  await bare.db.batch([
    bare.db.prepare(
      `INSERT INTO accounts (id, number, user_name, name, time_zone, day, licenses, used, creation, last_modified, version, seq)
       VALUES ('acc_bare', 1, 'bare', 'Bare', 'UTC', '2020-01-01', 99, 20, 0, 0, 1, 1)`,
    ),
    ...ids.map((id, index) =>
      bare.db
        .prepare(
          `INSERT INTO devices (key, id, account_id, name, name_key, description, min, model, tags, expires, daily_email_limit, daily_sms_limit, creation, last_modified, version, seq)
           VALUES (?, ?, 'acc_bare', ?, ?, '', '', '', '{}', 0, 100, 20, 0, 0, 1, 1)`,
        )
        .bind(2 ** 24 + index + 1, id, id, id),
    ),
  ])
}
