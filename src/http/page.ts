import * as z from 'zod'
import { liveSecrets } from '../auth/token.ts'
import type { Context } from './context.ts'
import { Problem } from './problem.ts'

export const MAX_ROWS = 1000
/** A name of 200 characters may take 6,600 bytes when it is folded, and a cursor holds where a page ended, in base64. */
const MAX_CURSOR_LENGTH = 12_000

/** The two members of every list's query. */
export const pageQuery = {
  limit: z.coerce
    .number('must be a whole number')
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(MAX_ROWS, 'must be at most 1000')
    .default(MAX_ROWS)
    .meta({ description: 'How many rows at the most; a page may be shorter.', example: 100 }),
  cursor: z
    .string()
    .max(MAX_CURSOR_LENGTH)
    .optional()
    .meta({ description: '`nextCursor` of the page before, unchanged.' }),
}

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Pass it on as `cursor` for the next page; null on the last.' })

/** Where a page ended: the values that its order is by. */
export type Position = (string | number)[]

const MAC_BYTES = 12

const base64url = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: 'base64url', omitPadding: true })

const listAsked = (c: Context): string => {
  const url = new URL(c.req.url)
  url.searchParams.delete('cursor')
  url.searchParams.delete('limit')
  url.searchParams.sort()
  return `${url.pathname}?${url.searchParams}`
}

/** A cursor is good for one list of one account with one set of filters: all of that is signed with it. */
const signed = (c: Context, list: string, position: string): Uint8Array => {
  const owner = c.get('principal')?.accountId ?? 'operator'
  return new TextEncoder().encode(`cursor ${owner} ${list} ${position}`)
}

/** `list` names path and filters, where they do not stand in the URL. */
export const makeCursor = async (
  c: Context,
  position: Position,
  list = listAsked(c),
): Promise<string> => {
  const [signer] = await liveSecrets(c.env)
  if (!signer) throw new Error('TOKEN_SECRET is not set')
  const text = JSON.stringify(position)
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', signer.key, signed(c, list, text)))
  return `${base64url(new TextEncoder().encode(text))}.${base64url(mac.subarray(0, MAC_BYTES))}`
}

export const readCursor = async (
  c: Context,
  cursor: string | undefined,
  list = listAsked(c),
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
        await crypto.subtle.sign('HMAC', key, signed(c, list, text)),
      ).subarray(0, MAC_BYTES)
      if (given.length === MAC_BYTES && crypto.subtle.timingSafeEqual(given, expected))
        return JSON.parse(text) as Position
    }
  } catch {
    // Not base64, not UTF-8: the same answer as a wrong signature.
  }
  throw new Problem('invalid-cursor', {
    errors: [{ pointer, detail: 'is not one that this list gave out' }],
  })
}

/** One page of a list: the cursor for the next in the body and, where there is one, in `Link`. */
export const replyPage = async (
  c: Context,
  name: string,
  rows: unknown[],
  last: Position | null,
  beside: object = {},
) => {
  const cursor = last && (await makeCursor(c, last))
  if (cursor) {
    const next = new URL(c.req.url)
    next.searchParams.set('cursor', cursor)
    c.header('Link', `<${next.pathname}${next.search}>; rel="next"`)
  }
  return c.json({ success: true, [name]: rows, ...beside, nextCursor: cursor })
}
