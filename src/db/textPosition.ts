import { PREFIX_END } from '../domain/text/fold.ts'
import type { Position } from './page.ts'

/*
 * Positions in lists that are sorted by a text. A cursor has at most 512 characters, which a folded
 * name may exceed: then the position has the beginning of the text, and a digest by which the text
 * of the row with this key is recognised.
 */

const MAX_TEXT_BYTES = 256
const encoder = new TextEncoder()
const bytesOf = (text: string): number => encoder.encode(JSON.stringify(text)).byteLength

const digestOf = (text: string): number => {
  let digest = 5381
  for (let at = 0; at < text.length; at++)
    digest = (Math.imul(digest, 33) ^ text.charCodeAt(at)) >>> 0
  return digest
}

const beginningOf = (text: string): string => {
  let beginning = ''
  for (const character of text) {
    if (bytesOf(beginning + character) > MAX_TEXT_BYTES) break
    beginning += character
  }
  return beginning
}

export const textPosition = (text: string, key: string | number): Position =>
  bytesOf(text) <= MAX_TEXT_BYTES ? [text, key] : [beginningOf(text), key, digestOf(text)]

/**
 * The text that a list goes on after. If the row was renamed or deleted meanwhile, the list goes on
 * where texts with this beginning start: rows may be listed twice, but none is left out.
 */
export const readTextAfter = async (
  [text = '', , digest]: Position,
  readText: () => Promise<string | null | undefined>,
  isDescending = false,
): Promise<string> => {
  const beginning = String(text)
  if (digest === undefined) return beginning
  const found = await readText()
  if (typeof found === 'string' && digestOf(found) === digest) return found
  return isDescending ? beginning + PREFIX_END : beginning
}
