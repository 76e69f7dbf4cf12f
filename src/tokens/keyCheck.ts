import { hashSecret, isSameDigest } from '../auth/secret.ts'
import { countSignIn } from '../auth/signIns.ts'
import { openCell } from '../db/open.ts'
import { allows } from '../domain/account/scope.ts'
import { canAct } from '../domain/account/user.ts'
import { networkOfCaller } from '../http/admission/rateLimit.ts'
import type { Context } from '../http/context.ts'
import { type Problem, signInProblem } from '../http/contract/problem.ts'
import { writerAs } from '../http/writer.ts'
import type { findKey } from './store.ts'

/* Whether an API key gets a token. */

export type FoundKey = NonNullable<Awaited<ReturnType<typeof findKey>>>

/** Compares the secret also when there is no key, so that both cases take as long. */
export const isRightKey = async (
  key: FoundKey | null,
  secret: string,
  now: number,
): Promise<boolean> => {
  const isRightSecret = isSameDigest(await hashSecret(secret), key?.hash ?? '')
  const isExpired = !!key && key.expires !== null && key.expires <= now
  const isUserDeleted = !!key && key.userId !== null && !key.user
  return !!key && isRightSecret && !isExpired && !isUserDeleted
}

/** Why a right key gets no token; null if it gets one. */
export const findRefusal = ({ disabled, scopes, user }: FoundKey, now: number): Problem | null => {
  // What reports may still report an emergency. Every operation looks at the status by itself.
  if (disabled && (!allows(scopes, 'ingest') || scopes.includes('admin')))
    return signInProblem('account-disabled')
  if (!user || canAct(user, now)) return null
  return signInProblem('user-disabled', user.disabled ? user.disabledMessage : '')
}

interface UsedKey {
  accountId: string
  cell: number
  /** Empty for a key that the account does not have. */
  keyId: string
  name: string | null
}

/** Adds the use to the audit. After the reply, which must not show by its time what exists. */
export const countKey = async (
  c: Context,
  { accountId, cell, keyId, name }: UsedKey,
  hasToken: boolean,
  now: number,
): Promise<void> => {
  const actor = keyId
    ? ({ type: 'key', id: keyId, name } as const)
    : ({ type: 'system', id: 'sign-in', name: null } as const)
  await countSignIn(openCell(c.env, cell), {
    accountId,
    action: hasToken ? 'key.signedIn' : 'signIn.refused',
    resource: { type: 'key', id: keyId },
    writer: writerAs(c, actor),
    network: networkOfCaller(c),
    now,
  }).catch(() => {})
}
