import type { Decoded, SourceItem } from '../../domain/account/source.ts'
import type { Slices } from '../../http/admission/slices.ts'
import type { PushSettings } from '../settings.ts'

/** A request of a provider, as its decoder gets it. */
export interface Push {
  /** Without parameters and in lower case; empty when there is none. */
  contentType: string
  query: URLSearchParams
  headers: Headers
  body: Uint8Array
  /** When it arrived: the time of items that carry none. */
  now: number
  settings: PushSettings
  /** Decoding a large one is done in slices. */
  slices: Slices
}

export interface ProviderReply {
  status: 200
  contentType: string | null
  body: string
}

export interface Provider {
  /** May throw `Unreadable` for a payload, or a part of it, that it cannot understand. */
  decode: (push: Push) => Decoded | Promise<Decoded>
  /** The provider's own word for "received", after decoding; without it an empty reply. */
  reply?: (push: Push) => ProviderReply
}

/** Says what is wrong with a payload. Its message is shown to the account, so it has no values. */
export class Unreadable extends Error {}

/** Notes what is wrong with a part of which the rest is understood. */
export type Note = (error: Unreadable) => void

export const reasonOf = (error: unknown): string =>
  error instanceof Unreadable ? error.message : 'The payload has an unexpected form.'

/** A part takes about so many microseconds. */
const UNITS_PER_PART = 50

/**
 * Decodes each part of a payload by itself: what is wrong with one does not lose the others. `what`
 * names a part in the reason of a failure.
 */
export const decodeEach = async <Part>(
  { slices }: Push,
  parts: readonly Part[],
  what: string,
  decode: (part: Part, note: Note) => SourceItem[],
): Promise<Decoded> => {
  const items: SourceItem[] = []
  const failures: string[] = []
  for (const [index, part] of parts.entries()) {
    const fail = (error: unknown) => void failures.push(`${what} ${index + 1}: ${reasonOf(error)}`)
    try {
      items.push(...decode(part, fail))
    } catch (error) {
      fail(error)
    }
    const turn = slices.spend(UNITS_PER_PART)
    if (turn) await turn
  }
  return { items, failures }
}
