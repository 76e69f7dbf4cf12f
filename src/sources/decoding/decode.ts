import type { Decoded, SourceItem, SourceProvider } from '../../domain/account/source.ts'
import { cloudloop } from '../providers/cloudloop.ts'
import { flespi } from '../providers/flespi.ts'
import { garmin } from '../providers/garmin.ts'
import { globalstar } from '../providers/globalstar.ts'
import { osmand } from '../providers/osmand.ts'
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
  flespi,
}

const MAX_KEY_LENGTH = 200
const MAX_FAILURES = 20

const withBoundedKey = (item: SourceItem): SourceItem =>
  item.key.length <= MAX_KEY_LENGTH ? item : { ...item, key: item.key.slice(0, MAX_KEY_LENGTH) }

/** Never throws: what cannot be understood is a failure with its reason. */
export const decodePush = async (name: SourceProvider, push: Push): Promise<Decoded> => {
  try {
    const { items, failures } = await PROVIDERS[name].decode(push)
    return { items: items.map(withBoundedKey), failures: failures.slice(0, MAX_FAILURES) }
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
