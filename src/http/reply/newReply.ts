import type { Context } from '../context.ts'

/*
 * Makes replies. All headers are set when the reply is made: setting one on a finished reply is a
 * call into the runtime, and seven of them took as long as the rest of the framework.
 */

/** Sets a header of the reply that is made later. */
export const setHeader = (c: Context, name: string, value: string): void => {
  c.get('replyHeaders')[name] = value
}

/** Adds an entry to the header `Link`. */
export const addLink = (c: Context, link: string): void => {
  const before = c.get('replyHeaders').Link
  setHeader(c, 'Link', before === undefined ? link : `${before}, ${link}`)
}

/** A reply with the common headers and those of `setHeader`; `headers` replace both. */
export const newReply = (
  c: Context,
  body: string | ReadableStream | null,
  status: number,
  headers: Record<string, string>,
): Response => {
  const all = { ...c.get('replyHeaders'), ...headers }
  const response = new Response(body, { status, headers: all })
  for (const cookie of c.get('cookies') ?? []) response.headers.append('Set-Cookie', cookie)
  return response
}
