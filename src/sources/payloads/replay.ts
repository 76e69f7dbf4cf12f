import type { Context } from '../../http/context.ts'
import { Problem } from '../../http/contract/problem.ts'
import { decodePush } from '../decoding/decode.ts'
import { ingestOrHold } from '../ingestOrHold.ts'
import { requiresJwt } from '../receive.ts'
import type { StoredSource } from '../store.ts'
import { countPayloads, type PayloadRow, readPayloads, setReasons, unpackPush } from './payloads.ts'
import { type ArrivedItem, keepArrivals } from './replayArrivals.ts'

const MAX_PAYLOADS = 1000
const EXCESS = `The span has more than ${MAX_PAYLOADS.toLocaleString('en')} payloads. Choose a shorter one with \`from\` and \`to\`.`
/** A payload may have 64 KiB: a page is read and stored at once. */
const PAGE = 20

interface Span {
  from: number
  to: number
}

interface Replayed {
  id: string
  arrived: ArrivedItem[]
  /** What of it is still not understood; null when all of it is. */
  reason: string | null
}

/** Decodes a payload again. One that was too large to keep fails as before. */
const decodeAgain = async (
  source: StoredSource,
  { id, push: packed, reason, received_at: receivedAt }: PayloadRow,
): Promise<Replayed> => {
  if (packed === null) return { id, arrived: [], reason: reason ?? 'The payload was not kept.' }
  const push = unpackPush(packed, receivedAt, requiresJwt(source))
  const { items, failures } = await decodePush(source.provider, push)
  const arrived = items.map((item) => ({ item, receivedAt }))
  return { id, arrived, reason: failures.length > 0 ? failures.join(' ') : null }
}

/** Decodes the payloads of a span again and stores what they become. Nothing is stored twice. */
export const replaySpan = async (
  c: Context,
  source: StoredSource,
  { from, to }: Span,
): Promise<{ decoded: number; failed: number }> => {
  const db = c.get('db')
  const holder = { accountId: c.get('principal').accountId, sourceId: source.id }
  if ((await countPayloads(db, holder, { from, to })) > MAX_PAYLOADS)
    throw new Problem('span-too-large', { detail: EXCESS })
  const counts = { decoded: 0, failed: 0 }
  let after = ''
  for (;;) {
    const page = await readPayloads(db, holder, { from, to, after }, PAGE)
    const replayed = await Promise.all(page.map((payload) => decodeAgain(source, payload)))
    const arrived = replayed.flatMap((one) => one.arrived)
    const items = arrived.map(({ item }) => item)
    const now = Date.now()
    await keepArrivals(db, { accountId: holder.accountId, arrived, now }, () =>
      ingestOrHold(c, source, { items, now, isReplay: true }),
    )
    const changed = replayed.filter(({ reason }, at) => reason !== page[at]?.reason)
    await setReasons(db, holder, changed)
    counts.decoded += replayed.filter(({ reason }) => reason === null).length
    counts.failed += replayed.filter(({ reason }) => reason !== null).length
    const last = page.at(-1)
    if (!last || page.length < PAGE) return counts
    after = last.id
  }
}
