import type { Context } from './context.ts'

/* No page that is served without TLS can set a cookie whose name begins with `__Secure-`. */

export const SESSION_COOKIE = '__Secure-perigee_session'
/** The earlier name: sessions from before `OLD_NAME_ENDS_AT` may use it, so that nobody is signed out. */
const OLD_SESSION_COOKIE = 'perigee_session'
/** Other pages can set the old name, so it counts for no session of a later sign-in. */
const OLD_NAME_ENDS_AT = Date.UTC(2026, 10, 17)
/** Of a browser in which a user has signed in before. It outlasts the session. */
const BROWSER_COOKIE = '__Secure-perigee_browser'
const BROWSER_COOKIE_MS = 365 * 86_400_000

/** Scripts cannot read it, other sites cannot send it, and only `/api/Auth` gets it. */
const ATTRIBUTES = 'Path=/api/Auth; HttpOnly; Secure; SameSite=Strict'

const findCookie = (c: Context, name: string): string | null => {
  const cookies = (c.req.header('Cookie') ?? '').split(';').map((cookie) => cookie.trim())
  const found = cookies.find((cookie) => cookie.startsWith(`${name}=`))
  return found?.slice(name.length + 1) ?? null
}

/** Has the reply set a cookie for so long. */
const addCookie = (c: Context, name: string, value: string, maxAgeMs: number): void => {
  const maxAge = Math.max(0, Math.floor(maxAgeMs / 1000))
  const added = `${name}=${value}; Max-Age=${maxAge}; ${ATTRIBUTES}`
  c.set('cookies', [...(c.get('cookies') ?? []), added])
}

export const readCookie = (c: Context): string | null =>
  findCookie(c, SESSION_COOKIE) ?? findCookie(c, OLD_SESSION_COOKIE)

/** Whether the request's cookie has a name that a session of this time can have. */
export const hasNameOfItsTime = (c: Context, creation: number): boolean =>
  creation < OLD_NAME_ENDS_AT || findCookie(c, SESSION_COOKIE) !== null

/** Has the reply set the session cookie for so long. */
export const setCookie = (c: Context, value: string, maxAgeMs: number): void => {
  addCookie(c, SESSION_COOKIE, value, maxAgeMs)
  if (findCookie(c, OLD_SESSION_COOKIE) !== null) addCookie(c, OLD_SESSION_COOKIE, '', 0)
}

/** Has the reply remove the session cookie. */
export const clearCookie = (c: Context): void => setCookie(c, '', 0)

export const readBrowserCookie = (c: Context): string | null => findCookie(c, BROWSER_COOKIE)

export const setBrowserCookie = (c: Context, value: string): void =>
  addCookie(c, BROWSER_COOKIE, value, BROWSER_COOKIE_MS)
