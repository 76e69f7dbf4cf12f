import type { Context } from './context.ts'

export const SESSION_COOKIE = 'perigee_session'

/** Scripts cannot read it, other sites cannot send it, and only `/api/Auth` gets it. */
const ATTRIBUTES = 'Path=/api/Auth; HttpOnly; Secure; SameSite=Strict'

/** The Set-Cookie header that keeps the cookie for so long. */
export const setCookie = (value: string, maxAgeMs: number): string =>
  `${SESSION_COOKIE}=${value}; Max-Age=${Math.max(0, Math.floor(maxAgeMs / 1000))}; ${ATTRIBUTES}`

/** The Set-Cookie header that removes the cookie. */
export const clearCookie = (): string => setCookie('', 0)

export const readCookie = (c: Context): string | null => {
  const cookies = (c.req.header('Cookie') ?? '').split(';').map((cookie) => cookie.trim())
  const found = cookies.find((cookie) => cookie.startsWith(`${SESSION_COOKIE}=`))
  return found?.slice(SESSION_COOKIE.length + 1) ?? null
}
