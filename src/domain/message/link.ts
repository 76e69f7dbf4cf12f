import { ALPHABET, base32, base32Number } from '../text/base32.ts'

/*
 * The link in a message, by which its recipient opens and acknowledges the alert without signing in.
 * The path is `/a/` and 16 characters: two for the cell, 14 random ones (70 bits).
 */

const CELL_LENGTH = 2
const RANDOM_LENGTH = 14
export const LINK_LENGTH = CELL_LENGTH + RANDOM_LENGTH
export const LINK_BYTES = 9
export const LINK_PATH = '/a/'

/** Stands for the link in a stored text. No name or text of a user can contain it. */
export const LINK_MARK = '\u{1}'
/** What the API shows in place of a link. */
const REDACTED = '…'

const DAY_MS = 86_400_000
export const LINK_VALID_MS = 7 * DAY_MS

/** `random`: `LINK_BYTES` random bytes. */
export const makeLink = (cell: number, random: Uint8Array): string =>
  base32Number(cell, CELL_LENGTH) + base32(random, RANDOM_LENGTH)

/** The address of a share is such a link too, with more random bits: it may be valid for years. */
const SHARE_RANDOM_LENGTH = 40
export const SHARE_LENGTH = CELL_LENGTH + SHARE_RANDOM_LENGTH
export const SHARE_BYTES = 25

/** `random`: `SHARE_BYTES` random bytes. */
export const makeShareSecret = (cell: number, random: Uint8Array): string =>
  base32Number(cell, CELL_LENGTH) + base32(random, SHARE_RANDOM_LENGTH)

const SHAPE = new RegExp(`^[${ALPHABET}]+$`)

/** The cell of a link; null for a text that is no link. */
export const cellOfLink = (link: string, length = LINK_LENGTH): number | null => {
  if (link.length !== length || !SHAPE.test(link)) return null
  return [...link.slice(0, CELL_LENGTH)].reduce(
    (number, character) => number * ALPHABET.length + ALPHABET.indexOf(character),
    0,
  )
}

/** The text as it is sent; without a link as `redactLink` gives it. */
export const fillLink = (text: string, link: string | null): string =>
  text.replaceAll(LINK_MARK, link ?? REDACTED)

/** The text as the API shows it. */
export const redactLink = (text: string): string => text.replaceAll(LINK_MARK, REDACTED)
