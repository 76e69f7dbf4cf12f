import { signToken } from '../auth/token.ts'
import { openCell, withJoining } from '../db/open.ts'
import { parseApiKey } from '../domain/account/apiKey.ts'
import { BoundedCache } from '../domain/cache/boundedCache.ts'
import { cellNumbers } from '../env.ts'
import { startSignIn } from '../http/admission/rateLimit.ts'
import type { Context } from '../http/context.ts'
import { Problem } from '../http/contract/problem.ts'
import { countKey, findRefusal, isRightKey } from '../tokens/keyCheck.ts'
import { findKey } from '../tokens/store.ts'

/*
 * Agents send an API key with every message. An isolate exchanges it for a token once and uses the
 * token until shortly before its end; `admit` refuses it as soon as the key is deleted.
 */

const exchanged = new BoundedCache<{ token: string; until: number }>(1000)
const MIN_REST_MS = 60_000

/** A key does not name its account, so it is looked for in every cell. */
const searchCells = async (c: Context, keyId: string) => {
  const found = await Promise.all(
    cellNumbers(c.env).map(async (cell) => {
      const key = await findKey(withJoining(openCell(c.env, cell)), keyId)
      return key && { key, cell }
    }),
  )
  return found.find((place) => place !== null) ?? null
}

const checkKey = async (c: Context, keyId: string, secret: string, now: number) => {
  const place = await searchCells(c, keyId)
  const isRight = await isRightKey(place?.key ?? null, secret, now)
  if (!place) return null
  const { key, cell } = place
  const refusal = isRight ? findRefusal(key, now) : new Problem('wrong-credentials')
  const used = { accountId: key.accountId, cell, keyId, name: key.name }
  c.executionCtx.waitUntil(countKey(c, used, refusal === null, now))
  return isRight ? { ...key, keyId, cell, refusal } : null
}

/** A token for the API key, or throws a 401, 403 or 429. */
export const exchangeApiKey = async (c: Context, apiKey: string): Promise<string> => {
  const now = Date.now()
  const known = exchanged.get(apiKey)
  if (known && known.until > now) return known.token
  const parsed = parseApiKey(apiKey)
  if (!parsed) throw new Problem('wrong-credentials', WRONG_KEY)
  const signIn = startSignIn(c, parsed.id, now)
  const key = await checkKey(c, parsed.id, parsed.secret, now).catch((error: unknown) => {
    signIn.uncount()
    throw error
  })
  if (!key) {
    await signIn.fail()
    throw new Problem('wrong-credentials', WRONG_KEY)
  }
  signIn.uncount()
  const { accountId, cell, keyId, scopes, userId, refusal } = key
  if (refusal) throw refusal
  const { token, expires } = await signToken(c.env, { accountId, cell, keyId, scopes, userId }, now)
  exchanged.set(apiKey, { token, until: expires - MIN_REST_MS })
  return token
}

const WRONG_KEY = { detail: 'The API key is wrong.' }
