import { Hono } from 'hono'
import { evictKey, evictKeysOfUser } from '../auth/keyStatus.ts'
import { isPassword } from '../auth/password.ts'
import { openCell, openDirectory, withRetries } from '../db/open.ts'
import { emailKey } from '../domain/message/email.ts'
import { fold } from '../domain/text/fold.ts'
import { pickCell } from '../env.ts'
import { countSignIn } from '../http/admission/rateLimit.ts'
import { requireScope } from '../http/auth.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem } from '../http/contract/problem.ts'
import { clearCookie, readCookie } from '../http/cookie.ts'
import { reply } from '../http/reply/reply.ts'
import { findAccount } from '../tokens/store.ts'
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

/**
 * The user and the hash that the password matches, or null. An unknown account or e-mail address
 * and a user without a password cost the same reads and the same hash as a wrong password.
 */
const checkPassword = async (c: Context, { account, email, password }: Credentials) => {
  const userNameKey = fold(account)
  const known = await findAccount(withRetries(openDirectory(c.env)), userNameKey)
  const cell = known?.cell ?? pickCell(c.env, userNameKey)
  const db = openCell(c.env, cell)
  const found = await findSignInUser(
    withRetries(db),
    known?.accountId ?? '',
    emailKey(email.trim()) ?? '',
  )
  const stored = found?.password ?? null
  const isRight = await isPassword(c.env, password, stored)
  return isRight && found && stored !== null ? { user: found.user, stored, db, cell } : null
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
    const checked = await checkPassword(c, c.req.valid('json'))
    if (!checked) throw wrongCredentials()
    const { user, stored, db, cell } = checked
    requireEnabled(user, now)
    const { accountId, userId } = user
    const id = await c.get('newId')('ses')
    const userAgent = (c.req.header('User-Agent') ?? '').slice(0, MAX_USER_AGENT_LENGTH)
    const session = { id, accountId, userId, password: stored, userAgent, now }
    const state = await insertSession(db, session)
    if (!state) throw wrongCredentials()
    const cookie = { cell, sessionId: id, counter: state.counter }
    const { body, headers } = await issueToken(c.env, { user, cookie, state, now })
    return reply(c, contract.signIn, body, headers)
  })
  .post('/Refresh', operation(contract.refresh), async (c) => {
    const now = Date.now()
    const refreshed = await refreshSession(c.env, readCookie(c), now)
    const { body, headers } = await issueToken(c.env, { ...refreshed, now })
    return reply(c, contract.refresh, body, headers)
  })
  .post('/SignOut', operation(contract.signOut), async (c) => {
    const { everywhere } = c.req.valid('json')
    const value = readCookie(c)
    const { cookie, db, session } = await requireCookieSession(c.env, value, Date.now())
    const { accountId, userId } = session.user
    if (everywhere) {
      await endAllSessions(db, accountId, userId)
      evictKeysOfUser(userId)
    } else {
      await endSession(db, { accountId, id: cookie.sessionId, userId })
      evictKey(cookie.sessionId)
    }
    return reply(c, contract.signOut, { success: true }, { 'Set-Cookie': clearCookie() })
  })
  .get('/Sessions', operation(contract.listSessions), async (c) => {
    const { accountId, userId, keyId } = c.get('principal')
    const found =
      userId === null ? [] : await listSessions(c.get('db'), accountId, userId, Date.now())
    const listed = found.map((session) => presentSession(session, keyId))
    return reply(c, contract.listSessions, { success: true, sessions: listed })
  })
  .delete('/Sessions/:sessionId', operation(contract.endSession), async (c) => {
    const { accountId, userId, groupId } = c.get('principal')
    const id = c.req.param('sessionId')
    const db = c.get('db')
    const isOwn = userId !== null && (await endSession(db, { accountId, id, userId }))
    if (!isOwn) {
      // Says the same to a caller without `admin`, whether the session exists or not.
      requireScope(c, 'admin')
      const isEnded = groupId === null && (await endSession(db, { accountId, id, userId: null }))
      if (!isEnded) throw new Problem('session-not-found')
    }
    evictKey(id)
    return reply(c, contract.endSession, { success: true })
  })
