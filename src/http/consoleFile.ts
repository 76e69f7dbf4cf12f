import type { Env } from '../env.ts'

/*
 * The assets show the console's page at every path that has no file. A missing script would get it
 * too, with the headers of the scripts: to be kept for a year.
 */

const isHtml = ({ headers }: Response): boolean =>
  headers.get('Content-Type')?.startsWith('text/html') === true

/** The file of the console at this path; null when there is none. */
export const findConsoleFile = async (request: Request, env: Env): Promise<Response | null> => {
  const reply = await env.ASSETS.fetch(request)
  if (!isHtml(reply)) return reply
  await reply.body?.cancel()
  return null
}

/** Whether only a file of the console can be at this path. */
export const isConsolePath = ({ method, url }: Request): boolean =>
  (method === 'GET' || method === 'HEAD') && new URL(url).pathname.startsWith('/console/')
