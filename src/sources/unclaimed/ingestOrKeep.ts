import { selectAdministrators, toAdministrators } from '../../db/queries/recipients.ts'
import { readAll } from '../../db/statement.ts'
import { MAX_STORAGE_SHARE } from '../../domain/account/budget.ts'
import {
  DEFAULT_DAILY_LIMITS,
  DEFAULT_MAX_SPEED,
  type DeviceRecord,
} from '../../domain/account/device.ts'
import type { AlertItem } from '../../domain/account/source.ts'
import { SOS } from '../../domain/message/alert.ts'
import { fold } from '../../domain/text/fold.ts'
import { findFullMeter } from '../../http/budget/meters.ts'
import { Problem } from '../../http/contract/problem.ts'
import { deriveId } from '../../ids.ts'
import { ledgerOf } from '../../ledger/stub.ts'
import { type ServiceContext, writerIn } from '../../serviceContext.ts'
import { type IngestItems, ingestItems } from '../push/ingestItems.ts'
import { type ArrivedItem, itemsOf } from '../push/senders.ts'
import type { StoredSource } from '../store.ts'
import { keepUnclaimed } from './unclaimed.ts'

/* Items of identifiers that no device has: a new device takes them, or they wait to be claimed. */

const recordFor = (identifier: string, { name }: StoredSource): DeviceRecord => ({
  name: identifier,
  description: `Created by the source ${name}.`,
  min: '',
  identifier,
  model: '',
  tags: {},
  limits: { expires: false, expirationDate: null, ...DEFAULT_DAILY_LIMITS },
  maxSpeed: DEFAULT_MAX_SPEED,
})

/** Creates devices as far as licenses and the source's daily number allow; true if any exists now. */
const createDevices = async (
  context: ServiceContext,
  source: StoredSource,
  arrived: ArrivedItem[],
): Promise<boolean> => {
  const { env, accountId, newId } = context
  const ledger = ledgerOf(env, accountId)
  const identifiers = new Map(
    arrived.map(({ item: { identifier } }) => [fold(identifier), identifier]),
  )
  let isAnyNew = false
  for (const identifier of identifiers.values()) {
    const id = await newId('dev')
    const record = recordFor(identifier, source)
    const created = { sourceId: source.id, id, record }
    const outcome = await ledger.createDeviceForSource(created, writerIn(context))
    // Another push may have created it at the same time.
    if (outcome?.ok || outcome?.refusal === 'identifier-taken') isAnyNew = true
    else break
  }
  return isAnyNew
}

const HOUR_MS = 3_600_000

/** The same within an hour of the clock: a tracker that repeats its SOS must not use up messages. */
const noticeId = (sourceId: string, { identifier }: AlertItem, now: number): Promise<string> =>
  deriveId('ntc', now - (now % HOUR_MS), `unclaimed ${sourceId} ${fold(identifier)}`)

const MAX_NOTICES = 100

/** An SOS of an unknown device must reach a person: the account's administrators. */
const notifyOfEmergencies = async (
  context: ServiceContext,
  source: StoredSource,
  arrived: ArrivedItem[],
  now: number,
): Promise<void> => {
  // One of each identifier: trackers repeat the flag. Beyond the bound the day's limit is reached.
  const byIdentifier = new Map<string, AlertItem>()
  for (const { item } of itemsOf(arrived, 'alert'))
    if (item.alertName === SOS && !byIdentifier.has(fold(item.identifier)))
      byIdentifier.set(fold(item.identifier), item)
  const emergencies = [...byIdentifier.values()].slice(0, MAX_NOTICES)
  if (emergencies.length === 0) return
  const { env, db, accountId } = context
  const omitsSuppressed = (await findFullMeter(context, MAX_STORAGE_SHARE)) !== null
  const rows = await readAll(selectAdministrators(db, { accountId, deviceId: '', now }))
  for (const item of emergencies) {
    const { identifier, dateTime, latitude, longitude } = item
    const place = { identifier, dateTime, latitude, longitude }
    const outcome = await ledgerOf(env, accountId).sendNotice({
      id: await noticeId(source.id, item, now),
      unlessAfter: await noticeId(source.id, item, now - HOUR_MS),
      content: { kind: 'unclaimed-sos', sourceName: source.name, ...place },
      recipients: toAdministrators(rows),
      isUrgent: true,
      omitsSuppressed,
    })
    if (!outcome.ok) throw new Problem('unavailable')
  }
}

/** Stores items of devices that still have their former identifier, and returns the others. */
const ingestByFormer = async (
  context: ServiceContext,
  push: IngestItems,
  unknown: ArrivedItem[],
): Promise<ArrivedItem[]> => {
  const renamed = new Map<ArrivedItem, ArrivedItem>()
  for (const one of unknown) {
    const { formerIdentifier, ...item } = one.item
    if (formerIdentifier)
      renamed.set({ ...one, item: { ...item, identifier: formerIdentifier } }, one)
  }
  if (renamed.size === 0) return unknown
  const left = await ingestItems(context, { ...push, arrived: [...renamed.keys()] })
  const stored = new Set(renamed.values())
  for (const one of left) stored.delete(renamed.get(one) ?? one)
  return unknown.filter((one) => !stored.has(one))
}

/** Stores everything: known devices' items at their devices, all others as unclaimed. */
export const ingestOrKeep = async (
  context: ServiceContext,
  source: StoredSource,
  given: Omit<IngestItems, 'sourceId'>,
): Promise<void> => {
  const { now } = given
  const push = { ...given, sourceId: source.id }
  let unknown = await ingestByFormer(context, push, await ingestItems(context, push))
  if (unknown.length > 0 && source.newDevices === 'create')
    if (await createDevices(context, source, unknown))
      unknown = await ingestItems(context, { ...push, arrived: unknown })
  if (unknown.length === 0) return
  const { db, accountId } = context
  const items = unknown.map(({ item }) => item)
  await keepUnclaimed(db, { accountId, sourceId: source.id }, items, now)
  await notifyOfEmergencies(context, source, unknown, now)
}
