import { withRetries } from '../db/open.ts'
import { extraCostOfBody, extraCostOfLocations } from '../domain/account/requestCost.ts'
import { MAX_PUSH_BYTES, type SourceItem } from '../domain/account/source.ts'
import { BoundedCache } from '../domain/cache/boundedCache.ts'
import { requireSlot } from '../http/admission/accountSlots.ts'
import { countExtraCost, countRequest } from '../http/admission/rateLimit.ts'
import { readBytes } from '../http/body/body.ts'
import type { Context } from '../http/context.ts'
import { Problem } from '../http/contract/problem.ts'
import { newId } from '../ids.ts'
import { decodePush, mediaTypeOf, replyTo } from './decoding/decode.ts'
import type { Push } from './decoding/push.ts'
import { ingestOrHold } from './ingestOrHold.ts'
import { admitSource, type KnownSource } from './knownSource.ts'
import { keepPayload } from './payloads/payloads.ts'
import { touchSource } from './store.ts'

/* A provider's push, from its arrival to the provider's own reply. */

/** The source acts with no more rights than an `ingest` key. */
const actAs = (c: Context, { source, accountId, cell, db }: KnownSource): void => {
  c.set('principal', {
    accountId,
    cell,
    keyId: source.id,
    scopes: ['ingest'],
    userId: null,
    groupId: null,
    adminDevices: null,
  })
  // What a push writes, it writes once.
  c.set('db', withRetries(db))
  c.set('newId', newId)
}

/** The source in the path, or the 404 of a path that does not exist. */
const admitPush = async (c: Context, now: number): Promise<KnownSource> => {
  const id = c.req.param('sourceId') ?? ''
  const secret = c.req.param('secret') ?? ''
  const known = await admitSource(c.env, { id, secret, now })
  if (!known) throw new Problem('route-not-found')
  actAs(c, known)
  countRequest(c, known.accountId, now)
  await requireSlot(c)
  return known
}

const lastTouch = new BoundedCache<number>(10_000)
const TOUCH_INTERVAL_MS = 60_000

/** Notes the arrival after the reply, at most once a minute. */
const noteArrival = (c: Context, { id }: { id: string }, now: number): void => {
  if (now - (lastTouch.get(id) ?? 0) < TOUCH_INTERVAL_MS) return
  lastTouch.set(id, now)
  c.executionCtx.waitUntil(touchSource(c.get('db'), id, now).catch(() => {}))
}

/** Whether pushes of this source must be signed. */
export const requiresJwt = ({ settings }: KnownSource['source']): boolean =>
  settings.requireJwt === true

const countLocations = (items: SourceItem[]): number =>
  items.reduce((count, { kind }) => (kind === 'location' ? count + 1 : count), 0)

export const receivePush = async (c: Context): Promise<Response> => {
  const now = Date.now()
  const known = await admitPush(c, now)
  const { source, accountId } = known
  const push: Push = {
    contentType: mediaTypeOf(c.req.header('Content-Type')),
    query: new URL(c.req.url).searchParams,
    headers: c.req.raw.headers,
    body: await readBytes(c.req.raw, MAX_PUSH_BYTES, accountId),
    now,
    requireJwt: requiresJwt(source),
  }
  countExtraCost(c, extraCostOfBody(push.body.byteLength))
  const { items, failures } = await decodePush(source.provider, push)
  countExtraCost(c, extraCostOfLocations(countLocations(items)))
  await ingestOrHold(c, source, { items, now })
  if (failures.length > 0 || source.keepRaw)
    await keepPayload(c.get('db'), { accountId, sourceId: source.id }, push, {
      id: await newId('pay'),
      reason: failures.length > 0 ? failures.join(' ') : null,
    })
  noteArrival(c, source, now)
  const { status, contentType, body } = replyTo(source.provider, push)
  return c.body(body, status, contentType === null ? {} : { 'Content-Type': contentType })
}
