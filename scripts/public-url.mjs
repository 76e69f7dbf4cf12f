import { readFileSync } from 'node:fs'
import { fail } from './toolchain.mjs'

/** The value of wrangler.toml; undefined without one. */
const configured = (name) =>
  readFileSync('wrangler.toml', 'utf8').match(new RegExp(`^${name}\\s*=\\s*"(.*?)"`, 'm'))?.[1]

/** Ends with what is wrong with the settings of Cloudflare Access. */
export async function requireValidAccess() {
  const { accessFault } = await import('../src/env.ts')
  const names = ['ACCESS_TEAM_DOMAIN', 'ACCESS_AUD']
  const fault = accessFault(Object.fromEntries(names.map((name) => [name, configured(name)])))
  if (fault) fail(`${fault}.`)
}

/** Ends with what is wrong with PUBLIC_URL. `override` is the value of `.dev.vars`. */
export async function requireValidPublicUrl(override) {
  const { publicUrlFault } = await import('../src/env.ts')
  const fault = publicUrlFault({ PUBLIC_URL: override ?? configured('PUBLIC_URL') })
  if (fault) fail(`${fault}.`)
}
