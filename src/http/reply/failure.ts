import { evictKeysOfAccount } from '../../auth/keyStatus.ts'
import { isMoving } from '../../db/movedCell.ts'
import { isOtherRelease, isTransient } from '../../db/transient.ts'
import { isSessionId } from '../../domain/account/session.ts'
import type { Context } from '../context.ts'
import { notUpgraded, Problem } from '../contract/problem.ts'

/** The problem that a request which threw is answered with. */
export const problemOf = (c: Context, error: Error): Problem => {
  const caller = c.get('principal')
  if (isMoving(error)) {
    // The next request looks where the account is by now.
    if (caller) evictKeysOfAccount(caller.accountId)
    return new Problem('account-moving')
  }
  if (isOtherRelease(error)) return notUpgraded()
  if (!(error instanceof Problem))
    return new Problem(isTransient(error) ? 'unavailable' : 'internal')
  if (error.code !== 'account-not-found' || !caller) return error
  // The account of the token was erased while the status of its key was still cached.
  return new Problem(isSessionId(caller.keyId) ? 'session-ended' : 'key-revoked')
}
