import { readFileSync } from 'node:fs'
import { fail } from './toolchain.mjs'

/** The value of wrangler.toml; undefined without one. */
const configuredUrl = () =>
  readFileSync('wrangler.toml', 'utf8').match(/^PUBLIC_URL\s*=\s*"(.*?)"/m)?.[1]

/** Ends with what is wrong with PUBLIC_URL. `override` is the value of `.dev.vars`. */
export async function requireValidPublicUrl(override) {
  const { publicUrlFault } = await import('../src/env.ts')
  const fault = publicUrlFault({ PUBLIC_URL: override ?? configuredUrl() })
  if (fault) fail(`${fault}.`)
}
