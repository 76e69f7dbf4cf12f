// Runs on the machine's Node (20 or newer) and before anything is installed: imports only from
// `node:`.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitForExit } from './child.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))
const bin = join(root, 'node_modules', '.bin')
const NODE_MAJOR = 24

/**
 * Installs the packages of package-lock.json if needed, and continues under the project's Node with
 * its tools first on the PATH.
 */
export async function useToolchain() {
  process.chdir(root)
  Object.assign(process.env, NO_TELEMETRY)
  if (!isInstalled()) install()
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
function install() {
  console.log('Installing the packages of package-lock.json …')
  // Without node_modules/.bin: npm must not run on the Node that it replaces.
  const env = { ...process.env, PATH: pathWithoutBin().join(delimiter) }
  const npm = spawnSync(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'],
    { env, encoding: 'utf8' },
  )
  if (npm.status !== 0) fail(`${npm.error ?? `${npm.stdout}${npm.stderr}`}\nnpm install failed.`)
}

function pathWithoutBin() {
  return process.env.PATH.split(delimiter).filter((folder) => folder !== bin)
}
