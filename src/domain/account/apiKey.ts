import { base32 } from '../text/base32.ts'

const ID_LENGTH = 22
const SECRET_LENGTH = 40
/** What keys of accounts and of operators begin with, by the prefix of the id in them. */
const PREFIXES = { key: 'pgk', opr: 'pgo' } as const
type Kind = keyof typeof PREFIXES
/** `pgk_<id>_<secret>_<checksum>`. The checksum rejects a mistyped key without a database read. */
const FORMAT = new RegExp(
  `^(pgk|pgo)_([0-9a-z]{${ID_LENGTH}})_([0-9a-z]{${SECRET_LENGTH}})_([0-9a-z]{7})$`,
)

const crc32 = (text: string): number => {
  let crc = ~0
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

const checksum = (text: string): string => {
  const crc = crc32(text)
  return base32(new Uint8Array([crc >>> 24, crc >>> 16, crc >>> 8, crc, 0]), 7)
}

/** 200 random bits, enough for the secret to be stored as a single round of SHA-256. */
export const SECRET_BYTES = 25

export const makeSecret = (random: Uint8Array): string => base32(random, SECRET_LENGTH)

/** The whole API key for the public id `key_…` or `opr_…` and its secret. */
export const formatApiKey = (id: string, secret: string): string => {
  const text = `${PREFIXES[id.slice(0, 3) as Kind]}_${id.slice(4)}_${secret}`
  return `${text}_${checksum(text)}`
}

/** Whether a text is meant as an API key, be it well-formed or not. */
export const looksLikeApiKey = (text: string): boolean => /^pg[ko]_/.test(text)

/** The key of an account, or that of an operator; null for another text. */
export const parseApiKey = (
  text: string,
  kind: Kind = 'key',
): { id: string; secret: string } | null => {
  const [, prefix, id, secret, sum] = FORMAT.exec(text) ?? []
  if (!id || !secret || prefix !== PREFIXES[kind]) return null
  return sum === checksum(`${prefix}_${id}_${secret}`) ? { id: `${kind}_${id}`, secret } : null
}
