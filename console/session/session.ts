import { computed, signal } from '@preact/signals'
import { PerigeeError } from '../../clients/typescript/src/error.ts'
import { isOffline, sendOnce } from '../api/connection.ts'
import type { ReadMeReply } from '../api/types.ts'
import { setLeaveGuard } from '../router/router.ts'
import { remember } from './remembered.ts'

/*
 * Who is signed in. By password the browser holds an HttpOnly cookie that renews tokens; by API key
 * the key is only in this module's memory and is gone with the page. The operator's support has a
 * token for this tab alone, which nothing renews.
 */

export interface Me {
  account: ReadMeReply['account']
  user: ReadMeReply['user']
  /** The user, or the key where it belongs to none: steps are recorded under it. */
  id: string | null
  scopes: readonly string[]
  /** A user who sees one group only; many pages are closed to them. */
  isConfined: boolean
}

type Status = 'starting' | 'signed-out' | 'signed-in' | 'expired'
type Credentials =
  | { kind: 'cookie' }
  | { kind: 'support' }
  | { kind: 'key'; userName: string; apiKey: string }

interface TokenReply {
  token: string
  expires: string
}

/** Remembers that a cookie may be there, so that a first visit makes no call that must fail. */
const COOKIE_HINT = 'perigee.signed-in'
/** In `sessionStorage`, by the operator's pages. */
const SUPPORT = 'perigee.support'
const RENEW_BEFORE_MS = 60_000
const OFFLINE_RETRY_MS = 3000

const status = signal<Status>('starting')
const me = signal<Me | null>(null)
const supportUntil = signal<string | null>(null)
let credentials: Credentials | null = null
let token: { value: string; renewAt: number } | null = null
let renewal: Promise<string> | null = null
let waiting: { resolve: (token: string) => void; reject: (error: unknown) => void }[] = []

/** The parts of a token that the API describes. */
const claimsOf = (given: string): { sub: string; user: string | null; iat: number } => {
  const [, payload = ''] = given.split('.')
  return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
}

const acceptToken = ({ token: value, expires }: TokenReply): string => {
  // Both by the service's clock: by one that is an hour ahead each call would renew the token.
  const lifetime = Date.parse(expires) - claimsOf(value).iat * 1000
  token = { value, renewAt: Date.now() + lifetime - Math.min(RENEW_BEFORE_MS, lifetime / 2) }
  return value
}

const fetchToken = async (path: string, body?: unknown): Promise<TokenReply> =>
  (await (await sendOnce('POST', path, { body })).response.json()) as TokenReply

/** Whether a token is of the account and the user that the page shows. */
const isOfViewer = (given: string): boolean => {
  const { sub, user } = claimsOf(given)
  return sub === me.peek()?.account.id && user === (me.peek()?.user?.id ?? null)
}

/** Goes back to the operator's pages. */
const leaveSupport = (): void => {
  sessionStorage.removeItem(SUPPORT)
  setLeaveGuard(null)
  location.assign(`/operator/accounts/${me.peek()?.account.id ?? ''}`)
}

const renewToken = async (): Promise<string> => {
  if (!credentials) throw new PerigeeError('', { status: 401 })
  if (credentials.kind === 'support') {
    leaveSupport()
    throw new PerigeeError('', { status: 401 })
  }
  if (credentials.kind === 'cookie') {
    const reply = await fetchToken('/api/Auth/Refresh')
    // Somebody else has signed in in another tab: all tabs share the cookie.
    if (!isOfViewer(reply.token)) throw new PerigeeError('', { status: 401 })
    return acceptToken(reply)
  }
  const { userName, apiKey } = credentials
  return acceptToken(await fetchToken('/api/Auth/Token', { userName, apiKey }))
}

/** Waits until somebody signs in again; the page stays as it is, with everything typed into it. */
const waitForSignIn = (): Promise<string> => {
  status.value = 'expired'
  return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
}

const currentToken = async (): Promise<string> => {
  if (token && token.renewAt > Date.now()) return token.value
  if (status.value === 'expired') return waitForSignIn()
  renewal ??= renewToken().finally(() => {
    renewal = null
  })
  try {
    return await renewal
  } catch (error) {
    const isRefused =
      error instanceof PerigeeError && (error.status === 401 || error.status === 403)
    if (isRefused && status.value === 'signed-in') return waitForSignIn()
    throw error
  }
}

const readMe = async (): Promise<Me> => {
  const headers = { Authorization: `Bearer ${token?.value ?? ''}` }
  const { response } = await sendOnce('GET', '/api/me', { headers })
  const { account, user, key, scopes } = (await response.json()) as ReadMeReply
  const id = user?.id ?? key?.id ?? null
  return { account, user, id, scopes, isConfined: (user?.groupId ?? null) !== null }
}

/** Without an answer, who is signed in stays as it was. */
const reload = async (): Promise<void> => {
  const before = me.peek()
  const now = await currentToken()
    .then(readMe)
    .catch(() => null)
  if (now && me.peek() === before) me.value = now
}

/** Loads the console anew, so that nothing of the account stays in memory. */
const openFirstPage = (): void => {
  setLeaveGuard(null)
  location.assign('/')
}

/** The service is there, but not for this call: another try may succeed. */
const isBusy = ({ status }: PerigeeError): boolean => status === 429 || status === 503

const acceptSignIn = async (next: Credentials, reply: TokenReply): Promise<void> => {
  const previous = me.value
  credentials = next
  const value = acceptToken(reply)
  me.value = await readMe()
  status.value = 'signed-in'
  const resumed = waiting
  waiting = []
  // Input of one account must not be sent as another.
  if (previous && previous.account.id !== me.value.account.id) openFirstPage()
  else for (const { resolve } of resumed) resolve(value)
}

const acceptSupport = async (reply: TokenReply): Promise<void> => {
  await acceptSignIn({ kind: 'support' }, reply)
  supportUntil.value = reply.expires
}

export const session = {
  status,
  me,
  /** Until when the operator's support sees this account; null for who belongs to it. */
  supportUntil,
  isSignedIn: computed(() => status.value === 'signed-in' || status.value === 'expired'),

  /** Continues the session of an earlier visit, if there is one. */
  async start(): Promise<void> {
    const support = sessionStorage.getItem(SUPPORT)
    if (support === null && localStorage.getItem(COOKIE_HINT) === null) {
      status.value = 'signed-out'
      return
    }
    try {
      if (support === null)
        await acceptSignIn({ kind: 'cookie' }, await fetchToken('/api/Auth/Refresh'))
      else await acceptSupport(JSON.parse(support))
    } catch (error) {
      credentials = null
      if (error instanceof PerigeeError && (isOffline(error) || isBusy(error))) {
        // Not signed out: the page waits until the service answers.
        setTimeout(() => void session.start(), OFFLINE_RETRY_MS)
        return
      }
      if (support !== null) return leaveSupport()
      if (error instanceof PerigeeError && error.status === 401)
        localStorage.removeItem(COOKIE_HINT)
      status.value = 'signed-out'
    }
  },

  async signInByPassword(account: string, email: string, password: string): Promise<void> {
    const reply = await fetchToken('/api/Auth/SignIn', { account, email, password })
    // A new value each time: other tabs learn of it.
    localStorage.setItem(COOKIE_HINT, String(Date.now()))
    remember(account, email)
    await acceptSignIn({ kind: 'cookie' }, reply)
  },

  async signInByKey(userName: string, apiKey: string): Promise<void> {
    const reply = await fetchToken('/api/Auth/Token', { userName, apiKey })
    remember(userName)
    await acceptSignIn({ kind: 'key', userName, apiKey }, reply)
  },

  /** Opens the console with the token of the operator's support access. */
  openSupport(reply: TokenReply): void {
    sessionStorage.setItem(SUPPORT, JSON.stringify(reply))
    location.assign('/')
  },

  async signOut(everywhere = false): Promise<void> {
    if (credentials?.kind === 'support') return leaveSupport()
    if (credentials?.kind === 'cookie') {
      const headers = { Authorization: `Bearer ${token?.value ?? ''}` }
      const options = { body: { everywhere }, headers }
      await sendOnce('POST', '/api/Auth/SignOut', options).catch((error) => {
        // The session has ended already, so there is nothing to do here; elsewhere there may be.
        if (everywhere || !(error instanceof PerigeeError) || error.status !== 401) throw error
      })
    }
    localStorage.removeItem(COOKIE_HINT)
    sessionStorage.clear()
    // The service has ended the subscription with the session; without an answer it stays here.
    await import('../push/browser.ts')
      .then(({ endSubscription }) => endSubscription())
      .catch(() => undefined)
    openFirstPage()
  },

  /** Reads who is signed in again: the operator may have changed the account's status. */
  reload,

  /** Takes over a change of the account, of which other pages show the name and the time zone. */
  updateAccount({ name, timeZone }: Pick<Me['account'], 'name' | 'timeZone'>): void {
    const before = me.peek()
    if (before) me.value = { ...before, account: { ...before.account, name, timeZone } }
  },

  /** A token that is valid now; waits for a new sign-in when the session has ended. */
  token: currentToken,

  /** Discards a token that the service refused, unless a newer one has replaced it. */
  discardToken(value: string | null): void {
    if (token?.value === value) token = null
  },

  /** Whether the signed-in key or user may use what needs this scope. */
  can(scope: 'read' | 'write' | 'admin' | 'execute'): boolean {
    const scopes = me.value?.scopes ?? []
    if (scopes.includes('admin')) return true
    return scopes.includes(scope) || (scope === 'read' && scopes.includes('write'))
  },
}

/** Goes on with the session that another tab has started, unless it is another user's. */
const followOtherTab = async (): Promise<void> => {
  if (status.peek() === 'signed-out') return session.start()
  if (status.peek() !== 'expired' || credentials?.kind !== 'cookie') return
  const reply = await fetchToken('/api/Auth/Refresh')
  if (status.peek() === 'expired' && isOfViewer(reply.token))
    await acceptSignIn({ kind: 'cookie' }, reply)
}

if (typeof addEventListener === 'function')
  addEventListener('storage', ({ key, newValue }) => {
    // Whoever cannot go on signs in here.
    if (key === COOKIE_HINT && newValue) void followOtherTab().catch(() => undefined)
  })
