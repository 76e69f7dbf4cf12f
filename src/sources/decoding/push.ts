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

/** More than a push of 1 MiB has of real ones: what is packed may have half a million of `1`. */
const MAX_PARTS = 10_000
/** A part may become many, such as alarms of each position. */
const MAX_ITEMS = 20_000
/** Further ones are counted. */
const MAX_FAILURES = 20

export const limitParts = <Part>(parts: readonly Part[]): readonly Part[] => {
  if (parts.length <= MAX_PARTS) return parts
  throw new Unreadable(`The payload has more than ${MAX_PARTS.toLocaleString('en')} parts.`)
}

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
  let failed = 0
  for (const [index, part] of limitParts(parts).entries()) {
    const fail = (error: unknown) => {
      if (++failed <= MAX_FAILURES) failures.push(`${what} ${index + 1}: ${reasonOf(error)}`)
    }
    try {
      items.push(...decode(part, fail))
    } catch (error) {
      fail(error)
    }
    if (items.length > MAX_ITEMS)
      throw new Unreadable(`The payload becomes more than ${MAX_ITEMS.toLocaleString('en')} items.`)
    const turn = slices.spend(UNITS_PER_PART)
    if (turn) await turn
  }
  const more = failed - failures.length
  if (more > 0) failures.push(`And ${more.toLocaleString('en')} more.`)
  return { items, failures }
}
