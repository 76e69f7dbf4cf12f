import type { Context } from '../context.ts'

/*
 * Makes replies. All headers are set when the reply is made: setting one on a finished reply is a
 * call into the runtime, and seven of them took as long as the rest of the framework.
 */

/** Sets a header of the reply that is made later. */
export const setHeader = (c: Context, name: string, value: string): void => {
  c.get('replyHeaders')[name] = value
}

/** A reply with the common headers and those of `setHeader`; `headers` replace both. */
export const newReply = (
  c: Context,
  body: string | ReadableStream | null,
  status: number,
  headers: Record<string, string>,
): Response => new Response(body, { status, headers: { ...c.get('replyHeaders'), ...headers } })
