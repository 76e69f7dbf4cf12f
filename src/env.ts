import type { NotifyEnv } from './notify/provider.ts'

/** What wrangler.toml binds, and the secrets it declares. */
export interface Env extends NotifyEnv {
  DB: D1Database
  ASSETS: Fetcher
  LEDGER: DurableObjectNamespace
  FEED: DurableObjectNamespace
  TOKEN_FAILURES: RateLimit
  ACCOUNT_SLICES: RateLimit
  /** At least 32 characters; the one that signs. */
  TOKEN_SECRET: string
  /** The one that signed until the last rotation: still verifies. */
  TOKEN_SECRET_PREVIOUS?: string
  /** Unset means that the operator's endpoints are off. */
  ADMIN_TOKEN?: string
  TOKEN_TTL_SECONDS?: string
  ACCOUNT_REQUESTS_PER_MINUTE?: string
  TOKEN_FAILURES_PER_MINUTE?: string
  /** `true` on a development machine: webhooks may then lead to it. */
  ALLOW_LOOPBACK_WEBHOOKS?: string
}

const whole = (
  name: string,
  text: string | undefined,
  fallback: number,
  least: number,
  most: number,
): number => {
  const value = text === undefined || text === '' ? fallback : Number(text)
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new Error(`${name} must be a whole number from ${least} to ${most}`)
  }
  return value
}

export const tokenTtlSeconds = (env: Env): number =>
  whole('TOKEN_TTL_SECONDS', env.TOKEN_TTL_SECONDS, 3600, 60, 86_400)

export const accountRequestsPerMinute = (env: Env): number =>
  whole('ACCOUNT_REQUESTS_PER_MINUTE', env.ACCOUNT_REQUESTS_PER_MINUTE, 6000, 1, 1_000_000_000)

export const tokenFailuresPerMinute = (env: Env): number =>
  whole('TOKEN_FAILURES_PER_MINUTE', env.TOKEN_FAILURES_PER_MINUTE, 10, 1, 1_000_000_000)

export const allowsLoopback = (env: Env): boolean => env.ALLOW_LOOPBACK_WEBHOOKS === 'true'

/** Cell 0 is `DB`; a further cell `n` is whatever is bound as `CELL_n`. */
export const cellBinding = (env: Env, cell: number): D1Database | undefined =>
  cell === 0 ? env.DB : (env as unknown as Record<string, D1Database | undefined>)[`CELL_${cell}`]

export const cellNumbers = (env: Env): number[] => {
  const numbers = Object.keys(env).flatMap((name) =>
    /^CELL_[1-9]\d*$/.test(name) ? [Number(name.slice(5))] : [],
  )
  return [0, ...numbers.sort((a, b) => a - b)]
}
