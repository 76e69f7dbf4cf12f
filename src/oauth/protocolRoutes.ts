import { Hono } from 'hono'
import { verifyToken } from '../auth/token.ts'
import { openDirectory } from '../db/open.ts'
import { isSessionId } from '../domain/account/session.ts'
import { sha256 } from '../domain/text/sha256.ts'
import {
  countOauthRequest,
  countRegistration,
  countRequest,
  networkOfCaller,
  startSignIn,
} from '../http/admission/rateLimit.ts'
import { readBytes } from '../http/body/body.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { Problem, tooManyRequests } from '../http/contract/problem.ts'
import { originOf } from '../http/origin.ts'
import { newReply } from '../http/reply/newReply.ts'
import { addressOf } from '../http/writer.ts'
import { PAGE_HEADERS } from '../links/present.ts'
import { countersOfRegistration, takeAttempt } from '../sessions/attempts.ts'
import { endAgentSession, issueAgentToken } from './agentSessions.ts'
import { presentInvalidRequest, presentResource } from './present.ts'
import type { ProviderEnv } from './provider.ts'
import { keepClient, RecordChanged, Records } from './store.ts'

/** Registrations and requests for tokens are small. */
const MAX_BYTES = 8192
const MAX_TRIES = 3
const PASSED_HEADERS = ['Authorization', 'Content-Type']
const RETURNED_HEADERS = ['WWW-Authenticate', 'Retry-After']

const writerOf = (c: Context) => ({ requestId: c.get('requestId'), address: addressOf(c) })

/** Ends the sessions of the grants that the library has revoked, as after a code is used twice. */
const endRevoked = async (c: Context, { endedGrants }: Records, now: number): Promise<void> => {
  for (const value of endedGrants) {
    const { userId: sessionId, metadata } = JSON.parse(value)
    await endAgentSession(c.env, { cell: metadata.cell, sessionId }, writerOf(c), now)
  }
}

/**
 * Ends the session when a refresh token is used again although the agent has used a later one: either
 * of them was copied. Only for the client of the session: the library reads the grant for any.
 */
const endReused = async (
  c: Context,
  records: Records,
  { token, clientId }: { token: string; clientId: string },
  now: number,
) => {
  const [sessionId = '', grantId] = token.split(':')
  const grant = records.known(`grant:${sessionId}:${grantId}`)
  if (grant === undefined) return
  const { refreshTokenId, previousRefreshTokenId, metadata } = JSON.parse(grant)
  const id = (await sha256(token)).toHex()
  if (id === refreshTokenId || id === previousRefreshTokenId) return
  const ended = { cell: metadata.cell, sessionId, clientId }
  await endAgentSession(c.env, ended, writerOf(c), now)
}

interface Call {
  path: string
  method?: string
  body?: Uint8Array
  /** That the client gives for another token. */
  refresh?: { token: string; clientId: string } | undefined
  now: number
}

/** Has the library answer. Of two requests with the same grant, the slower one starts again. */
const callLibrary = async (c: Context, call: Call) => {
  const { path, method = 'POST', body, refresh, now } = call
  const { authorizationServer } = await import('./provider.ts')
  const headers = PASSED_HEADERS.flatMap((name): [string, string][] => {
    const value = c.req.header(name)
    return value === undefined ? [] : [[name, value]]
  })
  const origin = originOf(c)
  const context = c.executionCtx as ExecutionContext
  // A further try is of the same request.
  let isCounted = false
  const count = (accountId: string): void => {
    if (!isCounted) countRequest(c, accountId, now)
    isCounted = true
  }
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const records = new Records(openDirectory(c.env), now)
    const env: ProviderEnv = {
      OAUTH_KV: records,
      issue: (sessionId, cell, asked) =>
        issueAgentToken(c.env, { cell, sessionId, asked, count }, now),
    }
    try {
      const request = new Request(origin + path, { method, headers, ...(body && { body }) })
      const response = await authorizationServer(origin).fetch(request, env, context)
      await endRevoked(c, records, now)
      if (!response.ok && refresh) await endReused(c, records, refresh, now)
      return { response, text: await response.text(), issued: env.issued }
    } catch (error) {
      if (!(error instanceof RecordChanged)) throw error
    }
  }
  throw new Problem('unavailable')
}

const JSON_TYPE = { 'Content-Type': 'application/json' }

const replyAs = (c: Context, { headers, status }: Response, text: string): Response => {
  const returned = RETURNED_HEADERS.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  return newReply(c, text, status, { ...(text && JSON_TYPE), ...Object.fromEntries(returned) })
}

/** Who the client says it is, in the form or by HTTP Basic. */
const clientIdOf = (c: Context, form: URLSearchParams): string => {
  const [, basic] = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(c.req.header('Authorization') ?? '') ?? []
  if (basic === undefined) return form.get('client_id') ?? ''
  try {
    return decodeURIComponent(atob(basic).split(':')[0] ?? '')
  } catch {
    return ''
  }
}

const readForm = async (c: Context, ignored = '') => {
  const form = new URLSearchParams(new TextDecoder().decode(await readBytes(c.req.raw, MAX_BYTES)))
  form.delete(ignored)
  const body = new TextEncoder().encode(form.toString())
  return { body, form, clientId: clientIdOf(c, form) }
}

/** Anything longer than an id of ours is no client: the limiter keeps what it counts by. */
const MAX_COUNTED_LENGTH = 64

/** Sends a form to the library, with the limits of other sign-ins. */
const postForm = async (c: Context, ignored?: string) => {
  const now = Date.now()
  await countOauthRequest(c, now)
  const sent = await readForm(c, ignored)
  const attempt = startSignIn(c, `oauth ${sent.clientId.slice(0, MAX_COUNTED_LENGTH)}`, now)
  let isRefused = false
  try {
    const { body, form, clientId } = sent
    const token = form.get('refresh_token')
    const refresh = token ? { token, clientId } : undefined
    const answer = await callLibrary(c, { path: '/oauth/token', body, refresh, now })
    // A code or refresh token that has ended is no guess: programs of one network must not lock each
    // other out.
    isRefused = answer.response.status === 401
    return { ...sent, ...answer, now }
  } finally {
    attempt.uncount()
    if (isRefused) await attempt.fail()
  }
}

/** Ends the session whose token the client gives back. */
const revokeToken = async (
  c: Context,
  { token, clientId }: { token: string; clientId: string },
  now: number,
): Promise<void> => {
  const claims = await verifyToken(c.env, token, now)
  if (typeof claims === 'string' || !isSessionId(claims.keyId)) return
  countRequest(c, claims.accountId, now)
  const { cell, keyId: sessionId } = claims
  await endAgentSession(c.env, { cell, sessionId, clientId }, writerOf(c), now)
}

const jsonReply = (c: Context, body: unknown): Response =>
  newReply(c, JSON.stringify(body), 200, { ...JSON_TYPE, 'Cache-Control': 'max-age=3600' })

/** OAuth 2.1 as programs speak it. Its replies have the forms of the standards, not of our API. */
export const oauth = new Hono<AppEnv>()
  .get('/.well-known/oauth-protected-resource', (c) =>
    jsonReply(c, presentResource(originOf(c), '')),
  )
  .get('/.well-known/oauth-protected-resource/mcp', (c) =>
    jsonReply(c, presentResource(originOf(c), '/mcp')),
  )
  .get('/.well-known/oauth-authorization-server', async (c) => {
    const path = '/.well-known/oauth-authorization-server'
    const { text } = await callLibrary(c, { path, method: 'GET', now: Date.now() })
    return jsonReply(c, { ...JSON.parse(text), revocation_endpoint: `${originOf(c)}/oauth/revoke` })
  })
  .get('/oauth/authorize', async (c) => {
    const now = Date.now()
    await countOauthRequest(c, now)
    const { AuthorizationError, parseAuthorization } = await import('./provider.ts')
    const query = new URL(c.req.url).search.slice(1)
    const records = new Records(openDirectory(c.env), now)
    try {
      await parseAuthorization(originOf(c), records, query)
      return newReply(c, null, 302, { Location: `/connect?${query}` })
    } catch (error) {
      if (!(error instanceof AuthorizationError)) throw error
      // Sent nowhere: anybody can register an address, and no user has decided anything yet.
      return c.html(presentInvalidRequest(error), 400, PAGE_HEADERS)
    }
  })
  .post('/oauth/register', async (c) => {
    const now = Date.now()
    await countRegistration(c, now)
    const counters = await countersOfRegistration(networkOfCaller(c))
    const taken = await takeAttempt(openDirectory(c.env), counters, now)
    if (typeof taken === 'number')
      throw tooManyRequests('Too many programs were registered. Try again later.', taken)
    const body = await readBytes(c.req.raw, MAX_BYTES)
    const { response, text } = await callLibrary(c, { path: '/oauth/register', body, now })
    return replyAs(c, response, text)
  })
  .post('/oauth/token', async (c) => {
    const { response, text, issued, clientId, now } = await postForm(c)
    if (!response.ok || !issued) return replyAs(c, response, text)
    await keepClient(openDirectory(c.env), clientId, now + issued.sessionSeconds * 1000)
    const token = {
      ...JSON.parse(text),
      access_token: issued.token,
      token_type: 'Bearer',
      expires_in: issued.expiresInSeconds,
      scope: issued.scopes.join(' '),
    }
    return replyAs(c, response, JSON.stringify(token))
  })
  .post('/oauth/revoke', async (c) => {
    const { response, text, form, clientId, now } = await postForm(c, 'grant_type')
    const token = form.get('token')
    if (response.ok && token) await revokeToken(c, { token, clientId }, now)
    return replyAs(c, response, text)
  })
