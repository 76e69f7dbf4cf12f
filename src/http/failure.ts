import { isTransient } from '../db/transient.ts'
import type { Context } from './context.ts'
import { Problem } from './problem.ts'

/** The problem that a request which threw is answered with. */
export const problemOf = (c: Context, error: Error): Problem => {
  if (!(error instanceof Problem))
    return new Problem(isTransient(error) ? 'unavailable' : 'internal')
  // The account of the token was erased while the status of its key was still cached.
  const isOwnAccount = error.code === 'account-not-found' && !!c.get('principal')
  return isOwnAccount ? new Problem('key-revoked') : error
}
