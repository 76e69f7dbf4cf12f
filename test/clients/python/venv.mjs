import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Makes a virtual environment in the folder. Returns its programs' folder, or null without venv. CI
 * must have it: there, this throws.
 */
export function makeVenv(folder) {
  const venv = join(folder, 'venv')
  const made = spawnSync('python3', ['-m', 'venv', venv], { stdio: 'ignore', timeout: 120_000 })
  if (!made.error && made.status === 0) return join(venv, 'bin')
  const lacks = 'this machine has no python3 with the module venv.'
  if (process.env.CI) throw new Error(`Not tested: ${lacks}`)
  console.log(`Skipped: ${lacks}`)
  return null
}
