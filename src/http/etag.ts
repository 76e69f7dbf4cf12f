import type { Context } from './context.ts'
import { invalid } from './problem.ts'

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

/** Whether the caller has these very bytes already. */
export const isNotModified = (c: Context, etag: string): boolean => {
  const known = c.req.header('If-None-Match')
  if (known === undefined || (c.req.method !== 'GET' && c.req.method !== 'HEAD')) return false
  return known.trim() === '*' || splitTags(known).some((tag) => tag.replace(/^W\//, '') === etag)
}

/** `"<version>.<rest>"`: edits change the version, any visible change changes the rest. */
export const tagOf = async (text: string, version: number, rest?: string): Promise<string> =>
  `"${version}.${rest ?? (await digest(text))}"`
