import type { Env } from '../env.ts'
import { isSignature, SIGNATURE, sign } from './signature.ts'

/*
 * Links with which a user sets a password. Nothing is stored for them: the signature covers the
 * present password hash and e-mail address and the time when the user was last disabled, so that a
 * link ends when one of them changes.
 */

export const LINK_KINDS = ['invitation', 'reset'] as const
export type LinkKind = (typeof LINK_KINDS)[number]

const HOUR_MS = 3_600_000
export const LINK_LIFETIME_MS: Record<LinkKind, number> = {
  invitation: 7 * 24 * HOUR_MS,
  reset: HOUR_MS,
}

export interface PasswordLink {
  kind: LinkKind
  cell: number
  userId: string
  expires: number
  /** The part of the link that is signed, and its signature. */
  text: string
  signature: string
}

/** What a link covers beside its own text. */
export interface LinkSubject {
  accountId: string
  emailKey: string
  /** The present password hash. */
  password: string | null
  lastDisabled: number | null
}

const FORMAT = new RegExp(
  `^((invitation|reset)\\.(\\d{1,6})\\.(usr_[0-9a-z]{22})\\.(\\d{1,15}))\\.(${SIGNATURE})$`,
)

const signedText = (text: string, subject: LinkSubject): string => {
  const { accountId, emailKey, password, lastDisabled } = subject
  const covered = [text, accountId, emailKey, password]
  return `password link ${JSON.stringify(lastDisabled === null ? covered : [...covered, lastDisabled])}`
}

export const writeLink = async (
  env: Env,
  { kind, cell, userId, expires }: Pick<PasswordLink, 'kind' | 'cell' | 'userId' | 'expires'>,
  subject: LinkSubject,
): Promise<string> => {
  const text = `${kind}.${cell}.${userId}.${expires}`
  return `${text}.${await sign(env, signedText(text, subject))}`
}

/** The parts of a link, not verified yet. Takes the whole URL too. */
export const parseLink = (link: string): PasswordLink | null => {
  const match = FORMAT.exec(link.slice(link.lastIndexOf('#') + 1).trim())
  if (!match) return null
  const [, text = '', kind, cell, userId = '', expires, signature = ''] = match
  return {
    kind: kind as LinkKind,
    cell: Number(cell),
    userId,
    expires: Number(expires),
    text,
    signature,
  }
}

/** Whether the link was made for the user as the user is now, and has not expired. */
export const isLinkValid = async (
  env: Env,
  { text, signature, expires }: PasswordLink,
  subject: LinkSubject,
  now: number,
): Promise<boolean> =>
  (await isSignature(env, signedText(text, subject), signature)) && now < expires
