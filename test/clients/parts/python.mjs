// Builds the Python package, checks its types, and uses the wheel: its tests, and the first example
// of its README as it is written.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeVenv } from '../python/venv.mjs'

const PACKAGE = 'clients/python'
const TOOLS = [
  'build==1.6.1',
  'mypy==2.4.1',
  'pytest==9.2.0',
  'standardwebhooks==1.1.0',
  'trio==0.35.0',
]

export async function run({ url, root, folder, must, openAccount }) {
  const bin = makeVenv(folder)
  if (!bin) return
  const python = join(bin, 'python')
  await must(join(bin, 'pip'), ['install', '--quiet', ...TOOLS])

  const source = join(folder, 'source')
  cpSync(join(root, PACKAGE), source, { recursive: true })
  await must(python, ['-m', 'build', '--outdir', join(folder, 'dist'), source], { cwd: folder })
  const wheel = readdirSync(join(folder, 'dist')).find((file) => file.endsWith('.whl'))
  await must(join(bin, 'pip'), ['install', '--quiet', join(folder, 'dist', wheel)])

  const readme = readFileSync(join(source, 'README.md'), 'utf8')
  const [, example] = /```python\n(.*?)```/s.exec(readme) ?? []
  const script = join(folder, 'example.py')
  writeFileSync(script, example)
  const config = ['--config-file', join(source, 'pyproject.toml')]
  await must(join(bin, 'mypy'), [...config, join(source, 'tests'), script], { cwd: folder })
  await must(join(bin, 'mypy'), [...config, '-p', 'perigee'], { cwd: folder })

  const { userName, apiKey } = await openAccount({ userName: 'python', licenses: 50 })
  const env = {
    ...process.env,
    PERIGEE_URL: url,
    PERIGEE_USER_NAME: userName,
    PERIGEE_API_KEY: apiKey,
  }
  await must(python, [script], { env, cwd: folder })
  const tests = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', join(source, 'tests')]
  await must(python, tests, { env, cwd: folder })
}
