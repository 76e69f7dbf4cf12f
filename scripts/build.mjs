// Wrangler's build step: puts the bundle of the reference page among the static assets. Runs on Node 20; does nothing when up to date.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'

const scalar = new URL('../node_modules/@scalar/fastify-api-reference/', import.meta.url)
const folder = new URL('../public/docs/', import.meta.url)
const target = new URL('scalar.js', folder)

const { version } = JSON.parse(readFileSync(new URL('package.json', scalar), 'utf8'))
const opening = `/*! @scalar/api-reference ${version}, MIT license, https://github.com/scalar/scalar */
globalThis.__zod_globalConfig = { jitless: true }; // or zod, inside, probes for eval, which the page's policy refuses
`

if (!upToDate()) {
  const bundle = await scalarBundle()
  mkdirSync(folder, { recursive: true })
  // Renamed into place: two builds at once must not serve half a file.
  const draft = new URL(`.scalar-${process.pid}.js`, folder)
  writeFileSync(draft, opening + bundle.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'))
  renameSync(draft, target)
}

function upToDate() {
  return (
    statSync(target, { throwIfNoEntry: false })?.isFile() &&
    readFileSync(target, 'utf8').startsWith(opening)
  )
}

/** What Scalar's Fastify plugin serves: the bytes of @scalar/api-reference's bundle without the 280 MB that package installs. */
async function scalarBundle() {
  const { default: plugin } = await import('@scalar/fastify-api-reference')
  const routes = []
  plugin({ route: (route) => routes.push(route) }, { configuration: { url: '/' } }, () => {})
  const reply = { header: () => reply, send: (text) => text }
  return routes.find(({ url }) => url.endsWith('.js')).handler(undefined, reply)
}
