// Generates a client with openapi-python-client, which must not warn nor name a model after its place,
// and uses it against the service.
import { readdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { makeVenv } from '../python/venv.mjs'

const GENERATOR = 'openapi-python-client==0.29.1'

export async function run({ url, root, folder, must, openAccount }) {
  const bin = makeVenv(folder)
  if (!bin) return
  // The generator formats with ruff, which it looks for on the PATH, and warns without it.
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) }
  await must(join(bin, 'pip'), ['install', '--quiet', GENERATOR], { env })
  // The generator knows bytes only by this type.
  const config = join(folder, 'config.json')
  const bytes = { 'application/gzip': 'application/octet-stream' }
  writeFileSync(config, JSON.stringify({ content_type_overrides: bytes }))
  const options = ['--meta', 'none', '--config', config, '--fail-on-warning']
  const paths = ['--path', join(root, 'public/api/openapi.json')]
  const output = ['--output-path', join(folder, 'perigee')]
  const generator = join(bin, 'openapi-python-client')
  await must(generator, ['generate', ...paths, ...output, ...options], { env })
  const unnamed = readdirSync(join(folder, 'perigee/models')).filter(
    (file) =>
      /_type_\d|_\d+\.py$/.test(file) || (/_item[_.]/.test(file) && !/^source_item/.test(file)),
  )
  if (unnamed.length > 0) throw new Error(`Models without a name of their own: ${unnamed.join()}`)
  const { token } = await openAccount({ userName: 'python-client', licenses: 5 })
  const use = { ...env, BASE_URL: url, TOKEN: token, PYTHONPATH: folder }
  for (const script of ['use.py', 'round_trip.py'])
    await must(join(bin, 'python'), [join(root, 'test/clients/python', script)], { env: use })
}
