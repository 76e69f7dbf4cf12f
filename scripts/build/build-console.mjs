// Builds the console into the static assets unless it is current: `public/index.html`,
// `public/console/`, `public/sw.js` and `public/_headers`.
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readMapUrl } from './map-url.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = join(root, 'console')
const target = join(root, 'public')
/** Beside the folder `console`. The page that names its files is last. */
const FILES = ['_headers', 'sw.js', 'index.html']
/** In the assets, so that it never outlives them. */
const stampFile = join(target, 'console', 'build.txt')

export async function buildConsole() {
  const mapUrl = process.env.MAP_URL ?? ''
  const stamp = hashOfInputs(`${mapUrl} ${process.env.MAP_ATTRIBUTION ?? ''}`)
  if (isCurrent(stamp)) return
  const draft = mkdtempSync(join(target, '.console-'))
  try {
    await buildInto(draft)
    writeFileSync(join(draft, 'console', 'build.txt'), stamp)
    install(draft)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Builds for the map that MAP_URL names, with the headers that go with it. */
export async function buildInto(folder) {
  const { build } = await import('vite')
  for (const config of ['vite.config.ts', 'vite.worker.config.ts'])
    await build({
      configFile: join(source, config),
      logLevel: 'warn',
      build: { outDir: folder, emptyOutDir: false },
    })
  writeFileSync(join(folder, '_headers'), makeHeaders(process.env.MAP_URL ?? ''))
}

/** The files first, the page that names them last: a page never names a file that is not there. */
function install(draft) {
  cpSync(join(draft, 'console'), join(target, 'console'), { recursive: true })
  for (const name of FILES) renameSync(join(draft, name), join(target, name))
  const current = new Set(readdirSync(join(draft, 'console')))
  for (const name of readdirSync(join(target, 'console')))
    if (!current.has(name)) rmSync(join(target, 'console', name), { recursive: true, force: true })
}

function isCurrent(stamp) {
  return (
    existsSync(stampFile) &&
    FILES.every((name) => existsSync(join(target, name))) &&
    readFileSync(stampFile, 'utf8') === stamp
  )
}

function hashOfInputs(settings) {
  const hash = createHash('sha256').update(settings)
  const files = [source, join(root, 'clients/typescript/src')]
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
  for (const file of [
    ...files,
    join(root, 'package-lock.json'),
    join(root, 'scripts/build/map-url.mjs'),
  ])
    hash.update(file.slice(root.length)).update(readFileSync(file))
  return hash.digest('hex')
}

/** The headers of the assets. The policy admits the host of the operator's map and no other. */
export function makeHeaders(mapUrl) {
  const template = readFileSync(join(source, '_headers'), 'utf8')
  const { origin } = readMapUrl(mapUrl)
  return template.replaceAll('{map}', origin && ` ${origin}`)
}
