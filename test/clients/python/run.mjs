// Generates a client with openapi-python-client, which must not warn nor name a model after its place,
// and uses it against a local server.
import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from '../../../scripts/child.mjs'
import { root, useToolchain } from '../../../scripts/toolchain.mjs'

const GENERATOR = 'openapi-python-client==0.29.1'
const MINUTE = 60_000

await useToolchain()
const { adminToken, bundle, serve, temporaryFolder } = await import(
  '../../../lab/harness/server.mjs'
)
const { caller } = await import('../../../lab/harness/http.mjs')
const folder = temporaryFolder()
const venv = join(folder, 'venv')
const made = spawnSync('python3', ['-m', 'venv', venv], { stdio: 'ignore', timeout: 2 * MINUTE })
if (made.error || made.status !== 0) {
  console.log('Skipped the Python client: this machine has no python3 with the module venv.')
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
}
const bin = join(venv, 'bin')
// The generator formats with ruff, which it looks for on the PATH, and warns without it.
const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) }

let api
try {
  await must(join(bin, 'pip'), ['install', '--quiet', GENERATOR])
  // The generator knows bytes only by this type.
  const config = join(folder, 'config.json')
  const bytes = { 'application/gzip': 'application/octet-stream' }
  writeFileSync(config, JSON.stringify({ content_type_overrides: bytes }))
  await must(join(bin, 'openapi-python-client'), [
    'generate',
    '--path',
    join(root, 'public/api/openapi.json'),
    '--meta',
    'none',
    '--output-path',
    join(folder, 'perigee'),
    '--config',
    config,
    '--fail-on-warning',
  ])
  const unnamed = readdirSync(join(folder, 'perigee/models')).filter(
    (file) =>
      /_type_\d|_\d+\.py$/.test(file) || (/_item[_.]/.test(file) && !/^source_item/.test(file)),
  )
  if (unnamed.length > 0) throw new Error(`Models without a name of their own: ${unnamed.join()}`)
  api = await serve({ script: bundle(), folder })
  const TOKEN = await openAccount(api.base)
  for (const script of ['use.py', 'round_trip.py'])
    await must(join(bin, 'python'), [join(root, 'test/clients/python', script)], {
      BASE_URL: api.base,
      TOKEN,
      PYTHONPATH: folder,
    })
} catch (problem) {
  console.error(problem.message)
  process.exitCode = 1
} finally {
  await api?.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

async function must(command, args, more = {}) {
  const code = await run(command, args, { env: { ...env, ...more }, timeout: 5 * MINUTE })
  if (code !== 0) throw new Error(`${command} ended with ${code}`)
}

async function openAccount(base) {
  const userName = 'python-client'
  const { apiKey } = await caller(base, adminToken)('POST', '/admin/accounts', {
    userName,
    name: 'Python client',
    licenses: 5,
    timeZone: 'UTC',
  })
  return (await caller(base)('POST', '/api/Auth/Token', { userName, apiKey })).token
}
