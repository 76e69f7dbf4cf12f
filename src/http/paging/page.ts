import * as z from 'zod'
import { macOf, toBase64url } from '../../auth/mac.ts'
import { liveSecrets } from '../../auth/token.ts'
import type { Position } from '../../db/page.ts'
import type { Context } from '../context.ts'
import { Problem } from '../contract/problem.ts'

export const MAX_ROWS = 1000
/** Every cursor fits into an address; of long names a position has the beginning alone. */
export const MAX_CURSOR_LENGTH = 512

/** The two members of every list's query. */
export const pageQuery = {
  limit: z.coerce
    .number('must be a whole number')
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(MAX_ROWS, 'must be at most 1000')
    .default(MAX_ROWS)
    .meta({ description: 'The maximum number of rows. A page may have fewer.', example: 100 }),
  cursor: z
    .string()
    .min(1, 'must not be empty')
    .max(MAX_CURSOR_LENGTH, `must have at most ${MAX_CURSOR_LENGTH} characters`)
    .optional()
    .meta({
      description: 'The `nextCursor` of the previous page, unchanged.',
      pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$',
    }),
}

export const nextCursor = z
  .string()
  .max(MAX_CURSOR_LENGTH)
  .nullable()
  .meta({ description: 'Send it as `cursor` to get the next page. Null on the last page.' })

const MAC_BYTES = 12

const listOf = (c: Context): string => {
  const url = new URL(c.req.url)
  url.searchParams.delete('cursor')
  url.searchParams.delete('limit')
  url.searchParams.sort()
  return `${url.pathname}?${url.searchParams}`
}

/** The signature binds a cursor to the account, the list and its filters. */
const signatureOf = async (c: Context, key: CryptoKey, list: string, position: string) => {
  const owner = c.get('principal')?.accountId ?? 'operator'
  return (await macOf(key, `cursor ${owner} ${list} ${position}`)).subarray(0, MAC_BYTES)
}

/** `list` is the path with the filters; given when they are not in the URL. */
export const makeCursor = async (
  c: Context,
  position: Position,
  list = listOf(c),
): Promise<string> => {
  const [signer] = await liveSecrets(c.env)
  if (!signer) throw new Error('TOKEN_SECRET is not set')
  const text = JSON.stringify(position)
  const mac = await signatureOf(c, signer.key, list, text)
  return `${toBase64url(new TextEncoder().encode(text))}.${toBase64url(mac)}`
}

/** The position that a cursor holds, or a 400 for one that this list did not make. */
export const readCursor = async (
  c: Context,
  cursor: string | undefined,
  list = listOf(c),
  pointer = '#/query/cursor',
): Promise<Position | null> => {
  if (cursor === undefined) return null
  const [encoded = '', mac = '', ...more] = cursor.split('.')
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(
      Uint8Array.fromBase64(encoded, { alphabet: 'base64url' }),
    )
    const given = Uint8Array.fromBase64(mac, { alphabet: 'base64url' })
    for (const { key } of more.length > 0 ? [] : await liveSecrets(c.env)) {
      const expected = await signatureOf(c, key, list, text)
      if (given.length === MAC_BYTES && crypto.subtle.timingSafeEqual(given, expected))
        return JSON.parse(text) as Position
    }
  } catch {
    // Not base64 or not UTF-8: the same reply as for a wrong signature.
  }
  throw new Problem('invalid-cursor', {
    errors: [{ pointer, detail: 'must be a `nextCursor` of this list, unchanged' }],
  })
}
