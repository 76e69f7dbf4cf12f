import { isObject } from '../../domain/text/json.ts'
import type { Context } from '../context.ts'
import { invalid } from '../contract/problem.ts'
import { setHeader } from '../reply/newReply.ts'
import {
  type Change,
  downgradeReply,
  isVersion,
  NEWEST_VERSION,
  VERSION_DATES,
} from './versions.ts'

export const VERSION_HEADER = 'Perigee-Version'

/**
 * The version that the caller speaks: that of the header, else the one that its key pins, else the
 * newest. The reply names it.
 */
export const readVersion = (c: Context): string => {
  const given = c.req.header(VERSION_HEADER)
  if (given !== undefined && !isVersion(given))
    throw invalid({
      pointer: `#/header/${VERSION_HEADER}`,
      detail: `must be one of the versions of the API: ${VERSION_DATES.join(', ')}`,
    })
  const version = given ?? c.get('pinnedVersion') ?? NEWEST_VERSION
  setHeader(c, VERSION_HEADER, version)
  return version
}

/** Replaces a reply of the newest version by that of the caller's. Problems are alike in all. */
export const convertReply = async (c: Context, changes: readonly Change[]): Promise<void> => {
  const { ok, status, headers } = c.res
  if (changes.length === 0 || !ok || c.res.body === null) return
  if (headers.get('Content-Type') !== 'application/json') return
  const reply: unknown = await c.res.json()
  const text = JSON.stringify(isObject(reply) ? downgradeReply(reply, changes) : reply)
  // Unset first: Hono would merge the headers of both.
  c.res = undefined
  c.res = new Response(text, { status, headers })
}
