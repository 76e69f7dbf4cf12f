// Runs on the machine's Node (20 or newer) and before anything is installed: imports only from
// `node:`.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitForExit } from './child.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))
const bin = join(root, 'node_modules', '.bin')
const NODE_MAJOR = 24
const PROGRESS_MS = 5_000

/**
 * Installs the packages of package-lock.json if needed, and continues under the project's Node with
 * its tools first on the PATH.
 */
export async function useToolchain() {
  process.chdir(root)
  Object.assign(process.env, NO_TELEMETRY)
  if (!isInstalled()) await install()
  process.env.PATH = [bin, ...pathWithoutBin()].join(delimiter)
  if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR) return
  const node = join(bin, 'node')
  if (!existsSync(node))
    fail(
      `npm did not install ${node}. Allow install scripts (npm config get ignore-scripts), then try again.`,
    )
  process.exit(await waitForExit(spawn(node, process.argv.slice(1), { stdio: 'inherit' })))
}

export function fail(message) {
  console.error(message)
  process.exit(1)
}

const NO_TELEMETRY = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true', // the banner asks the registry for updates
  WRANGLER_NO_SKILLS_UPDATE_PROMPTS: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
}

/** npm writes its own lockfile at the end of an install, so an interrupted one has none. */
function isInstalled() {
  const wanted = packagesIn('package-lock.json')
  const present = packagesIn(join('node_modules', '.package-lock.json'))
  return Object.entries(wanted).every(([path, { version, optional, link }]) => {
    if (path === '' || link) return true
    return present[path] ? present[path].version === version : optional
  })
}

function packagesIn(lockfile) {
  return existsSync(lockfile) ? JSON.parse(readFileSync(lockfile, 'utf8')).packages : {}
}

/** Not `npm ci`, which refuses a lockfile without the packages of other platforms. */
async function install() {
  const startedAt = Date.now()
  const total = countPresent(() => true)
  console.log(`Installing the ${total} packages of package-lock.json, which may take minutes …`)
  const progress = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    console.log(`  ${countPresent(isUnpacked)} of ${total} packages after ${seconds} s`)
  }, PROGRESS_MS)
  // Without node_modules/.bin: npm must not run on the Node that it replaces.
  const env = { ...process.env, PATH: pathWithoutBin().join(delimiter) }
  const npm = spawn(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'],
    { env, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (part) => (output += part))
  const code = await waitForExit(npm).catch((error) => error)
  clearInterval(progress)
  if (code !== 0) fail(`${code instanceof Error ? code : output}\nnpm install failed.`)
  console.log(`Installed after ${Math.round((Date.now() - startedAt) / 1000)} s.`)
}

const isUnpacked = (path) => existsSync(join(path, 'package.json'))

/** Counts the packages for this platform; npm may leave out the optional ones. */
function countPresent(isPresent) {
  return Object.entries(packagesIn('package-lock.json')).filter(
    ([path, { optional, link }]) => path !== '' && !optional && !link && isPresent(path),
  ).length
}

function pathWithoutBin() {
  return process.env.PATH.split(delimiter).filter((folder) => folder !== bin)
}
