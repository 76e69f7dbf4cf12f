import { Hono } from 'hono'
import { looksLikeApiKey } from '../domain/account/apiKey.ts'
import { SCOPES_BUT_INGEST } from '../domain/account/scope.ts'
import { publicOrigin } from '../env.ts'
import { admit, readBearer, requireScope } from '../http/auth.ts'
import { MAX_OPEN_BODY_BYTES } from '../http/body/body.ts'
import { readJson } from '../http/body/jsonBody.ts'
import { countUsedRequest } from '../http/budget/meters.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { PROBLEMS, Problem } from '../http/contract/problem.ts'
import type { Serve } from '../http/edge.ts'
import { refuseOtherPages } from '../http/ownOrigin.ts'
import { newReply } from '../http/reply/newReply.ts'
import { isKnownSandbox } from '../sandbox/store.ts'
import { apiOf } from './api.ts'
import { exchangeApiKey } from './apiKey.ts'

/*
 * The endpoint for agents (Model Context Protocol). It admits the caller; the protocol and the tools
 * are loaded with the first message (`server.ts`), so that the Worker starts as fast without them.
 */

/** Where agents find out how to be authorised (RFC 9728). */
const challengeOf = (c: Context): string => {
  const origin = publicOrigin(c.env) ?? new URL(c.req.url).origin
  return `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
}

/** Adds the address of the metadata to the challenge of a 401. */
const withMetadata = (c: Context, error: unknown): unknown => {
  if (!(error instanceof Problem)) return error
  const { code, options } = error
  if ((options.status ?? PROBLEMS[code].status) !== 401) return error
  const isMissing = code === 'token-missing'
  const reason = isMissing ? '' : `error="invalid_token", code="${code}", `
  const headers = { ...options.headers, 'WWW-Authenticate': `Bearer ${reason}${challengeOf(c)}` }
  return new Problem(code, { ...options, headers })
}

/** Admits a token, or an API key. Returns the token. */
const admitAgent = async (c: Context): Promise<string> => {
  const bearer = readBearer(c)
  const token = looksLikeApiKey(bearer) ? await exchangeApiKey(c, bearer) : bearer
  await admit(c, token)
  return token
}

const handle = async (c: Context, serve: Serve): Promise<Response> => {
  // A browser names the page that sends the request. No page of others may reach a local service.
  refuseOtherPages(c)
  const token = await admitAgent(c).catch((error: unknown) => {
    throw withMetadata(c, error)
  })
  countUsedRequest(c.get('principal').accountId)
  requireScope(c, SCOPES_BUT_INGEST)
  const body = await readJson(c, MAX_OPEN_BODY_BYTES)
  const { serveMessage } = await import('./server.ts')
  const { scopes, accountId } = c.get('principal')
  const reply = await serveMessage({
    request: c.req.raw,
    message: body?.value,
    scopes,
    api: apiOf(c, serve, token),
    isSandbox: () => isKnownSandbox(c.get('db'), accountId),
  })
  const type = reply.headers.get('Content-Type')
  return newReply(
    c,
    (await reply.text()) || null,
    reply.status,
    type ? { 'Content-Type': type } : {},
  )
}

/** `serve` answers the requests that tools make, as the API does. */
export const mcp = (serve: Serve) => new Hono<AppEnv>().post('/', (c) => handle(c, serve))
