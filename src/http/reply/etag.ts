import type { Context } from '../context.ts'
import { invalid } from '../contract/problem.ts'

const mix = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}

/**
 * 96 bits in base 36. Not a cryptographic hash, whose call into the runtime takes longer than a
 * reply's whole framing: a caller who makes two bodies collide misleads only its own cache.
 */
const digest = (text: string): string => {
  let [a, b, c] = [0x9e3779b1, 0x7feb352d, 0x165667b1]
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b + unit, 0x2c1b3c6d) ^ (b >>> 15)
    c = (Math.imul(c, 0x297a2d39) + unit) ^ (c >>> 13)
  }
  return [a ^ (b >>> 7), b ^ (c >>> 11), c ^ (a >>> 5)]
    .map((part) => mix(part).toString(36).padStart(7, '0'))
    .join('')
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
export const tagOf = (text: string, version: number, rest?: string): string =>
  `"${version}.${rest ?? digest(text)}"`
