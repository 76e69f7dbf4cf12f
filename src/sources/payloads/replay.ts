import { recordAudit } from '../../db/queries/audit.ts'
import { REQUEST_MS, workOfPayload } from '../../domain/account/requestCost.ts'
import { changesBetween } from '../../domain/admin/audit.ts'
import { Slices } from '../../http/admission/slices.ts'
import { Problem } from '../../http/contract/problem.ts'
import type { ServiceContext } from '../../serviceContext.ts'
import { decodePush } from '../decoding/decode.ts'
import { readPushSettings } from '../push/pushSettings.ts'
import type { ArrivedItem } from '../push/senders.ts'
import type { PushSettings } from '../settings.ts'
import type { StoredSource } from '../store.ts'
import { ingestOrKeep } from '../unclaimed/ingestOrKeep.ts'
import { countPayloads, type Payload, readPayloads, setReasons, unpackPush } from './payloads.ts'

const MAX_PAYLOADS = 1000
const EXCESS = `The span has more than ${MAX_PAYLOADS.toLocaleString('en')} payloads. Choose a shorter one with \`from\` and \`to\`.`
/** Read at once. Shorter pages would need more queries than D1 allows a request. */
const PAGE = 20
/** So many decoded items are stored at once; the last payload may add more. */
const ITEMS_AT_ONCE = 250

interface Replayed {
  id: string
  arrived: ArrivedItem[]
  /** Whether `reason` is another one than before. */
  isChanged: boolean
  /** What of it is still not understood; null when all of it is. */
  reason: string | null
}

const replayedAs = (
  id: string,
  arrived: ArrivedItem[],
  before: string | null,
  reason: string | null,
): Replayed => ({ id, arrived, isChanged: reason !== before, reason })

/** Decodes a payload again. One that was too large to keep fails as before. */
const decodeAgain = async (
  { provider }: StoredSource,
  { id, push: packed, reason, receivedAt }: Payload,
  { settings, slices }: { settings: PushSettings; slices: Slices },
): Promise<Replayed> => {
  if (packed === null) return replayedAs(id, [], reason, reason ?? 'The payload was not kept.')
  const push = unpackPush(packed, { now: receivedAt, settings, slices })
  const { items, failures } = await decodePush(provider, push)
  const arrived = items.map((item) => ({ item, receivedAt }))
  return replayedAs(id, arrived, reason, failures.length > 0 ? failures.join(' ') : null)
}

interface ReplaySpan {
  from: number
  to: number
  /** Waits until payloads, so many milliseconds of work, may be decoded. */
  awaitTurn: (workMs: number) => Promise<void>
}

/**
 * Decodes the payloads of a span again and stores what they become, nothing twice. A replay is no
 * sign of life: everything keeps the time at which its payload arrived.
 */
export const replaySpan = async (
  context: ServiceContext,
  source: StoredSource,
  { awaitTurn, ...span }: ReplaySpan,
): Promise<{ decoded: number; failed: number }> => {
  const { db, accountId } = context
  const holder = { accountId, sourceId: source.id }
  if ((await countPayloads(db, holder, span)) > MAX_PAYLOADS)
    throw new Problem('span-too-large', { detail: EXCESS })
  await recordAudit(db, {
    accountId,
    now: context.now(),
    action: 'source.replayed',
    resource: { type: 'source', id: source.id },
    changes: changesBetween(null, span),
  })
  const counts = { decoded: 0, failed: 0 }
  const decoding = { settings: await readPushSettings(context, source), slices: new Slices() }
  /** Since the last turn. */
  let workMs = 0
  let after = ''
  /** Decoded and not stored yet. */
  let waiting: Replayed[] = []
  const store = async (): Promise<void> => {
    const arrived = waiting.flatMap((one) => one.arrived)
    await ingestOrKeep(context, source, { arrived, now: Date.now(), isOld: true, isReplay: true })
    await setReasons(
      db,
      holder,
      waiting.filter(({ isChanged }) => isChanged),
    )
    const failed = waiting.filter(({ reason }) => reason !== null).length
    counts.failed += failed
    counts.decoded += waiting.length - failed
    waiting = []
  }
  for (;;) {
    const page = await readPayloads(db, holder, { ...span, after }, PAGE)
    let items = 0
    for (const payload of page) {
      workMs += workOfPayload(payload.size)
      if (workMs >= REQUEST_MS) {
        await awaitTurn(workMs)
        workMs = 0
      }
      const replayed = await decodeAgain(source, payload, decoding)
      waiting.push(replayed)
      items += replayed.arrived.length
      if (items < ITEMS_AT_ONCE) continue
      await store()
      items = 0
    }
    await store()
    const last = page.at(-1)
    if (!last || page.length < PAGE) return counts
    after = last.id
  }
}
