import { settlesWithin } from './backoff.ts'

/** Gives the token of the next call. `refused` is the one that the service has just refused. */
export type TokenSource = (refused?: string) => Promise<string | null> | string | null

interface Token {
  value: string
  renewAt: number
  endsAt: number
}

/** Renewed when so much of its life is over. */
export const RENEW_AFTER = 0.8
/** How long until a renewal that failed is tried again. */
const RETRY_MS = 30_000
/** How long a caller waits for the request of another. */
const SHARED_WAIT_MS = 10_000

/** Life of a token by its own clock, so that a wrong clock on this machine does no harm. */
export const lifeMsOf = (token: string): number => {
  const [, claims = ''] = token.split('.')
  const { iat, exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/')))
  return (exp - iat) * 1000
}

/** Keeps the token of an API key. Callers that need a new one at the same time share one request. */
export const keepToken = (fetchToken: () => Promise<string>): TokenSource => {
  let current: Token | null = null
  let pending: Promise<string> | null = null

  const renew = async (): Promise<string> => {
    const startedAt = Date.now()
    const value = await fetchToken()
    const lifeMs = lifeMsOf(value)
    current = { value, renewAt: startedAt + lifeMs * RENEW_AFTER, endsAt: startedAt + lifeMs }
    return value
  }

  const startRenewal = (): Promise<string> => {
    const renewal = renew().finally(() => {
      if (pending === renewal) pending = null
    })
    pending = renewal
    return renewal
  }

  /** In a Worker a request that has ended never completes what it began: another is started. */
  const shareRenewal = async (shared: Promise<string>): Promise<string> => {
    if (await settlesWithin(shared, SHARED_WAIT_MS)) return shared
    if (pending === shared) pending = null
    return getToken()
  }

  const getToken = (): Promise<string> | string => {
    const now = Date.now()
    if (current && now < current.endsAt) {
      if (now >= current.renewAt) {
        // Nobody waits for this one: a Worker may end it with the request that began it.
        current.renewAt = now + RETRY_MS
        renew().catch(() => undefined)
      }
      return current.value
    }
    return pending ? shareRenewal(pending) : startRenewal()
  }

  return (refused) => {
    if (current?.value === refused) current = null
    return getToken()
  }
}
