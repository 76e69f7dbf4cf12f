import type { Context } from './context.ts'
import { invalid, Problem } from './problem.ts'

const digest = async (text: string): Promise<string> => {
  const bytes = new Uint8Array(
    await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)),
  )
  return btoa(String.fromCharCode(...bytes.subarray(0, 12)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}

const ENTITY_TAG = /^(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/

const splitTags = (header: string): string[] => header.split(',').map((tag) => tag.trim())

/** The versions that If-Match names. Only edits change a version: a new location does not. */
export const readIfMatch = (c: Context): number[] | null => {
  const header = c.req.header('If-Match')
  if (header === undefined || header.trim() === '*') return null
  return splitTags(header).flatMap((tag) => {
    const match = ENTITY_TAG.exec(tag)
    if (!match)
      throw invalid({
        pointer: '#/header/If-Match',
        detail: 'must be "*" or a list of entity tags in double quotes',
      })
    const version = /^(\d{1,15})\./.exec(match[2] ?? '')?.[1]
    return match[1] || version === undefined ? [] : [Number(version)]
  })
}

/** For an edit worked out on `version`: what the write is to hold against, or 412 where If-Match does not name it. */
export const expectedVersions = (c: Context, version: number): number[] => {
  if (c.get('ifMatch')?.includes(version) === false) throw new Problem('precondition-failed')
  return [version]
}

/** Whether the caller has these very bytes already. */
export const isNotModified = (c: Context, etag: string): boolean => {
  const known = c.req.header('If-None-Match')
  if (known === undefined || (c.req.method !== 'GET' && c.req.method !== 'HEAD')) return false
  return known.trim() === '*' || splitTags(known).some((tag) => tag.replace(/^W\//, '') === etag)
}

/** `"<version>.<rest>"`: edits change the version, any visible change changes the rest. */
export const tagOf = async (text: string, version: number, rest?: string): Promise<string> =>
  `"${version}.${rest ?? (await digest(text))}"`

/** A single resource with its two-part tag; 304 where the caller has these very bytes. */
export const replyWithEtag = async (
  c: Context,
  body: object,
  version: number,
  status: 200 | 201 = 200,
  headers: Record<string, string> = {},
) => {
  const text = JSON.stringify(body)
  return replyTagged(c, text, `"${version}.${await digest(text)}"`, status, headers)
}

/** The same where the tag is known without a look at the bytes. */
export const replyTagged = (
  c: Context,
  text: string,
  etag: string,
  status: 200 | 201 = 200,
  headers: Record<string, string> = {},
) => {
  if (isNotModified(c, etag)) return c.body(null, 304, { ETag: etag })
  return c.body(text, status, { 'Content-Type': 'application/json', ETag: etag, ...headers })
}
