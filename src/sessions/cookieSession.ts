import { evictKey } from '../auth/keyStatus.ts'
import { readSessionCookie, type SessionCookie, writeSessionCookie } from '../auth/sessionCookie.ts'
import { signToken } from '../auth/token.ts'
import { findInCells } from '../db/movedCell.ts'
import { type Database, withJoining, withWriter } from '../db/open.ts'
import { checkCookie, type SessionState } from '../domain/account/session.ts'
import { canAct } from '../domain/account/user.ts'
import { iso } from '../domain/time/iso.ts'
import { cellBinding } from '../env.ts'
import type { Context } from '../http/context.ts'
import { Problem, signInProblem } from '../http/contract/problem.ts'
import { clearCookie, hasNameOfItsTime, readCookie, setCookie } from '../http/cookie.ts'
import { writerAs } from '../http/writer.ts'
import {
  endSession,
  type FoundSession,
  findSession,
  rotateSession,
  type SignInUser,
} from './store.ts'

/** The cookie is of no use any more, so the browser drops it. */
const sessionEnded = (c: Context): Problem => {
  clearCookie(c)
  return new Problem('session-ended')
}

/** 403 for a disabled account or user. Only for callers who have proved who they are. */
export const requireEnabled = (user: SignInUser, now: number): void => {
  if (user.isAccountDisabled) throw signInProblem('account-disabled')
  if (!canAct(user, now))
    throw signInProblem('user-disabled', user.disabled ? user.disabledMessage : '')
}

export interface CookieSession {
  cookie: SessionCookie
  db: Database
  session: FoundSession
  /** Whether the cookie is the one before the current one. */
  isRepeated: boolean
}

/**
 * The session of the cookie, or a 401. An old cookie can only be a copy: whoever holds the current
 * one must sign in again, because nobody can tell the two apart.
 */
export const requireCookieSession = async (c: Context, now: number): Promise<CookieSession> => {
  const value = readCookie(c)
  const given = value === null ? null : await readSessionCookie(c.env, value)
  if (!given || !cellBinding(c.env, given.cell)) throw sessionEnded(c)
  const located = await findInCells(c.env, given.cell, async (cellDb) => {
    const found = await findSession(withJoining(cellDb), given.sessionId)
    return found ? { ...found, accountId: found.user.accountId } : null
  })
  if (!located) throw sessionEnded(c)
  const { found: session, db, cell } = located
  const cookie = { ...given, cell }
  if (!hasNameOfItsTime(c, session.creation)) throw sessionEnded(c)
  const state = checkCookie(session, cookie.counter, now)
  if (state === 'reused') {
    const { accountId } = session.user
    const copied = { type: 'system', id: 'reused-cookie', name: null } as const
    const ending = { accountId, id: cookie.sessionId, userId: null, now }
    await endSession(withWriter(db, writerAs(c, copied)), ending)
    evictKey(cookie.sessionId)
  }
  if (state === 'reused' || state === 'expired') throw sessionEnded(c)
  return { cookie, db, session, isRepeated: state === 'repeated' }
}

const MAX_TRIES = 3

/** The session with its next cookie: a new one, or the same again for a repeat. */
export const refreshSession = async (
  c: Context,
  now: number,
): Promise<{ cookie: SessionCookie; user: SignInUser; state: SessionState }> => {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { cookie, db, session, isRepeated } = await requireCookieSession(c, now)
    const { user } = session
    requireEnabled(user, now)
    const state = isRepeated ? session : await rotateSession(db, cookie.sessionId, session, now)
    if (state) return { cookie: { ...cookie, counter: state.counter }, user, state }
    // Another tab was faster: now this cookie is the one before the last.
  }
  throw new Problem('unavailable')
}

interface Issue {
  user: SignInUser
  cookie: SessionCookie
  state: SessionState
  now: number
}

/** A token of the session. The reply sets its cookie. */
export const issueToken = async (c: Context, { user, cookie, state, now }: Issue) => {
  const { accountId, userId, scopes } = user
  const claims = { accountId, cell: cookie.cell, keyId: cookie.sessionId, scopes, userId }
  const { token, expires } = await signToken(c.env, claims, now)
  setCookie(c, await writeSessionCookie(c.env, cookie), state.expires - now)
  return { success: true as const, token, expires: iso(expires) }
}
