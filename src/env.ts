import { parseMessagesPerLicense } from './domain/message/messageBudget.ts'
import type { NotifyEnv } from './notify/provider.ts'

const MAX = 1_000_000_000
const MB = 1_000_000

/** The variables that are numbers. */
const NUMBERS = {
  TOKEN_TTL_SECONDS: { fallback: 3600, min: 60, max: 86_400 },
  ACCOUNT_REQUESTS_PER_MINUTE: { fallback: 6000, min: 1, max: MAX },
  TOKEN_FAILURES_PER_MINUTE: { fallback: 10, min: 1, max: MAX },
  /** In a minute, whatever the user names. */
  TOKEN_FAILURES_PER_ADDRESS: { fallback: 60, min: 1, max: MAX },
  /** In a minute: sign-ins with a password, and uses of password links, right or wrong. */
  SIGN_INS_PER_ADDRESS: { fallback: 30, min: 1, max: MAX },
  /** In a minute: requests for shares, right or wrong. */
  SHARE_VIEWS_PER_ADDRESS: { fallback: 600, min: 1, max: MAX },
  /** In a minute: requests of OAuth clients, right or wrong. Hosted agents share addresses. */
  OAUTH_REQUESTS_PER_ADDRESS: { fallback: 600, min: 1, max: MAX },
  LOCATIONS_PER_LICENSE_PER_DAY: { fallback: 10_000, min: 1, max: MAX },
  STORAGE_MB_PER_LICENSE: { fallback: 100, min: 1, max: 1_000_000 },
  /** How large a cell can become: by default what D1 can hold on the Workers Paid plan. */
  CELL_MAX_BYTES: { fallback: 10_000 * MB, min: 1, max: 1_000_000 * MB },
  /** How long ago a month must have ended before it moves to the bucket. */
  HISTORY_AFTER_DAYS: { fallback: 90, min: 31, max: 3650 },
}
export type NumberVariable = keyof typeof NUMBERS

/** The bindings, variables and secrets of wrangler.toml. */
export interface Env extends NotifyEnv, Partial<Record<NumberVariable, string>> {
  DB: D1Database
  /** Text such as `Email 100, SMS 20`. */
  MESSAGES_PER_LICENSE_PER_DAY?: string
  /** Where old months of tracks are moved to. Without it they stay in the cells. */
  HISTORY?: R2Bucket
  ASSETS: Fetcher
  LEDGER: DurableObjectNamespace
  FEED: DurableObjectNamespace
  TOKEN_FAILURES: RateLimit
  ACCOUNT_SLICES: RateLimit
  /** Where databases and objects must be, such as `eu`; chosen before the first deploy. */
  JURISDICTION?: string
  /** A dataset of Analytics Engine for the figures of requests. */
  METRICS?: AnalyticsEngineDataset
  /** Signs and verifies tokens; at least 32 characters. */
  TOKEN_SECRET: string
  /** The secret before the last rotation: verifies, but does not sign. */
  TOKEN_SECRET_PREVIOUS?: string
  /** At least 32 characters. Without it the operator's endpoints do not exist. */
  ADMIN_TOKEN?: string
  /** The token before the last rotation: still accepted. */
  ADMIN_TOKEN_PREVIOUS?: string
  /** The team of Cloudflare Access that operators sign in with, and the tag of its application. */
  ACCESS_TEAM_DOMAIN?: string
  ACCESS_AUD?: string
  /** Mixed into the hashes of new passwords, so that a copy of the database is not enough. */
  PASSWORD_PEPPER?: string
  /** `true` on a development machine: webhooks may then call loopback addresses. */
  ALLOW_LOOPBACK_WEBHOOKS?: string
}

/** Throws on a value that is not allowed: a wrong setting must not become the default unnoticed. */
export const readNumber = (env: Env, name: NumberVariable): number => {
  const { fallback, min, max } = NUMBERS[name]
  const text = env[name]
  const value = text === undefined || text === '' ? fallback : Number(text)
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new Error(`${name} must be a whole number from ${min} to ${max}`)
  }
  return value
}

/** The default budget of messages a day for each license. Throws like `readNumber`. */
export const messagesPerLicense = ({ MESSAGES_PER_LICENSE_PER_DAY: text = '' }: Env) => {
  const counts = parseMessagesPerLicense(text)
  if (counts) return counts
  throw new Error('MESSAGES_PER_LICENSE_PER_DAY must be text such as Email 100, SMS 20')
}

/** The default budgets of an account: for each of its licenses, the requests for all of them. */
export const budgetsPerLicense = (env: Env) => ({
  requestsPerMinute: readNumber(env, 'ACCOUNT_REQUESTS_PER_MINUTE'),
  locationsPerDay: readNumber(env, 'LOCATIONS_PER_LICENSE_PER_DAY'),
  storageBytes: MB * readNumber(env, 'STORAGE_MB_PER_LICENSE'),
  messagesPerDay: messagesPerLicense(env),
})

/** Nobody guesses this many characters. */
const MIN_ADMIN_TOKEN_LENGTH = 32

/** The operator's token; null when it is missing or too short, which means that there is none. */
export const operatorToken = ({ ADMIN_TOKEN = '' }: Env): string | null =>
  ADMIN_TOKEN.length < MIN_ADMIN_TOKEN_LENGTH ? null : ADMIN_TOKEN

/** The tokens of the operator: during a rotation two. Empty: there is no operator. */
export const operatorTokens = (env: Env): string[] => {
  const { ADMIN_TOKEN_PREVIOUS: previous = '' } = env
  const token = operatorToken(env)
  if (token === null) return []
  return previous.length < MIN_ADMIN_TOKEN_LENGTH ? [token] : [token, previous]
}

type AccessEnv = Pick<Env, 'ACCESS_TEAM_DOMAIN' | 'ACCESS_AUD'>

/** What is wrong with the settings of Cloudflare Access; null if nothing is. */
export const accessFault = ({ ACCESS_TEAM_DOMAIN: team = '', ACCESS_AUD: aud = '' }: AccessEnv) => {
  if (!team && !aud) return null
  if (!team || !aud) return 'ACCESS_TEAM_DOMAIN and ACCESS_AUD must be set together'
  return /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(team)
    ? null
    : 'ACCESS_TEAM_DOMAIN must be a host name, such as example.cloudflareaccess.com'
}

/** Where operators sign in; null without Cloudflare Access, and while its settings are wrong. */
export const accessOf = (env: AccessEnv): { issuer: string; audience: string } | null => {
  const { ACCESS_TEAM_DOMAIN: team, ACCESS_AUD: audience } = env
  if (!team || !audience || accessFault(env)) return null
  return { issuer: `https://${team}`, audience }
}

export const allowsLoopback = (env: Env): boolean => env.ALLOW_LOOPBACK_WEBHOOKS === 'true'

/** Cell 0 is `DB`; every other cell `n` is bound as `CELL_n`. */
export const cellBinding = (env: Env, cell: number): D1Database | undefined =>
  cell === 0 ? env.DB : (env as unknown as Record<string, D1Database | undefined>)[`CELL_${cell}`]

export const cellNumbers = (env: Env): number[] => {
  const numbers = Object.keys(env).flatMap((name) =>
    /^CELL_[1-9]\d*$/.test(name) ? [Number(name.slice(5))] : [],
  )
  return [0, ...numbers.sort((a, b) => a - b)]
}

/**
 * The object of an account. With a jurisdiction it is another one than without: `npm run deploy`
 * lets nobody change that.
 */
export const stubOf = (env: Env, namespace: DurableObjectNamespace, accountId: string) => {
  const place = (env.JURISDICTION ?? '') as DurableObjectJurisdiction | ''
  const own = place === '' ? namespace : namespace.jurisdiction(place)
  return own.get(own.idFromName(accountId))
}

/** An SMS with a link to an address of this length still fits into one segment. */
export const MAX_PUBLIC_URL_LENGTH = 40

/**
 * What is wrong with PUBLIC_URL; null if nothing is. Only start and deploy refuse it: an emergency
 * must not fail because of it.
 */
export const publicUrlFault = ({ PUBLIC_URL = '' }: Pick<Env, 'PUBLIC_URL'>): string | null => {
  if (PUBLIC_URL === '') return null
  const url = URL.parse(PUBLIC_URL)
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.hash)
    return 'PUBLIC_URL must be an address without a path, such as https://perigee.example.com'
  return url.origin.length > MAX_PUBLIC_URL_LENGTH
    ? `PUBLIC_URL must have at most ${MAX_PUBLIC_URL_LENGTH} characters: it is part of the link in every SMS`
    : null
}

/** The cell to search for an unknown user name: always the same one for the same name. */
export const pickCell = (env: Env, userNameKey: string): number => {
  const cells = cellNumbers(env)
  let sum = 0
  for (const character of userNameKey) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) >>> 0
  return cells[sum % cells.length] ?? 0
}

/** The service's public origin; null if PUBLIC_URL is not set. */
export const publicOrigin = ({ PUBLIC_URL = '' }: Pick<Env, 'PUBLIC_URL'>): string | null =>
  URL.canParse(PUBLIC_URL) ? new URL(PUBLIC_URL).origin : null

/**
 * Whether a request may settle a promise that another one awaits: not in the runtime of the tests.
 * After a disconnect nobody settles it, so whoever awaits it also sets a timer.
 */
export const canSettleOthers: boolean =
  (globalThis as { Cloudflare?: Cloudflare }).Cloudflare?.compatibilityFlags
    .handle_cross_request_promise_resolution === true
