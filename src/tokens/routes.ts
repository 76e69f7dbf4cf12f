import { Hono } from 'hono'
import { hashSecret, sameDigest } from '../auth/secret.ts'
import { signToken } from '../auth/token.ts'
import { openCell, openDirectory } from '../db/open.ts'
import { parseApiKey } from '../domain/apiKey.ts'
import { fold } from '../domain/fold.ts'
import { iso } from '../domain/iso.ts'
import { SCOPES } from '../domain/scope.ts'
import { mayAct } from '../domain/user.ts'
import { cellNumbers } from '../env.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/operation.ts'
import { Problem } from '../http/problem.ts'
import { signInFailures } from '../http/rateLimit.ts'
import { getToken } from './contract.ts'
import { findAccount, findKey, recordLogin } from './store.ts'

/** Where an unknown user name is looked for: some cell, always the same for the same name, so that it costs what a known one does. */
const someCell = (c: Context, userNameKey: string): number => {
  const cells = cellNumbers(c.env)
  let sum = 0
  for (const character of userNameKey) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) >>> 0
  return cells[sum % cells.length] ?? 0
}

/** Both look-ups and the comparison are made whether or not the user name is known: time and bytes tell the two apart no more than the text does. */
const proveKey = async (c: Context, userNameKey: string, apiKey: string, now: number) => {
  const parsed = parseApiKey(apiKey)
  if (!parsed) return null
  const account = await findAccount(openDirectory(c.env), userNameKey)
  const cell = account?.cell ?? someCell(c, userNameKey)
  const key = await findKey(openCell(c.env, cell), parsed.id)
  const proved = sameDigest(await hashSecret(parsed.secret), key?.hash ?? '')
  if (!proved || !key || !account || key.accountId !== account.accountId) return null
  if ((key.expires !== null && key.expires <= now) || (key.userId !== null && !key.user))
    return null
  return { ...key, keyId: parsed.id, cell }
}

const handler = async (c: Context) => {
  const { userName, apiKey } = c.req.valid('json' as never) as { userName: string; apiKey: string }
  const now = Date.now()
  const userNameKey = fold(userName)
  const failures = signInFailures(c, userNameKey, now)
  failures.refuseIfClosed()
  const key = await proveKey(c, userNameKey, apiKey, now)
  if (!key) {
    await failures.count()
    throw new Problem('wrong-credentials')
  }
  if (key.disabled) throw new Problem('account-disabled')
  const { accountId, cell, keyId, userId, user } = key
  if (user && !mayAct(user, now))
    throw new Problem(
      'user-disabled',
      user.disabled && user.disabledMessage ? { detail: user.disabledMessage } : {},
    )
  const scopes = SCOPES.filter((scope) => key.scopes.includes(scope))
  const { token, expires } = await signToken(c.env, { accountId, cell, keyId, scopes, userId }, now)
  // A sign-in stands whether or not its time can be written down.
  if (userId !== null) await recordLogin(openCell(c.env, cell), userId, now).catch(() => {})
  return c.json({ success: true as const, token, expires: iso(expires) })
}

export const tokens = new Hono<AppEnv>()
  .post('/Auth/Token', operation(getToken), handler)
  .post('/auth/token', operation(getToken), handler)
