import type { Scope } from './scope.ts'

const DAY_MS = 86_400_000
/** A session ends this long after the sign-in, whatever happens. */
const MAX_AGE_MS = 30 * DAY_MS
/** It ends earlier when it has not been refreshed for this long. */
const MAX_IDLE_MS = 7 * DAY_MS
/** A session of an agent ends this long after the consent, or after its last refresh. */
const MAX_AGENT_AGE_MS = 365 * DAY_MS
const MAX_AGENT_IDLE_MS = 30 * DAY_MS
/** An agent has this long to get its first token. */
export const CODE_MS = 600_000
/** How long the cookie before the last still gets the same successor: two tabs, a lost reply. */
const REPEAT_MS = 60_000

/** Sessions of one user. A further sign-in ends the one that was refreshed longest ago. */
export const MAX_SESSIONS_PER_USER = 50

/** A token of a session names it where a token of an API key names its key. */
export const isSessionId = (keyId: string): boolean => keyId.startsWith('ses_')

export const sessionEnd = (creation: number, lastUsed: number): number =>
  Math.min(creation + MAX_AGE_MS, lastUsed + MAX_IDLE_MS)

export const agentSessionEnd = (creation: number, lastUsed: number): number =>
  Math.min(creation + MAX_AGENT_AGE_MS, lastUsed + MAX_AGENT_IDLE_MS)

/** A program that acts for the user of a session, as the user has allowed. */
export interface SessionAgent {
  clientId: string
  /** What the program calls itself: nobody has checked it. */
  name: string
  /** What it may do at most. The user's present privileges limit it further. */
  scopes: Scope[]
}

export interface SessionState {
  /** The number of the current cookie. */
  counter: number
  /** When the current cookie was made. */
  lastUsed: number
  expires: number
}

/**
 * What a cookie with this counter is: the current one, the one before it while that still counts as
 * a repeat, or an older one, which only a copy of the cookie can be.
 */
export const checkCookie = (
  { counter, lastUsed, expires }: SessionState,
  given: number,
  now: number,
): 'current' | 'repeated' | 'reused' | 'expired' => {
  if (expires <= now) return 'expired'
  if (given === counter) return 'current'
  return given === counter - 1 && now - lastUsed <= REPEAT_MS ? 'repeated' : 'reused'
}
