import type { Decoded, SourceItem, SourceProvider } from '../../../src/domain/account/source.ts'
import { Slices } from '../../../src/http/admission/slices.ts'
import { decodePush } from '../../../src/sources/decoding/decode.ts'
import type { Push } from '../../../src/sources/decoding/push.ts'

export const NOW = Date.parse('2026-11-15T12:00:00Z')

export const pushOf = (
  given: Partial<Omit<Push, 'body'>> & { body?: string | Uint8Array },
): Push => ({
  contentType: '',
  query: new URLSearchParams(),
  headers: new Headers(),
  now: NOW,
  settings: {},
  slices: new Slices(),
  ...given,
  body:
    typeof given.body === 'string'
      ? new TextEncoder().encode(given.body)
      : (given.body ?? new Uint8Array()),
})

export const jsonPush = (value: unknown): Push =>
  pushOf({ contentType: 'application/json', body: JSON.stringify(value) })

export const xmlPush = (body: string): Push => pushOf({ contentType: 'text/xml', body })

/** Decodes a payload of which nothing may fail. */
export const itemsOf = async (provider: SourceProvider, push: Push): Promise<SourceItem[]> => {
  const { items, failures }: Decoded = await decodePush(provider, push)
  if (failures.length > 0) throw new Error(failures.join('; '))
  return items
}

/** The locations, with their times as text. */
export const locationsOf = (items: SourceItem[]) =>
  items.flatMap((item) =>
    item.kind === 'location'
      ? [
          {
            identifier: item.identifier,
            ...item.location,
            dateTime: new Date(item.location.dateTime).toISOString(),
          },
        ]
      : [],
  )

export const kindsOf = (items: SourceItem[]): string[] => items.map(({ kind }) => kind)
