import { Hono } from 'hono'
import { noteAccountLimit } from '../../auth/requestLimit.ts'
import { isMoving } from '../../db/movedCell.ts'
import {
  extraCostOfBody,
  extraCostOfLocations,
  workOfPayload,
} from '../../domain/account/requestCost.ts'
import {
  MAX_PUSH_BYTES,
  MAX_UNPACKED_PUSH_BYTES,
  type SourceItem,
} from '../../domain/account/source.ts'
import { BoundedCache } from '../../domain/cache/boundedCache.ts'
import { SOS } from '../../domain/message/alert.ts'
import { findEmergencies, isRaisedByReports } from '../../domain/message/reportedEmergency.ts'
import { runCostlyWork } from '../../http/admission/costlyWork.ts'
import { assignSlot } from '../../http/admission/loadShedding.ts'
import { intakeOf } from '../../http/admission/pacing.ts'
import { addExtraCost, countExtraCost, countRequest } from '../../http/admission/rateLimit.ts'
import { Slices } from '../../http/admission/slices.ts'
import { declaredLength, isGzip, readBytes } from '../../http/body/body.ts'
import type { BudgetMeter } from '../../http/budget/budgetMeter.ts'
import { countUsedRequest, findFullMeter, findMeter, noteStored } from '../../http/budget/meters.ts'
import type { AppEnv, Context } from '../../http/context.ts'
import { Problem } from '../../http/contract/problem.ts'
import { newId } from '../../ids.ts'
import { pushContext, type ServiceContext } from '../../serviceContext.ts'
import { decodePush, mediaTypeOf, replyTo } from '../decoding/decode.ts'
import type { Push } from '../decoding/push.ts'
import { keepPayload, noteNotGzip } from '../payloads/payloads.ts'
import { touchSource } from '../store.ts'
import { ingestOrKeep } from '../unclaimed/ingestOrKeep.ts'
import { toCheckIn } from './checkIns.ts'
import { admitSource, evictSource, type KnownSource } from './knownSource.ts'
import { itemsOf } from './senders.ts'

/* A provider's push, from its arrival to the provider's own reply. */

/** The source in the path, or the 404 of a path that does not exist. */
const admitPush = async (c: Context, now: number): Promise<KnownSource> => {
  const id = c.req.param('sourceId') ?? ''
  const secret = c.req.param('secret') ?? ''
  const known = await admitSource(c.env, { id, secret, now })
  if (!known) throw new Problem('route-not-found')
  const { accountId, cell } = known
  // The source has no more rights than an `ingest` key. Admission and log line ask for them.
  const noUser = { userId: null, groupId: null, adminDevices: null, isAgent: false }
  const nobody = { ...noUser, operatorId: null }
  const { name } = known.source
  const { status } = known
  c.set('principal', { accountId, cell, keyId: id, scopes: ['ingest'], ...nobody, name, status })
  noteAccountLimit(accountId, known.requestsPerMinute)
  countRequest(c, accountId, now)
  await assignSlot(c.req.raw, accountId)
  return known
}

const lastTouch = new BoundedCache<number>(10_000)
const TOUCH_INTERVAL_MS = 60_000

/** Notes the arrival after the reply, at most once a minute. */
const noteArrival = ({ db, waitUntil }: ServiceContext, sourceId: string, now: number): void => {
  if (now - (lastTouch.get(sourceId) ?? 0) < TOUCH_INTERVAL_MS) return
  lastTouch.set(sourceId, now)
  waitUntil(touchSource(db, sourceId, now).catch(() => {}))
}

/** Taken whatever the account stores: an emergency, or its end. Of unknown devices, that is an SOS. */
const isUrgent = (item: SourceItem, { emergencyAlerts }: BudgetMeter): boolean => {
  if (item.kind === 'location') return findEmergencies([item.location], emergencyAlerts).length > 0
  const isAlert = item.kind === 'alert' || item.kind === 'cancel'
  return isAlert && isRaisedByReports(item.alertName, [SOS, ...emergencyAlerts])
}

/**
 * Of a disabled account a push is taken that carries an emergency; of others only check-ins, so that
 * nobody is missed who has checked in. The rest is dropped and not refused: a provider that is refused
 * suspends the address after days, and an app sends nothing before what was refused.
 */
const keepUrgent = async (context: ServiceContext, items: SourceItem[]): Promise<SourceItem[]> => {
  const meter = await findMeter(context)
  // Nothing is known when the database cannot be read: an emergency must not be lost by that.
  if (!meter || items.some((item) => isUrgent(item, meter))) return items
  return items.flatMap((item) => toCheckIn(item) ?? [])
}

/** What the database cannot take will never fit: it is kept as failed, not sent again for ever. */
const reasonTooLarge = (error: unknown): string[] => {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (/TOOBIG|too big/i.test(cause.message)) return ['The push becomes too much to be stored.']
  throw error
}

const storePush = async (c: Context, known: KnownSource, push: Push): Promise<void> => {
  const { source, accountId } = known
  const context = pushContext(c, known)
  const { items: decoded, failures: notUnderstood } = await decodePush(source.provider, push)
  const isDisabled = known.status === 'disabled'
  const items = isDisabled ? await keepUrgent(context, decoded) : decoded
  if (isDisabled && items.length + notUnderstood.length === 0) return
  const arrived = items.map((item) => ({ item, receivedAt: push.now }))
  countExtraCost(c, extraCostOfLocations(itemsOf(arrived, 'location').length))
  const full = await findFullMeter(context)
  if (full && !items.some((item) => isUrgent(item, full))) throw new Problem('storage-full')
  const notStored = await ingestOrKeep(context, source, { arrived, now: push.now }).then(
    () => [],
    (error) => reasonTooLarge(error),
  )
  const failures = [...notStored, ...notUnderstood]
  if (failures.length > 0 || (source.keepRaw && !full))
    await keepPayload(context.db, { accountId, sourceId: source.id }, push, {
      id: await newId('pay'),
      reason: failures.length > 0 ? failures.join(' ') : null,
    })
}

/** Longer than a freeze can last. */
const MAX_MOVE_WAIT_MS = 12_000
const MOVE_POLL_MS = 200

/**
 * Stores the push. While the account moves to another cell it waits for the switch instead of
 * refusing: some providers send nothing twice, and an emergency must not be lost.
 */
const storeInItsCell = async (c: Context, first: KnownSource, push: Push): Promise<void> => {
  const { id } = first.source
  const secret = c.req.param('secret') ?? ''
  const until = push.now + MAX_MOVE_WAIT_MS
  for (let known = first; ; ) {
    try {
      return await storePush(c, known, push)
    } catch (error) {
      if (!isMoving(error) || Date.now() > until) throw error
    }
    await scheduler.wait(MOVE_POLL_MS)
    evictSource(id)
    known = (await admitSource(c.env, { id, secret, now: Date.now() })) ?? known
  }
}

const lastNotGzip = new BoundedCache<number>(10_000)
const NOT_GZIP_INTERVAL_MS = 60_000

/** Lists it as failed, at most once a minute: the provider is refused and may send it again. */
const keepNotGzip = async (c: Context, known: KnownSource, now: number): Promise<void> => {
  const { source, accountId } = known
  if (now - (lastNotGzip.get(source.id) ?? 0) < NOT_GZIP_INTERVAL_MS) return
  lastNotGzip.set(source.id, now)
  const context = pushContext(c, known)
  if (await findFullMeter(context)) return
  const row = { id: await newId('pay'), receivedAt: now, size: declaredLength(c.req.raw) || 0 }
  await noteNotGzip(context.db, { accountId, sourceId: source.id }, row)
}

/** What cannot be unpacked counts as much as the largest push: it has taken as much work. */
const readPush = async (c: Context, known: KnownSource, now: number): Promise<Uint8Array> => {
  const request = c.req.raw
  try {
    return await readBytes(request, MAX_PUSH_BYTES, known.accountId, MAX_UNPACKED_PUSH_BYTES)
  } catch (error) {
    if (!isGzip(request) || !(error instanceof Problem) || error.code === 'unavailable') throw error
    addExtraCost(c, extraCostOfBody(MAX_UNPACKED_PUSH_BYTES))
    if (error.code === 'malformed-body') await keepNotGzip(c, known, now)
    throw error
  }
}

const receivePush = async (c: Context): Promise<Response> => {
  const now = Date.now()
  const known = await admitPush(c, now)
  const { source, accountId } = known
  const context = pushContext(c, known)
  const push: Push = {
    contentType: mediaTypeOf(c.req.header('Content-Type')),
    query: new URL(c.req.url).searchParams,
    headers: c.req.raw.headers,
    body: await readPush(c, known, now),
    now,
    settings: known.settings,
    slices: new Slices(intakeOf(accountId)),
  }
  countExtraCost(c, extraCostOfBody(push.body.byteLength))
  countUsedRequest(known.accountId)
  await runCostlyWork(c, workOfPayload(push.body.byteLength), () => {
    // A provider that hangs up early has sent its push all the same.
    const stored = storeInItsCell(c, known, push)
    c.executionCtx.waitUntil(stored.catch(() => {}))
    return stored
  })
  noteArrival(context, source.id, now)
  noteStored(context)
  const { status, contentType, body } = replyTo(source.provider, push)
  return c.body(body, status, contentType === null ? {} : { 'Content-Type': contentType })
}

/** Each provider has its own form, so these are not in the OpenAPI document. */
export const pushes = new Hono<AppEnv>()
  .get('/:sourceId/:secret', (c) => receivePush(c))
  .post('/:sourceId/:secret', (c) => receivePush(c))
