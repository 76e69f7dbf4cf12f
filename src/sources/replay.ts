import type { Context } from '../http/context.ts'
import { Problem } from '../http/problem.ts'
import { decodePush } from './decode.ts'
import { ingestOrHold } from './newcomers.ts'
import { type PayloadRow, readPayloads, setReason, unpackPush } from './payloads.ts'
import { requiresJwt } from './receive.ts'
import type { StoredSource } from './store.ts'
import type { Holder } from './unclaimed.ts'

const MAX_PAYLOADS = 1000

interface Span {
  from: number
  to: number
}

/** Decodes one payload again and stores what it becomes; true when all of it was understood. */
const replayOne = async (
  c: Context,
  source: StoredSource,
  { id, push: packed, reason, received_at: receivedAt }: PayloadRow,
): Promise<boolean> => {
  if (packed === null) return false
  const push = unpackPush(packed, receivedAt, requiresJwt(source))
  const { items, failures } = await decodePush(source.provider, push)
  await ingestOrHold(c, source, items, Date.now())
  const now = failures.length > 0 ? failures.join(' ') : null
  const holder = { accountId: c.get('principal').accountId, sourceId: source.id }
  if (now !== reason) await setReason(c.get('db'), holder, id, now)
  return now === null
}

export const replaySpan = async (
  c: Context,
  source: StoredSource,
  { from, to }: Span,
): Promise<{ decoded: number; failed: number }> => {
  const holder: Holder = { accountId: c.get('principal').accountId, sourceId: source.id }
  const db = c.get('db')
  const beyond = await readPayloads(db, holder, { from, to, after: '' }, MAX_PAYLOADS + 1)
  if (beyond.length > MAX_PAYLOADS) throw new Problem('span-too-large')
  let decoded = 0
  for (const payload of beyond) if (await replayOne(c, source, payload)) decoded++
  return { decoded, failed: beyond.length - decoded }
}
