import type { Env } from '../env.ts'

/*
 * The assets show the console's page at every path that has no file. A missing script would get it
 * too, with the headers of the scripts: to be kept for a year.
 */

const isHtml = ({ headers }: Response): boolean =>
  headers.get('Content-Type')?.startsWith('text/html') === true

/** The file at this path, or the console's page; null where a file is missing. */
export const findFile = async (
  request: Request,
  path: string,
  env: Env,
): Promise<Response | null> => {
  const reply = await env.ASSETS.fetch(request)
  const isMissing = reply.status === 404 || (path.startsWith('/console/') && isHtml(reply))
  if (!isMissing) return reply
  await reply.body?.cancel()
  return null
}
