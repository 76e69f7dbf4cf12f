import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundle, temporaryFolder } from '../harness/server.mjs'

/** The commit of the last release. Each release advances it; see CONTRIBUTING.md. */
export const PREVIOUS_RELEASE = '2ae3fc079576d697cd90da33f79900e24d778ec5'

const hasCommit = () =>
  spawnSync('git', ['cat-file', '-e', `${PREVIOUS_RELEASE}^{commit}`]).status === 0

/** A shallow clone lacks the commit until it is fetched. False where it cannot be had. */
export function findPreviousRelease() {
  if (hasCommit()) return true
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' }
  const fetch = ['fetch', '--quiet', '--depth', '1', 'origin', PREVIOUS_RELEASE]
  spawnSync('git', fetch, { env, timeout: 60_000 })
  return hasCommit()
}

/**
 * Builds the Worker of the previous release from git, with the packages that are installed. Nothing
 * else of it runs: its build step would install its own packages, and the console is not asked.
 */
export function buildPreviousRelease() {
  const folder = temporaryFolder()
  const archive = join(folder, 'source.tar')
  execFileSync('git', ['archive', '--output', archive, PREVIOUS_RELEASE])
  execFileSync('tar', ['-xf', archive, '-C', folder])
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const config = join(folder, 'wrangler.toml')
  writeFileSync(config, readFileSync(config, 'utf8').replace(/^\[build\]\n(?!\[)(.+\n)+/m, ''))
  return { script: bundle({ config }), migrations: join(folder, 'migrations'), folder }
}
