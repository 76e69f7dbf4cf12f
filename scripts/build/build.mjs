// Wrangler's build step: builds the console and copies the script of the reference page to the static
// assets, unless they are current. Runs on Node 20.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { buildConsole } from './build-console.mjs'

const scalar = new URL('../../node_modules/@scalar/fastify-api-reference/', import.meta.url)
const folder = new URL('../../public/docs/', import.meta.url)
const target = new URL('scalar.js', folder)

const { version } = JSON.parse(readFileSync(new URL('package.json', scalar), 'utf8'))
const opening = `/*! @scalar/api-reference ${version}, MIT license, https://github.com/scalar/scalar */
globalThis.__zod_globalConfig = { jitless: true }; // zod tries eval otherwise, which the page's policy forbids
`

if (!isCurrent()) {
  const bundle = await readScalarBundle()
  mkdirSync(folder, { recursive: true })
  // Renamed into place, so that a parallel build never serves half a file.
  const draft = new URL(`.scalar-${process.pid}.js`, folder)
  writeFileSync(draft, opening + bundle.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'))
  renameSync(draft, target)
}
await buildConsole()

function isCurrent() {
  return (
    statSync(target, { throwIfNoEntry: false })?.isFile() &&
    readFileSync(target, 'utf8').startsWith(opening)
  )
}

/**
 * Reads the bundle from Scalar's Fastify plugin, because the package @scalar/api-reference installs
 * 280 MB.
 */
async function readScalarBundle() {
  const { default: plugin } = await import('@scalar/fastify-api-reference')
  const routes = []
  plugin({ route: (route) => routes.push(route) }, { configuration: { url: '/' } }, () => {})
  const reply = { header: () => reply, send: (text) => text }
  return routes.find(({ url }) => url.endsWith('.js')).handler(undefined, reply)
}
