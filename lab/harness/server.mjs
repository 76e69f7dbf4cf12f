// Serves the built Worker on Miniflare, without wrangler's proxy. Every binding comes from
// wrangler.toml, so a new one needs no change here.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import workerd from 'workerd'

// The heap that Cloudflare gives an isolate. Without a limit V8 collects garbage only when the
// machine runs out of memory.
process.env.MINIFLARE_WORKERD_V8_FLAGS ??= '--max-heap-size=128'

// Miniflare would read and parse the log lines in the process that sends the requests, and slow it.
// Vitest resolves the default export of a CommonJS module, Node does not.
process.env.PERIGEE_LAB_WORKERD ??= workerd.default ?? workerd
process.env.MINIFLARE_WORKERD_PATH ??= fileURLToPath(new URL('quietWorkerd.sh', import.meta.url))

export const adminToken = 'the-operator-of-the-lab-and-of-nothing-else'

/** Replaces vars of wrangler.toml. Rate limits and budgets are out of reach, but their code runs. */
const settings = {
  TOKEN_SECRET: 'a-secret-of-the-lab-and-of-nothing-else',
  ADMIN_TOKEN: adminToken,
  PUBLIC_URL: 'https://perigee.example',
  ACCOUNT_REQUESTS_PER_MINUTE: '1000000000',
  TOKEN_FAILURES_PER_MINUTE: '1000000000',
  LOCATIONS_PER_LICENSE_PER_DAY: '1000000000',
  STORAGE_MB_PER_LICENSE: '1000000',
  TOKEN_FAILURES_PER_ADDRESS: '1000000000',
  SIGN_INS_PER_ADDRESS: '1000000000',
  SHARE_VIEWS_PER_ADDRESS: '1000000000',
  OAUTH_REQUESTS_PER_ADDRESS: '1000000000',
}

/**
 * Builds the bundle that a deploy would upload. `entry` replaces the main module of the
 * configuration; `readable` keeps the names.
 */
export function bundle({ entry, config = 'wrangler.toml', readable = false } = {}) {
  const folder = temporaryFolder()
  const args = [
    'deploy',
    ...(entry ? [entry] : []),
    '--config',
    config,
    '--dry-run',
    '--outdir',
    folder,
    ...(readable ? ['--no-minify'] : []),
  ]
  execFileSync('wrangler', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const file = readdirSync(folder).find((name) => name.endsWith('.js'))
  const script = readFileSync(join(folder, file), 'utf8')
  rmSync(folder, { recursive: true })
  return script
}

export const temporaryFolder = () => mkdtempSync(join(tmpdir(), 'perigee-lab-'))

/**
 * Serves a bundle with its data in `folder` and applies the migrations that are missing.
 * `directPort` leads straight to the Worker, without Miniflare's entry Worker, which production
 * does not have.
 * The runtime's inspector listens on `inspectorPort` (0: any). With `triggers` a request to
 * `/cdn-cgi/local/scheduled` runs the cron trigger. Without `joins` each request calls D1 itself: what
 * joins calls needs promises that one request resolves for another. `objects` is the bundle that runs
 * the Durable Objects, if it is not the Worker's own.
 */
export async function serve({
  script,
  objects,
  folder,
  port = 0,
  cells = 1,
  vars,
  assets,
  bindings,
  directPort,
  inspectorPort,
  triggers = false,
  joins = true,
  migrations = 'migrations',
}) {
  const options = bindings ?? (await readBindings({ cells, vars, assets }))
  const notJoining = joins ? [] : ['no_handle_cross_request_promise_resolution']
  const worker = {
    ...options,
    compatibilityFlags: [...(options.compatibilityFlags ?? []), ...notJoining],
    modules: true,
    script,
    ...(directPort && { unsafeDirectSockets: [{ host: '127.0.0.1', port: directPort }] }),
  }
  const server = new Miniflare(
    convertV4MiniflareOptions({
      ...(objects ? { workers: withObjectsOf(worker, objects) } : worker),
      port,
      inspectorPort,
      unsafeTriggerHandlers: triggers,
      resourcePersistencePath: join(folder, '.wrangler/state/v3'),
      logRequests: false,
      handleStructuredLogs() {},
    }),
  )
  const { origin } = await server.ready
  const databases = await Promise.all(cellNames(cells).map((name) => server.getD1Database(name)))
  for (const database of databases) await migrate(database, migrations)
  return {
    base: directPort ? `http://127.0.0.1:${directPort}` : origin,
    server,
    databases,
    stop: () => server.dispose(),
  }
}

export const cellNames = (cells) =>
  Array.from({ length: cells }, (_, cell) => (cell === 0 ? 'DB' : `CELL_${cell}`))

/** Reads the bindings as plain data, which a process that is started often gets from its parent. */
export async function readBindings({ cells = 1, vars = {}, assets = true }) {
  // Wrangler looks for required secrets in the environment, and warns about missing ones.
  Object.assign(process.env, settings, { WRANGLER_LOG: 'error' })
  const { unstable_getMiniflareWorkerOptions: readOptions } = await import('wrangler')
  const { workerOptions } = readOptions('wrangler.toml')
  const {
    rootPath,
    modulesRules,
    bindings: configured,
    ratelimits,
    assets: configuredAssets,
    ...rest
  } = workerOptions
  for (const limit of Object.values(ratelimits)) limit.simple = { limit: 1_000_000_000, period: 60 }
  return {
    ...rest,
    ...(assets && { assets: configuredAssets }),
    ratelimits,
    bindings: { ...configured, ...settings, ...vars },
    d1Databases: Object.fromEntries(cellNames(cells).map((name) => [name, { id: name }])),
  }
}

/** Two Workers with the same bindings: the first serves, the second runs the objects of both. */
function withObjectsOf(worker, objects) {
  const bound = Object.entries(worker.durableObjects)
  const elsewhere = bound.map(([name, object]) => [name, { ...object, scriptName: 'objects' }])
  return [
    { ...worker, name: 'worker', durableObjects: Object.fromEntries(elsewhere) },
    { ...worker, name: 'objects', script: objects, unsafeDirectSockets: undefined },
  ]
}

async function migrate(database, folder) {
  await database.exec('CREATE TABLE IF NOT EXISTS lab_migrations (name TEXT PRIMARY KEY)')
  const { results } = await database.prepare('SELECT name FROM lab_migrations').all()
  const applied = new Set(results.map(({ name }) => name))
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql') && !applied.has(name))
  for (const file of files.sort()) {
    const statements = readFileSync(join(folder, file), 'utf8').split('--> statement-breakpoint')
    const record = database.prepare('INSERT INTO lab_migrations VALUES (?)').bind(file)
    await database.batch([...statements.map((sql) => database.prepare(sql)), record])
  }
}
