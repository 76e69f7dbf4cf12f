import * as z from 'zod'
import { liveSecrets } from '../../auth/token.ts'
import type { Position } from '../../db/page.ts'
import type { Context } from '../context.ts'
import { Problem } from '../contract/problem.ts'

export const MAX_ROWS = 1000
/** A cursor holds the last row's sort values in base64: a folded name may take 6,600 bytes. */
const MAX_CURSOR_LENGTH = 12_000

/** The two members of every list's query. */
export const pageQuery = {
  limit: z.coerce
    .number('must be a whole number')
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(MAX_ROWS, 'must be at most 1000')
    .default(MAX_ROWS)
    .meta({ description: 'The maximum number of rows. A page may have fewer.', example: 100 }),
  cursor: z.string().max(MAX_CURSOR_LENGTH).optional().meta({
    description: 'The `nextCursor` of the previous page, unchanged.',
    pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$',
  }),
}

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Send it as `cursor` to get the next page. Null on the last page.' })

const MAC_BYTES = 12

const base64url = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: 'base64url', omitPadding: true })

const listOf = (c: Context): string => {
  const url = new URL(c.req.url)
  url.searchParams.delete('cursor')
  url.searchParams.delete('limit')
  url.searchParams.sort()
  return `${url.pathname}?${url.searchParams}`
}

/** The signature binds a cursor to the account, the list and its filters. */
const signedBytes = (c: Context, list: string, position: string): Uint8Array => {
  const owner = c.get('principal')?.accountId ?? 'operator'
  return new TextEncoder().encode(`cursor ${owner} ${list} ${position}`)
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
  const mac = new Uint8Array(
    await crypto.subtle.sign('HMAC', signer.key, signedBytes(c, list, text)),
  )
  return `${base64url(new TextEncoder().encode(text))}.${base64url(mac.subarray(0, MAC_BYTES))}`
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
      const expected = new Uint8Array(
        await crypto.subtle.sign('HMAC', key, signedBytes(c, list, text)),
      ).subarray(0, MAC_BYTES)
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
