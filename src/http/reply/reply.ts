import type * as z from 'zod'
import type { Position } from '../../db/page.ts'
import type { Context } from '../context.ts'
import type { Operation } from '../contract/contract.ts'
import { makeCursor } from '../paging/page.ts'
import { isNotModified, tagOf } from './etag.ts'
import { addLink, newReply } from './newReply.ts'

/* Handlers reply through these functions, so that the compiler checks replies by their contract. */

/** The body of a successful reply. */
export type ReplyBody<O extends Operation> = z.output<O['reply']>
/** The body of the second kind of success. */
export type AlternateBody<O extends Operation> = O extends { alternateReply: { reply: infer R } }
  ? z.output<R>
  : never

/** The body of one page of a list, without what every page has. */
export type PageBody<O extends Operation> = Omit<ReplyBody<O>, 'success' | 'nextCursor'>

type Headers = Record<string, string>

const send = (c: Context, text: string, status: 200 | 201, headers: Headers) =>
  newReply(c, text, status, { 'Content-Type': 'application/json', ...headers })

/** Replies with the contract's status. */
export const reply = <O extends Operation>(
  c: Context,
  contract: O,
  body: ReplyBody<O>,
  headers: Headers = {},
) => send(c, JSON.stringify(body), contract.status ?? 200, headers)

/** Replies with the contract's second kind of success. */
export const replyAlternate = <O extends Operation>(
  c: Context,
  contract: O,
  body: AlternateBody<O>,
) => send(c, JSON.stringify(body), contract.alternateReply?.status ?? 200, {})

/** Replies with a stream. HEAD gets its headers alone. */
export const replyStream = async (
  c: Context,
  stream: ReadableStream<Uint8Array>,
  headers: Headers = { 'Content-Type': 'application/json' },
) => {
  if (c.req.method !== 'HEAD') return newReply(c, stream, 200, headers)
  await stream.cancel()
  return newReply(c, null, 200, headers)
}

interface Tag {
  version: number
  /** The second part of the tag, when it is known without hashing the body. */
  rest?: string
  /** Where a created resource can be read. */
  location?: string
}

/** Replies with a single resource and its ETag, or with 304 when the caller has it already. */
export const replyWithEtag = <O extends Operation>(
  c: Context,
  contract: O,
  body: ReplyBody<O>,
  { version, rest, location }: Tag,
) => {
  const text = JSON.stringify(body)
  const etag = tagOf(text, version, rest)
  if (isNotModified(c, etag)) return newReply(c, null, 304, { ETag: etag })
  const headers = { ETag: etag, ...(location && { Location: location }) }
  return send(c, text, contract.status ?? 200, headers)
}

/** Names the page after `last` in the header `Link`, and returns its cursor. */
export const linkNext = async (c: Context, last: Position | null): Promise<string | null> => {
  const cursor = last && (await makeCursor(c, last))
  if (!cursor) return null
  const next = new URL(c.req.url)
  next.searchParams.set('cursor', cursor)
  addLink(c, `<${next.pathname}${next.search}>; rel="next"`)
  return cursor
}

/** Replies with one page of a list; the next cursor is in the body and in `Link`. */
export const replyPage = async <O extends Operation>(
  c: Context,
  contract: O,
  body: PageBody<O>,
  last: Position | null,
) => {
  const nextCursor = await linkNext(c, last)
  const text = JSON.stringify({ success: true, ...body, nextCursor })
  return send(c, text, contract.status ?? 200, {})
}
