import type * as z from 'zod'
import type { Context } from './context.ts'
import type { Operation } from './contract.ts'
import { isNotModified, tagOf } from './etag.ts'
import { makeCursor, type Position } from './page.ts'

/* Every reply of a handler goes through here, so that the compiler holds it against its contract. */

/** The body of a successful reply, as its contract states it. */
export type ReplyBody<O extends Operation> = z.output<O['reply']>
/** The body of the other success of an operation that takes two kinds of request. */
export type AlternateBody<O extends Operation> = O extends { alternateReply: { reply: infer R } }
  ? z.output<R>
  : never

type Headers = Record<string, string>

const send = (c: Context, text: string, status: 200 | 201, headers: Headers) =>
  c.body(text, status, { 'Content-Type': 'application/json', ...headers })

export const reply = <O extends Operation>(
  c: Context,
  contract: O,
  body: ReplyBody<O>,
  headers: Headers = {},
) => send(c, JSON.stringify(body), contract.status ?? 200, headers)

export const replyAlternate = <O extends Operation>(
  c: Context,
  contract: O,
  body: AlternateBody<O>,
) => send(c, JSON.stringify(body), contract.alternateReply?.status ?? 200, {})

interface Tag {
  version: number
  /** The part of the tag after the version, where it is known without hashing the body. */
  rest?: string
  /** Where a created resource can be read. */
  location?: string
}

/** A single resource with its two-part ETag; 304 when the caller has these very bytes. */
export const replyWithEtag = async <O extends Operation>(
  c: Context,
  contract: O,
  body: ReplyBody<O>,
  { version, rest, location }: Tag,
) => {
  const text = JSON.stringify(body)
  const etag = await tagOf(text, version, rest)
  if (isNotModified(c, etag)) return c.body(null, 304, { ETag: etag })
  const headers = { ETag: etag, ...(location && { Location: location }) }
  return send(c, text, contract.status ?? 200, headers)
}

/** One page of a list: the next cursor in the body and, when there is one, in `Link`. */
export const replyPage = async <O extends Operation>(
  c: Context,
  contract: O,
  body: Omit<ReplyBody<O>, 'success' | 'nextCursor'>,
  last: Position | null,
) => {
  const cursor = last && (await makeCursor(c, last))
  if (cursor) {
    const next = new URL(c.req.url)
    next.searchParams.set('cursor', cursor)
    c.header('Link', `<${next.pathname}${next.search}>; rel="next"`)
  }
  const text = JSON.stringify({ success: true, ...body, nextCursor: cursor })
  return send(c, text, contract.status ?? 200, {})
}
