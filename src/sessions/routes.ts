import { Hono } from 'hono'
import { readBrowserId, type SignInName, writeBrowserCookie } from '../auth/browserCookie.ts'
import { evictKey, evictKeysOfUser } from '../auth/keyStatus.ts'
import { isPassword } from '../auth/password.ts'
import { countSignIn as countSignInEntry } from '../auth/signIns.ts'
import { type Database, openCell, openDirectory, withJoining, withWriter } from '../db/open.ts'
import { PASSWORD_MS } from '../domain/account/requestCost.ts'
import { allows } from '../domain/account/scope.ts'
import { isSessionId } from '../domain/account/session.ts'
import { emailKey } from '../domain/message/email.ts'
import { fold } from '../domain/text/fold.ts'
import { pickCell } from '../env.ts'
import { runCostlyWork } from '../http/admission/costlyWork.ts'
import { countSignIn, networkOfCaller } from '../http/admission/rateLimit.ts'
import { requireScope } from '../http/auth.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem, tooManyRequests } from '../http/contract/problem.ts'
import { clearCookie, readBrowserCookie, setBrowserCookie } from '../http/cookie.ts'
import { reply } from '../http/reply/reply.ts'
import { writerAs } from '../http/writer.ts'
import { deleteGrants } from '../oauth/store.ts'
import { findAccount } from '../tokens/store.ts'
import { countersOf, takeAttempt, uncountAttempt } from './attempts.ts'
import * as contract from './contract.ts'
import {
  issueToken,
  refreshSession,
  requireCookieSession,
  requireEnabled,
} from './cookieSession.ts'
import { presentSession } from './present.ts'
import { endAllSessions, endSession, findSignInUser, insertSession, listSessions } from './store.ts'

interface Credentials {
  account: string
  email: string
  password: string
}

/** 429, before any hash, while the next attempt for this user has to wait. */
const startAttempt = async (c: Context, db: Database, name: SignInName, now: number) => {
  const browserId = await readBrowserId(c.env, readBrowserCookie(c), name)
  const alternatives = await countersOf(name, browserId, networkOfCaller(c))
  const taken = await takeAttempt(db, alternatives, now)
  if (typeof taken !== 'number') return { name, browserId, counters: taken }
  throw tooManyRequests(
    'Too many attempts to sign in with a wrong password. Try again later.',
    taken,
  )
}

/**
 * The user and the hash that the password matches, or null. An unknown account or e-mail address
 * and a user without a password cost the same queries and the same hash as a wrong password.
 */
const checkPassword = async (
  c: Context,
  { account, email, password }: Credentials,
  now: number,
) => {
  const name = { userNameKey: fold(account), emailKey: emailKey(email.trim()) ?? '' }
  const known = await findAccount(withJoining(openDirectory(c.env)), name.userNameKey)
  const cell = known?.cell ?? pickCell(c.env, name.userNameKey)
  const db = openCell(c.env, cell)
  const attempt = await startAttempt(c, db, name, now)
  const found = await findSignInUser(withJoining(db), known?.accountId ?? '', name.emailKey)
  const stored = found?.password ?? null
  const isRight = await runCostlyWork(c, PASSWORD_MS, () => isPassword(c.env, password, stored))
  if (isRight && found && stored !== null) return { user: found.user, stored, db, cell, attempt }
  if (known)
    c.executionCtx.waitUntil(
      countRefusal(c, db, { accountId: known.accountId, user: found?.user }, now),
    )
  return null
}

/** Deletes the grants of agents whose sessions have ended, after the reply: they are good no more. */
const deleteGrantsLater = (c: Context, sessionIds: string[]): void =>
  c.executionCtx.waitUntil(deleteGrants(openDirectory(c.env), sessionIds).catch(() => {}))

/** After the reply, which must not show by its time whether the account exists. */
const countRefusal = async (
  c: Context,
  db: Database,
  { accountId, user }: { accountId: string; user: { userId: string; name: string } | undefined },
  now: number,
): Promise<void> => {
  const id = user?.userId ?? ''
  const actor = user
    ? ({ type: 'user', id, name: user.name } as const)
    : ({ type: 'system', id: 'sign-in', name: null } as const)
  await countSignInEntry(db, {
    accountId,
    action: 'signIn.refused',
    resource: { type: 'user', id },
    writer: writerAs(c, actor),
    network: networkOfCaller(c),
    now,
  }).catch(() => {})
}

const wrongCredentials = () =>
  new Problem('wrong-credentials', {
    detail: 'The account, the e-mail address or the password is wrong.',
  })

const MAX_USER_AGENT_LENGTH = 256

export const sessions = new Hono<AppEnv>()
  .post('/SignIn', operation(contract.signIn), async (c) => {
    const now = Date.now()
    await countSignIn(c, now)
    const checked = await checkPassword(c, c.req.valid('json'), now)
    if (!checked) throw wrongCredentials()
    const { user, stored, db, cell, attempt } = checked
    const { accountId, userId } = user
    try {
      requireEnabled(user, now)
    } catch (problem) {
      c.executionCtx.waitUntil(countRefusal(c, db, { accountId, user }, now))
      throw problem
    }
    const id = await c.get('newId')('ses')
    const userAgent = (c.req.header('User-Agent') ?? '').slice(0, MAX_USER_AGENT_LENGTH)
    const session = { id, accountId, userId, password: stored, userAgent, now }
    const writer = writerAs(c, { type: 'user', id: userId, name: user.name })
    const counted = uncountAttempt(db, attempt.counters)
    const inserted = await insertSession(withWriter(db, writer), session, counted)
    if (!inserted) throw wrongCredentials()
    const { state, ended } = inserted
    deleteGrantsLater(c, ended)
    const cookie = { cell, sessionId: id, counter: state.counter }
    const body = await issueToken(c, { user, cookie, state, now })
    const browserId = attempt.browserId ?? undefined
    setBrowserCookie(c, await writeBrowserCookie(c.env, attempt.name, browserId))
    return reply(c, contract.signIn, body)
  })
  .post('/Refresh', operation(contract.refresh), async (c) => {
    const now = Date.now()
    const refreshed = await refreshSession(c, now)
    return reply(c, contract.refresh, await issueToken(c, { ...refreshed, now }))
  })
  .post('/SignOut', operation(contract.signOut), async (c) => {
    const { everywhere } = c.req.valid('json')
    const now = Date.now()
    const { cookie, session, ...found } = await requireCookieSession(c, now)
    const { accountId, userId, name } = session.user
    const db = withWriter(found.db, writerAs(c, { type: 'user', id: userId, name }))
    if (everywhere) {
      deleteGrantsLater(c, await endAllSessions(db, accountId, userId, now))
      evictKeysOfUser(userId)
    } else {
      await endSession(db, { accountId, id: cookie.sessionId, userId, now })
      evictKey(cookie.sessionId)
    }
    clearCookie(c)
    return reply(c, contract.signOut, { success: true })
  })
  .get('/Sessions', operation(contract.listSessions), async (c) => {
    const { accountId, userId, keyId } = c.get('principal')
    const found =
      userId === null ? [] : await listSessions(c.get('db'), accountId, userId, Date.now())
    const listed = found.map((session) => presentSession(session, keyId))
    return reply(c, contract.listSessions, { success: true, sessions: listed })
  })
  .delete('/Sessions/:sessionId', operation(contract.endSession), async (c) => {
    const { accountId, userId, groupId, keyId, scopes, isAgent } = c.get('principal')
    const id = c.req.param('sessionId')
    const db = c.get('db')
    const isPerson = isSessionId(keyId) && !isAgent
    const mayEndOwn = userId !== null && (isPerson || id === keyId || allows(scopes, 'write'))
    const now = Date.now()
    const isOwn = mayEndOwn && (await endSession(db, { accountId, id, userId, now }))
    if (!isOwn) {
      // Says the same to a caller without `admin`, whether the session exists or not.
      requireScope(c, 'admin')
      const any = { accountId, id, userId: null, now }
      const isEnded = groupId === null && (await endSession(db, any))
      if (!isEnded) throw new Problem('session-not-found')
    }
    evictKey(id)
    deleteGrantsLater(c, [id])
    return reply(c, contract.endSession, { success: true })
  })
