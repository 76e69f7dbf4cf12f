// Runs on whatever Node the machine has (20 or newer) and before anything is installed: node: imports only.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ended } from './child.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))
const bin = join(root, 'node_modules', '.bin')
const wantedMajor = 24

/** Installs what package-lock.json says, and goes on under the project's own Node, with its tools first on the PATH. */
export async function useToolchain() {
  process.chdir(root)
  Object.assign(process.env, keepToolsFromCallingHome)
  if (!installed()) install()
  process.env.PATH = [bin, ...pathWithoutBin()].join(delimiter)
  if (Number(process.versions.node.split('.')[0]) >= wantedMajor) return
  const node = join(bin, 'node')
  if (!existsSync(node))
    fail(
      `npm did not install ${node}: are install scripts switched off (npm config get ignore-scripts)?`,
    )
  process.exit(await ended(spawn(node, process.argv.slice(1), { stdio: 'inherit' })))
}

export function fail(message) {
  console.error(message)
  process.exit(1)
}

const keepToolsFromCallingHome = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true', // the banner is what asks the registry for updates
  WRANGLER_NO_SKILLS_UPDATE_PROMPTS: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
}

/** npm writes what it installed into a lockfile of its own, last of all: an install broken off has none. */
function installed() {
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

/** Not `npm ci`: it refuses a lockfile that lacks a package for some other platform, as a registry that lags behind makes it. */
function install() {
  console.log('Installing what package-lock.json asks for …')
  // Without our own bin folder: npm must not run on the very Node it is about to replace.
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
