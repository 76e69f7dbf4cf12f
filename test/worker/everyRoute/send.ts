import { exports } from 'cloudflare:workers'
import { expect } from 'vitest'
import { PROBLEMS } from '../../../src/http/contract/problem.ts'
import { NEWEST_VERSION } from '../../../src/http/version/versions.ts'
import { ORIGIN, type Reply } from '../../support/http.ts'

export interface Sent {
  method: string
  path: string
  headers?: Record<string, string>
  body?: string | Uint8Array | ReadableStream
}

const CACHED_PATHS = /^\/api\/(openapi\.json|users\/countries|users\/timeZones)$/

/** They take the session cookie, from our own pages only. */
export const COOKIE_PATHS = /^\/api\/Auth\/(Refresh|SignOut)$/

/** Checks what every reply must have. */
const expectCommon = (
  path: string,
  { status, headers, body, text }: Reply,
  isHead: boolean,
): void => {
  const { pathname } = new URL(path, ORIGIN)
  expect(status, text).toBeLessThan(500)
  expect(headers.get('X-Request-Id')).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
  expect(headers.get('Perigee-Version')).toBe(NEWEST_VERSION)
  expect(headers.has('Access-Control-Allow-Credentials')).toBe(false)
  const cors = [...headers.keys()].filter((name) => name.startsWith('access-control-'))
  if (COOKIE_PATHS.test(pathname)) expect(cors).toEqual([])
  else {
    expect(headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect(headers.get('Access-Control-Expose-Headers')).toBe(
      'ETag, Link, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Idempotent-Replayed, WWW-Authenticate, Perigee-Version, Deprecation, Sunset',
    )
  }
  if (pathname.startsWith('/api/')) {
    expect(headers.get('RateLimit-Policy')).toMatch(
      /^"account";q=\d+;w=60, "token";q=\d+;w=60, "sign-in";q=\d+;w=60$/,
    )
    const isCached = CACHED_PATHS.test(pathname) && status < 400 && status !== 204
    expect(headers.get('Cache-Control')).toBe(isCached ? 'public, max-age=3600' : 'no-store')
  }
  if (isHead || status === 304) {
    expect(text).toBe('')
    return
  }
  if (status >= 400) expectProblem(pathname, { status, headers, body, text })
  else if (/json/.test(headers.get('Content-Type') ?? '') && pathname !== '/api/openapi.json')
    expect(body.success).toBe(true)
}

/** Checks the shape of an error reply. */
const expectProblem = (pathname: string, { status, headers, body }: Reply): void => {
  expect(headers.get('Content-Type')).toBe('application/problem+json')
  const { success, error, type, title, detail, code, instance, requestId } = body
  expect(body).toMatchObject({ success: false, status })
  expect(error).toBe(detail)
  expect(type).toBe(`/problems/${code}`)
  expect(PROBLEMS).toHaveProperty([code, 'title'], title)
  expect(instance).toBe(pathname)
  expect(requestId).toBe(headers.get('X-Request-Id'))
  expect(success).toBe(false)
  for (const { pointer, detail: text } of body.errors ?? []) {
    expect(pointer).toMatch(/^(#\/(query|header|path)\/.+|(\/([^~/]|~[01])*)*)$/)
    expect(text).not.toBe('')
  }
  if (status === 401) expect(headers.get('WWW-Authenticate')).toMatch(/^Bearer/)
  if (status === 405) expect(headers.get('Allow')).toMatch(/^[A-Z, ]+$/)
  if (status === 429 || status === 503)
    expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
}

/** Sends one request, bytes as given, and checks what every reply must have. */
export const send = async ({ method, path, headers = {}, body }: Sent): Promise<Reply> => {
  const response = await exports.default.fetch(new URL(path, ORIGIN), {
    method,
    redirect: 'manual',
    headers,
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('Content-Type') ?? '') && text !== ''
  const reply = {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : null,
  }
  expectCommon(path, reply, method === 'HEAD')
  return reply
}
