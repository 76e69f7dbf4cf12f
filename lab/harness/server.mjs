// The built Worker on the runtime that it is deployed to, without wrangler's proxy in between: what the measuring and
// breaking scripts stand on. Every binding is read from wrangler.toml, so a new one needs no line here.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'

// As much heap as Cloudflare gives an isolate. Left to itself V8 lets garbage lie while the machine has memory.
process.env.MINIFLARE_WORKERD_V8_FLAGS ??= '--max-heap-size=128'

export const adminToken = 'the-operator-of-the-lab-and-of-nothing-else'

/** What the lab sets beside wrangler.toml: its own secrets, and rate limits that are out of its way. The code that counts stays in. */
const settings = {
  TOKEN_SECRET: 'a-secret-of-the-lab-and-of-nothing-else',
  ADMIN_TOKEN: adminToken,
  ACCOUNT_REQUESTS_PER_MINUTE: '1000000000',
  TOKEN_FAILURES_PER_MINUTE: '1000000000',
  TOKEN_FAILURES_PER_ADDRESS: '1000000000',
}

/** The bundle that a deploy would upload; `entry` is another way in than the one in wrangler.toml. */
export function bundle({ entry, config = 'wrangler.toml' } = {}) {
  const folder = temporaryFolder()
  const args = [
    'deploy',
    ...(entry ? [entry] : []),
    '--config',
    config,
    '--dry-run',
    '--outdir',
    folder,
  ]
  execFileSync('wrangler', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const file = readdirSync(folder).find((name) => name.endsWith('.js'))
  const script = readFileSync(join(folder, file), 'utf8')
  rmSync(folder, { recursive: true })
  return script
}

export const temporaryFolder = () => mkdtempSync(join(tmpdir(), 'perigee-lab-'))

/**
 * Serves a bundle on data under `folder`; `cells` databases, each with the migrations that it still lacks; without `assets` no pages.
 * `direct`: a port that leads straight to the Worker, without the Worker that Miniflare puts before it and that nobody deploys.
 */
export async function serve({
  script,
  folder,
  port = 0,
  cells = 1,
  vars,
  assets,
  bindings,
  direct,
}) {
  const server = new Miniflare(
    convertV4MiniflareOptions({
      ...(bindings ?? (await readBindings({ cells, vars, assets }))),
      modules: true,
      script,
      port,
      resourcePersistencePath: join(folder, '.wrangler/state/v3'),
      logRequests: false,
      handleStructuredLogs() {},
      ...(direct && { unsafeDirectSockets: [{ host: '127.0.0.1', port: direct }] }),
    }),
  )
  const { origin } = await server.ready
  const databases = await Promise.all(cellNames(cells).map((name) => server.getD1Database(name)))
  for (const database of databases) await migrate(database)
  return {
    base: direct ? `http://127.0.0.1:${direct}` : origin,
    server,
    databases,
    stop: () => server.dispose(),
  }
}

export const cellNames = (cells) =>
  Array.from({ length: cells }, (_, cell) => (cell === 0 ? 'DB' : `CELL_${cell}`))

/** Plain data, so that a process that is started often need not ask wrangler each time. */
export async function readBindings({ cells = 1, vars = {}, assets = true }) {
  // Wrangler says where it found the secrets, and warns where it did not.
  Object.assign(process.env, settings, { WRANGLER_LOG: 'error' })
  const { unstable_getMiniflareWorkerOptions: read } = await import('wrangler')
  const { workerOptions } = read('wrangler.toml')
  const {
    rootPath,
    modulesRules,
    bindings: configured,
    ratelimits,
    assets: pages,
    ...rest
  } = workerOptions
  for (const limit of Object.values(ratelimits)) limit.simple = { limit: 1_000_000_000, period: 60 }
  return {
    ...rest,
    ...(assets && { assets: pages }),
    ratelimits,
    bindings: { ...configured, ...settings, ...vars },
    d1Databases: namedCells(cells),
  }
}

const namedCells = (cells) =>
  Object.fromEntries(cellNames(cells).map((name) => [name, { id: name }]))

async function migrate(database) {
  await database.exec('CREATE TABLE IF NOT EXISTS lab_migrations (name TEXT PRIMARY KEY)')
  const { results } = await database.prepare('SELECT name FROM lab_migrations').all()
  const done = new Set(results.map(({ name }) => name))
  const files = readdirSync('migrations').filter((name) => name.endsWith('.sql') && !done.has(name))
  for (const file of files.sort()) {
    const statements = readFileSync(`migrations/${file}`, 'utf8').split('--> statement-breakpoint')
    const mark = database.prepare('INSERT INTO lab_migrations VALUES (?)').bind(file)
    await database.batch([...statements.map((sql) => database.prepare(sql)), mark])
  }
}
