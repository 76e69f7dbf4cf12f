import { Hono } from 'hono'
import { signToken } from '../auth/token.ts'
import { openCell, openDirectory, withJoining } from '../db/open.ts'
import { parseApiKey } from '../domain/account/apiKey.ts'
import { fold } from '../domain/text/fold.ts'
import { iso } from '../domain/time/iso.ts'
import { cellNumbers, pickCell } from '../env.ts'
import { startSignIn } from '../http/admission/rateLimit.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem } from '../http/contract/problem.ts'
import { reply } from '../http/reply/reply.ts'
import { getToken } from './contract.ts'
import { countKey, findRefusal, isRightKey } from './keyCheck.ts'
import { findKey, recordLogin, searchDirectory } from './store.ts'

/**
 * The key, or null when the credentials are wrong. An unknown user name costs the same reads and
 * comparison as a known one, so that neither timing nor reply tells which user names exist.
 */
const checkCredentials = async (
  c: Context,
  { userNameKey, apiKey }: { userNameKey: string; apiKey: string },
  now: number,
) => {
  const parsed = parseApiKey(apiKey)
  if (!parsed) return null
  const { id: keyId, secret } = parsed
  const found = await searchDirectory(withJoining(openDirectory(c.env)), { userNameKey, keyId })
  const { account } = found
  const cell = account?.cell ?? pickCell(c.env, userNameKey)
  // With several cells a second round trip, even to cell 0: its absence would tell where an account is.
  const isOnlyCell = cellNumbers(c.env).length === 1
  const key = isOnlyCell ? found.key : await findKey(withJoining(openCell(c.env, cell)), keyId)
  const isOwn = !!key && key.accountId === account?.accountId
  const isRight = (await isRightKey(key, secret, now)) && isOwn
  const refusal = isRight ? findRefusal(key, now) : new Problem('wrong-credentials')
  if (account) {
    const used = { ...account, keyId: isOwn ? keyId : '', name: key?.name ?? null }
    c.executionCtx.waitUntil(countKey(c, used, refusal === null, now))
  }
  return isRight ? { ...key, keyId, cell, refusal } : null
}

const handler = async (c: Context) => {
  const { userName, apiKey } = c.req.valid('json' as never) as { userName: string; apiKey: string }
  const now = Date.now()
  const userNameKey = fold(userName)
  const signIn = startSignIn(c, userNameKey, now)
  const key = await checkCredentials(c, { userNameKey, apiKey }, now).catch((error: unknown) => {
    signIn.uncount()
    throw error
  })
  if (!key) {
    await signIn.fail()
    throw new Problem('wrong-credentials')
  }
  signIn.uncount()
  const { accountId, cell, keyId, scopes, userId, refusal } = key
  if (refusal) throw refusal
  const { token, expires } = await signToken(c.env, { accountId, cell, keyId, scopes, userId }, now)
  // The token is valid even if `lastLogin` cannot be written.
  if (userId !== null) await recordLogin(openCell(c.env, cell), userId, now).catch(() => {})
  return reply(c, getToken, { success: true, token, expires: iso(expires) })
}

export const tokens = new Hono<AppEnv>()
  .post('/Auth/Token', operation(getToken), handler)
  .post('/auth/token', operation(getToken), handler)
