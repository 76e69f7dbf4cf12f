import { and, eq, type SQL, sql } from 'drizzle-orm'
import { evictKey } from '../auth/keyStatus.ts'
import { signToken } from '../auth/token.ts'
import { findInCells } from '../db/movedCell.ts'
import { type Database, openDirectory, withWriter } from '../db/open.ts'
import { auditWrite } from '../db/queries/audit.ts'
import { insertSelect } from '../db/query.ts'
import { sessions } from '../db/schema.ts'
import { runBatch } from '../db/statement.ts'
import { intersectScopes, type Scope, toScopes } from '../domain/account/scope.ts'
import {
  agentSessionEnd,
  CODE_MS,
  MAX_SESSIONS_PER_USER,
  type SessionAgent,
} from '../domain/account/session.ts'
import { canAct } from '../domain/account/user.ts'
import { changesBetween, type Writer } from '../domain/admin/audit.ts'
import type { Env } from '../env.ts'
import { endSession, findSession } from '../sessions/store.ts'
import { deleteGrants } from './store.ts'

/* An agent is a session of the user who has let it in, with fewer rights and without a cookie. */

interface NewAgent {
  id: string
  accountId: string
  userId: string
  agent: SessionAgent
  /** The session of the user who decides. */
  decidedBy: string
  now: number
}

/**
 * Starts the session of an agent and ends those that the same client has of the user. The ids of
 * those that have ended; null when the user has been signed out meanwhile.
 */
export const insertAgentSession = async (
  db: Database,
  { id, accountId, userId, agent, decidedBy, now }: NewAgent,
): Promise<string[] | null> => {
  const { id: sessionId, lastUsed } = sessions
  const isOfUser = sql`${sessions.accountId} = ${accountId} AND ${sessions.userId} = ${userId}`
  const surplus = sql`SELECT ${sessionId} FROM ${sessions} WHERE ${isOfUser}
    ORDER BY ${lastUsed} DESC LIMIT -1 OFFSET ${MAX_SESSIONS_PER_USER}`
  const isInserted = sql`EXISTS (SELECT 1 FROM ${sessions} WHERE ${sessionId} = ${id})`
  const isOfClient = sql`${sessions.agent} ->> '$.clientId' = ${agent.clientId}`
  const endIf = (condition: SQL) =>
    db.delete(sessions).where(and(condition, isInserted)).returning({ id: sessionId })
  const ofSession = { accountId, now, resource: { type: 'session', id } }
  const ofUser = { accountId, now, resource: { type: 'user', id: userId } }
  const { inserted, replaced, ended } = await runBatch(db, {
    inserted: insertSelect(
      sessions,
      {
        ...{ id, accountId, userId, agent, counter: 0, userAgent: '' },
        ...{ creation: now, lastUsed: now, expires: now + CODE_MS },
      },
      sql`WHERE EXISTS (SELECT 1 FROM ${sessions} WHERE ${sessionId} = ${decidedBy}
        AND ${isOfUser} AND ${sessions.expires} > ${now})`,
    ),
    audited: auditWrite(db, {
      ...ofSession,
      action: 'session.started',
      changes: changesBetween(null, { userId, agent: agent.name, scopes: agent.scopes }),
    }),
    replaced: endIf(sql`${isOfUser} AND ${isOfClient} AND ${sessionId} <> ${id}`),
    auditedReplaced: auditWrite(db, { ...ofUser, action: 'session.ended' }),
    ended: endIf(sql`${sessionId} IN (${surplus})`),
  })
  if (inserted.meta.changes === 0) return null
  return [...replaced.results, ...ended.results].map(({ id: endedId }) => endedId)
}

const findAgent = (env: Env, cell: number, sessionId: string) =>
  findInCells(env, cell, async (db) => {
    const found = await findSession(db, sessionId)
    return found?.agent ? { ...found, accountId: found.user.accountId } : null
  })

export interface IssuedToken {
  token: string
  expiresInSeconds: number
  scopes: Scope[]
  /** How long the session lasts from now on if the agent does not come again. */
  sessionSeconds: number
}

interface TokenRequest {
  cell: number
  sessionId: string
  asked: string[]
  /** Counts the request for the account of the session, or throws. */
  count: (accountId: string) => void
}

/** A token for the agent, or why it gets none. */
export const issueAgentToken = async (
  env: Env,
  { cell: named, sessionId, asked, count }: TokenRequest,
  now: number,
): Promise<IssuedToken | 'ended' | 'disabled'> => {
  const located = await findAgent(env, named, sessionId)
  if (!located || located.found.expires <= now) return 'ended'
  const { found, db, cell } = located
  const { accountId, userId } = found.user
  count(accountId)
  if (found.user.isAccountDisabled || !canAct(found.user, now)) return 'disabled'
  const expires = agentSessionEnd(found.creation, now)
  const { meta } = await db
    .update(sessions)
    .set({ lastUsed: now, expires })
    .where(and(eq(sessions.id, sessionId), eq(sessions.accountId, accountId)))
  if (meta.changes === 0) return 'ended'
  evictKey(sessionId)
  const allowed = intersectScopes(found.agent?.scopes ?? [], found.user.scopes)
  const scopes = intersectScopes(toScopes(asked), allowed)
  const claims = { accountId, cell, keyId: sessionId, scopes, userId }
  const signed = await signToken(env, claims, now)
  const secondsTo = (time: number) => Math.floor((time - now) / 1000)
  const lasting = {
    expiresInSeconds: secondsTo(signed.expires),
    sessionSeconds: secondsTo(expires),
  }
  return { token: signed.token, scopes, ...lasting }
}

/** Ends the session of an agent; with `clientId`, only if it is that client's. */
export const endAgentSession = async (
  env: Env,
  { cell, sessionId, clientId }: { cell: number; sessionId: string; clientId?: string },
  writer: Omit<Writer, 'actor'>,
  now: number,
): Promise<void> => {
  const located = await findAgent(env, cell, sessionId)
  const agent = located?.found.agent
  if (!located || !agent || (clientId !== undefined && agent.clientId !== clientId)) return
  const { accountId } = located.found
  const actor = { type: 'system', id: 'oauth', name: agent.name } as const
  const db = withWriter(located.db, { ...writer, actor })
  await endSession(db, { accountId, id: sessionId, userId: null, now })
  evictKey(sessionId)
  await deleteGrants(openDirectory(env), [sessionId])
}
