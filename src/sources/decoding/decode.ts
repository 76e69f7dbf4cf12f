import {
  type Decoded,
  MAX_PUSH_TEXT_BYTES,
  type SourceItem,
  type SourceProvider,
} from '../../domain/account/source.ts'
import { cloudloop } from '../providers/cloudloop.ts'
import { flespi } from '../providers/flespi.ts'
import { garmin } from '../providers/garmin.ts'
import { globalstar } from '../providers/globalstar.ts'
import { osmand } from '../providers/osmand.ts'
import { overland } from '../providers/overland.ts'
import { owntracks } from '../providers/owntracks.ts'
import { rock7 } from '../providers/rock7.ts'
import { rockblock } from '../providers/rockblock.ts'
import { spot } from '../providers/spot.ts'
import { traccar } from '../providers/traccar.ts'
import { type Provider, type ProviderReply, type Push, reasonOf } from './push.ts'

/** A new provider: its file, vectors in a test, its name in domain/account/source.ts, a row here. */
const PROVIDERS: Readonly<Record<SourceProvider, Provider>> = {
  osmand,
  traccar,
  garmin,
  rockblock,
  rock7,
  cloudloop,
  spot,
  globalstar,
  owntracks,
  overland,
  flespi,
}

const MAX_KEY_LENGTH = 200
const UTF_8 = new TextEncoder()

const withBoundedKey = (item: SourceItem): SourceItem =>
  item.key.length <= MAX_KEY_LENGTH ? item : { ...item, key: item.key.slice(0, MAX_KEY_LENGTH) }

const TOO_MUCH_TEXT = `The texts have more than ${MAX_PUSH_TEXT_BYTES / 1024} KB; the rest is not stored.`

/**
 * A push may repeat its texts for many devices. Beyond the limit messages are left out; an alert
 * stays, without its text.
 */
const limitTexts = ({ items, failures }: Decoded): Decoded => {
  let left = MAX_PUSH_TEXT_BYTES
  const kept = items.flatMap((item): SourceItem[] => {
    if (item.kind !== 'message' && item.kind !== 'alert') return [item]
    left -= UTF_8.encode(item.text).byteLength
    if (left >= 0) return [item]
    return item.kind === 'alert' ? [{ ...item, text: '' }] : []
  })
  return { items: kept, failures: left >= 0 ? failures : [TOO_MUCH_TEXT, ...failures] }
}

/** Never throws: what cannot be understood is a failure with its reason. */
export const decodePush = async (name: SourceProvider, push: Push): Promise<Decoded> => {
  try {
    const { items, failures } = limitTexts(await PROVIDERS[name].decode(push))
    return { items: items.map(withBoundedKey), failures }
  } catch (error) {
    return { items: [], failures: [reasonOf(error)] }
  }
}

/** The reply to a push of which everything is stored, or kept as unclaimed, quarantined or failed. */
export const replyTo = (name: SourceProvider, push: Push): ProviderReply =>
  PROVIDERS[name].reply?.(push) ?? { status: 200, contentType: null, body: '' }

/** The media type alone, in lower case. */
export const mediaTypeOf = (contentType: string | null | undefined): string =>
  (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
