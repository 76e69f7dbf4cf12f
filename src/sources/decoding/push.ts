import type { Decoded, SourceItem } from '../../domain/account/source.ts'

/** A request of a provider, as its decoder gets it. */
export interface Push {
  /** Without parameters and in lower case; empty when there is none. */
  contentType: string
  query: URLSearchParams
  headers: Headers
  body: Uint8Array
  /** When it arrived: the time of items that carry none. */
  now: number
  /** Refuse a RockBLOCK or Rock 7 push that is not signed. */
  requireJwt: boolean
}

export interface ProviderReply {
  status: 200
  contentType: string | null
  body: string
}

export interface Provider {
  /** May throw `Unreadable` for a payload, or a part of it, that it cannot understand. */
  decode: (push: Push) => Items | Promise<Items>
  /** The provider's own word for "received"; without it an empty reply. */
  reply?: (push: Push) => ProviderReply
}

/** Says what is wrong with a payload. Its message is shown to the account, so it has no values. */
export class Unreadable extends Error {}

/** Notes what is wrong with a part of which the rest is understood. */
export type Note = (error: Unreadable) => void

/** Collects what a payload becomes; what is wrong with one part does not lose the others. */
export class Items implements Decoded {
  readonly items: SourceItem[] = []
  readonly failures: string[] = []

  add(...items: SourceItem[]): void {
    this.items.push(...items)
  }

  /** Decodes each part by itself. `what` names a part in the reason of a failure. */
  addEach<Part>(
    parts: readonly Part[],
    what: string,
    decode: (part: Part, note: Note) => SourceItem[],
  ): Items {
    for (const [index, part] of parts.entries()) {
      const fail = (error: unknown) =>
        void this.failures.push(`${what} ${index + 1}: ${reasonOf(error)}`)
      try {
        this.add(...decode(part, fail))
      } catch (error) {
        fail(error)
      }
    }
    return this
  }
}

export const reasonOf = (error: unknown): string =>
  error instanceof Unreadable ? error.message : 'The payload has an unexpected form.'
