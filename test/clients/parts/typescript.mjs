// Packs the TypeScript client and uses the package in every runtime it is made for.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packClient } from '../typescript/pack.mjs'

const RUNTIMES = ['node@20.20.2', 'deno@2.9.6', 'bun@1.4.4']
const MAX_BYTES = 12 * 1024

export async function run({ url, root, folder, must, openAccount }) {
  const settings = async (runtime) => {
    const { userName, apiKey } = await openAccount({ userName: `typescript-${runtime}` })
    return { url, userName, apiKey, runtime }
  }
  const cwd = folder
  const tarball = packClient(root, folder)
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, allowScripts: { node: true, deno: true, bun: true } }),
  )
  // Without the project's Node, which must not take the place of Node 20.
  await must(
    'npm',
    ['install', '--no-audit', '--no-fund', '--loglevel=error', tarball, ...RUNTIMES],
    {
      cwd,
      env: { ...process.env, npm_config_prefix: undefined },
    },
  )
  for (const file of ['use.mjs', 'main.mjs'])
    copyFileSync(join(root, 'test/clients/typescript', file), join(folder, file))
  const bin = (name) => join(folder, 'node_modules/.bin', name)

  // The first example of the README, as written.
  const readme = readFileSync(join(folder, 'node_modules/@perigee/client/README.md'), 'utf8')
  const [, example] = /```js\n(.*?)```/s.exec(readme)
  writeFileSync(join(folder, 'example.mjs'), example)
  await checkTypes({ example, root, folder, must })
  const { userName, apiKey } = await settings('readme')
  const env = { PERIGEE_URL: url, PERIGEE_USER_NAME: userName, PERIGEE_API_KEY: apiKey }
  for (const node of [bin('node'), process.execPath])
    await must(node, ['example.mjs'], { cwd, env: { ...process.env, ...env } })

  const commands = {
    node20: [bin('node'), 'main.mjs'],
    node24: [process.execPath, 'main.mjs'],
    deno: [bin('deno'), 'run', '--allow-net', '--allow-env', '--allow-read', 'main.mjs'],
    bun: [bin('bun'), 'main.mjs'],
  }
  for (const [runtime, [command, ...args]] of Object.entries(commands)) {
    console.log(`In ${runtime}:`)
    const SETTINGS = JSON.stringify(await settings(runtime))
    await must(command, args, { cwd, timeout: 60_000, env: { ...process.env, SETTINGS } })
  }

  const script = await bundle(folder)
  const size = gzipSync(await bundle(folder, { entry: '@perigee/client' }), { level: 9 }).length
  console.log(`The client has ${(size / 1024).toFixed(1)} KB (gzip).`)
  if (size > MAX_BYTES) throw new Error(`The client has more than ${MAX_BYTES} bytes (gzip).`)
  console.log('In a Worker:')
  await runInWorker(script, await settings('worker'))
  console.log('In Chromium:')
  await runInBrowser(script, await settings('browser'))
}

/** Compiles the example against the types of the package, and calls that must not compile. */
async function checkTypes({ example, root, folder, must }) {
  // Without the types of Node, so that the package shows that it needs none.
  const source = example.replace(
    /^import process .*$/m,
    'declare const process: { env: Record<string, string> }',
  )
  const wrong = `
// @ts-expect-error There is no such path.
await perigee.get('/api/nothing')
// @ts-expect-error A name is text.
await perigee.post('/api/devices', { body: { name: 7 } })
// @ts-expect-error There is no such member.
console.log(device.nothing)
`
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
  }
  // In a folder of its own, since other tools read `tsconfig.json` too.
  const cwd = join(folder, 'types')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'example.mts'), source + wrong)
  const config = JSON.stringify({ compilerOptions, files: ['example.mts'] })
  writeFileSync(join(cwd, 'tsconfig.json'), config)
  const typescript = join(root, 'clients/typescript/node_modules/typescript/bin/tsc')
  await must(process.execPath, [typescript, '-p', '.'], { cwd })
}

/** A module that exports `use` and the client; or one that is small and minified, to be measured. */
async function bundle(folder, { entry } = {}) {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    stdin: {
      contents: entry
        ? `export * from '${entry}'`
        : `export { use } from './use.mjs'\nexport * as client from '@perigee/client'`,
      resolveDir: folder,
    },
    bundle: true,
    format: 'esm',
    minify: entry !== undefined,
    write: false,
  })
  return outputFiles[0].text
}

async function runInWorker(script, settings) {
  const { convertV4MiniflareOptions, Miniflare } = await import('miniflare')
  const main = `
import { client, use } from './client.mjs'
export default {
  async fetch(request) {
    try {
      await use({ client, ...(await request.json()) })
      return new Response('passed')
    } catch (error) {
      return new Response(String(error.stack), { status: 500 })
    }
  },
}`
  const worker = new Miniflare(
    convertV4MiniflareOptions({
      modules: [
        { type: 'ESModule', path: 'main.mjs', contents: main },
        { type: 'ESModule', path: 'client.mjs', contents: script },
      ],
      compatibilityDate: '2026-10-01',
    }),
  )
  try {
    const address = await worker.ready
    const response = await fetch(address, { method: 'POST', body: JSON.stringify(settings) })
    const text = await response.text()
    if (text !== 'passed') throw new Error(text)
    console.log(text)
  } finally {
    await worker.dispose()
  }
}

async function runInBrowser(script, settings) {
  const { chromium } = await import('playwright-core')
  const server = createServer(({ url: path }, response) => {
    const isScript = path === '/client.mjs'
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><title>Client</title>')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  try {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${server.address().port}/`)
    await page.evaluate(async (given) => {
      const { client, use } = await import('/client.mjs')
      await use({ client, ...given })
    }, settings)
    console.log('passed')
  } finally {
    await browser.close()
    server.close()
  }
}
