// The parts of the Worker: what is evaluated when it starts, and what an `import()` evaluates later.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { gzipSync } from 'node:zlib'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'

// The bundler of wrangler, which it has a version of its own of.
const require = createRequire(import.meta.url)
const { build } = createRequire(require.resolve('wrangler/package.json'))('esbuild')
const entry = 'src/worker.ts'
const ROUNDS = 5

/** Bundles as wrangler does, without the `import()`s of these folders. */
async function bundle(without, input = { entryPoints: [entry] }) {
  const { outputFiles, metafile } = await build({
    ...input,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    outdir: 'dist',
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*', 'node:*'],
    logLevel: 'error',
    plugins: [
      {
        name: 'without',
        setup(plugin) {
          plugin.onResolve({ filter: /./ }, ({ kind, path, importer }) =>
            kind === 'dynamic-import' &&
            without.some((folder) => dirname(importer).endsWith(folder))
              ? { path, external: true }
              : null,
          )
        },
      },
    ],
  })
  const [{ text }] = outputFiles
  return { text, kb: gzipSync(text).length / 1024, inputs: metafile.inputs }
}

/** The modules that an `import()` names, by the folder of the file that has it. */
function findParts(inputs) {
  const parts = new Map()
  for (const [file, { imports }] of Object.entries(inputs))
    for (const { kind, path, external } of imports)
      if (file.startsWith('src/') && kind === 'dynamic-import' && !external)
        parts.set(dirname(file), [...(parts.get(dirname(file)) ?? []), `./${path}`])
  return parts
}

/** A Worker that loads everything as ours does at its start, and a part when it is asked for it. */
const loaderOf = (parts) => `
  export * from './${entry}'
  import './${entry}'
  const parts = {
    ${[...parts].map(([name, files]) => `'/${name}': [${files.map((file) => `() => import('${file}')`)}]`)}
  }
  export default {
    async fetch(request) {
      for (const load of parts[new URL(request.url).pathname] ?? []) await load()
      return new Response('loaded')
    },
  }`

/** As wrangler.toml has them. */
function readCompatibility() {
  const config = readFileSync('wrangler.toml', 'utf8')
  const [, compatibilityDate] = config.match(/^compatibility_date = "(.*)"/m)
  const [, flags] = config.match(/^compatibility_flags = (\[.*\])/m)
  return { compatibilityDate, compatibilityFlags: JSON.parse(flags) }
}

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

async function timeRequest(worker, name) {
  const startedAt = performance.now()
  const reply = await worker.dispatchFetch(`http://localhost/${name}`)
  await reply.text()
  return performance.now() - startedAt
}

/** Milliseconds that the first request for each part takes longer than the next ones. */
async function timeParts(parts) {
  const input = { stdin: { contents: loaderOf(parts), resolveDir: '.', loader: 'js' } }
  const { text: script } = await bundle([], input)
  const times = new Map([...parts.keys()].map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    const worker = new Miniflare(
      convertV4MiniflareOptions({ modules: true, script, ...readCompatibility() }),
    )
    for (let warm = 0; warm < 5; warm++) await timeRequest(worker, '')
    for (const [name, measured] of times) {
      const first = await timeRequest(worker, name)
      const later = []
      for (let next = 0; next < 5; next++) later.push(await timeRequest(worker, name))
      measured.push(first - median(later))
    }
    await worker.dispose()
  }
  return new Map([...times].map(([name, measured]) => [name, Math.max(0, median(measured))]))
}

/** The KB (gzip) of what is evaluated at the start, and KB and milliseconds of each lazy part. */
export async function measureParts() {
  const whole = await bundle([])
  const parts = findParts(whole.inputs)
  const folders = [...parts.keys()]
  const start = await bundle(folders)
  const times = await timeParts(parts)
  const lazy = []
  for (const name of folders) {
    const rest = await bundle([name])
    lazy.push({ name, kb: whole.kb - rest.kb, ms: times.get(name) })
  }
  return { startKb: start.kb, lazy }
}
