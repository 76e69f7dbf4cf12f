import { Hono } from 'hono'
import { openDirectory } from '../db/open.ts'
import { intersectScopes, isWithin } from '../domain/account/scope.ts'
import { isSessionId } from '../domain/account/session.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, Problem, tooManyRequests } from '../http/contract/problem.ts'
import { originOf } from '../http/origin.ts'
import { reply } from '../http/reply/reply.ts'
import { countersOfConsent, takeAttempt } from '../sessions/attempts.ts'
import { insertAgentSession } from './agentSessions.ts'
import * as contract from './contract.ts'
import { presentClientName, presentConsent } from './present.ts'
import { deleteGrants, keepAsked, Records } from './store.ts'

/** 403 unless a person asks: neither a key nor another agent may let somebody in. */
const requirePerson = (c: Context): string => {
  const { keyId, userId, isAgent } = c.get('principal')
  if (userId !== null && isSessionId(keyId) && !isAgent) return userId
  throw new Problem('forbidden', { detail: 'Only a person who has signed in can allow access.' })
}

/** Counts a consent, which stores rows in the directory of all accounts, or throws a 429. */
const countConsent = async (c: Context, userId: string, now: number): Promise<void> => {
  const counters = await countersOfConsent(c.get('principal').accountId, userId)
  const taken = await takeAttempt(c.get('db'), counters, now)
  if (typeof taken === 'number')
    throw tooManyRequests('Too many programs were let in. Try again later.', taken)
}

/** The request of the client, checked like the one that sent the browser here. */
const readAsking = async (c: Context, query: string, now: number) => {
  const { AuthorizationError, parseAuthorization } = await import('./provider.ts')
  const records = new Records(openDirectory(c.env), now)
  try {
    const parsed = await parseAuthorization(originOf(c), records, query)
    const { clientName, request } = parsed
    const { redirectUri, scope } = request
    return { ...parsed, consent: presentConsent({ clientName, redirectUri, scope }, scopesOf(c)) }
  } catch (error) {
    if (!(error instanceof AuthorizationError)) throw error
    const detail = `The program’s request for access is not valid: ${error.description}`
    throw new Problem('invalid-authorization', { detail })
  }
}

const scopesOf = (c: Context) => c.get('principal').scopes

/** The decision of a user about a program. The token in the header proves that a page of ours asks. */
export const consent = new Hono<AppEnv>()
  .get('/', operation(contract.readConsent), async (c) => {
    requirePerson(c)
    const asking = await readAsking(c, c.req.valid('query').query, Date.now())
    return reply(c, contract.readConsent, { success: true, consent: asking.consent })
  })
  .post('/', operation(contract.decideConsent), async (c) => {
    const userId = requirePerson(c)
    const { query, scopes: chosen } = c.req.valid('json')
    const now = Date.now()
    const { api, request, clientName, consent: asked } = await readAsking(c, query, now)
    const { authorizationErrorRedirect } = await import('./provider.ts')
    if (chosen.length === 0) {
      const redirectTo = authorizationErrorRedirect(request, 'access_denied')
      return reply(c, contract.decideConsent, { success: true, redirectTo })
    }
    if (!isWithin(chosen, asked.allowedScopes))
      throw invalid({
        pointer: '/scopes',
        detail: 'must be among what the program asks for and the user may do',
      })
    const { accountId, cell, keyId, scopes: held } = c.get('principal')
    const scopes = intersectScopes(chosen, held)
    await countConsent(c, userId, now)
    const { clientId } = request
    const id = await c.get('newId')('ses')
    const agent = { clientId, name: presentClientName(clientName), scopes }
    const session = { id, accountId, userId, agent, decidedBy: keyId, now }
    const ended = await insertAgentSession(c.get('db'), session)
    if (!ended) throw new Problem('session-ended')
    const directory = openDirectory(c.env)
    await Promise.all([keepAsked(directory, clientId, now), deleteGrants(directory, ended)])
    const { redirectTo } = await api.completeAuthorization({
      request,
      userId: id,
      scope: scopes,
      metadata: { cell },
      props: { cell },
      revokeExistingGrants: false,
    })
    return reply(c, contract.decideConsent, { success: true, redirectTo })
  })
