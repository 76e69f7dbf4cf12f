import { keptSince } from '../../domain/account/account.ts'
import { pokeIfSubscribed } from '../../feed/stub.ts'
import type { Batch, NamedDevice } from '../../ingest/arrival.ts'
import { ingest } from '../../ingest/ingest.ts'
import { findNamedDevices } from '../../ingest/raises.ts'
import type { ServiceContext } from '../../serviceContext.ts'
import { readRetentionDays } from '../directory.ts'
import { acceptAgreeing } from '../quarantine/accept.ts'
import { setSourceOf } from '../store.ts'
import { cancelAlerts } from './cancels.ts'
import { takeCheckIns } from './checkIns.ts'
import { storeMessages } from './messages.ts'
import { toRaise } from './raises.ts'
import {
  type ArrivedItem,
  groupBySender,
  itemsOfDevices,
  type Sender,
  toArrivals,
} from './senders.ts'

/* Stores what pushes have become. */

export interface IngestItems {
  sourceId: string
  arrived: ArrivedItem[]
  now: number
  /** Of what arrived before: the device may report by another source by now. */
  isOld?: boolean
  /** Of payloads that are decoded again: their alerts notify, however old they are. */
  isReplay?: boolean
}

/** How the alerts of a push are raised; null without any. */
const raisesOf = async (
  context: ServiceContext,
  senders: Sender[],
  { now, isReplay = false, sourceId }: IngestItems,
): Promise<Batch['raisesBy']> => {
  const alerts = itemsOfDevices(senders, 'alert')
  if (alerts.length === 0) return null
  const { db, accountId, origin } = context
  const since = keptSince(now, await readRetentionDays(db, accountId))
  const common = { origin, now, keptSince: since, isReplay, sourceId }
  const locations = new Map(
    itemsOfDevices(senders, 'location').map(({ item, device }) => [
      `${device.id} ${item.location.dateTime}`,
      item.location,
    ]),
  )
  return (emergency) =>
    Promise.all(
      alerts.map(({ item, device, receivedAt }) => {
        const location = locations.get(`${device.id} ${item.dateTime}`) ?? null
        return toRaise(item, device.id, emergency, { ...common, receivedAt, location })
      }),
    )
}

/** Locations and signs of life need no device before they are stored. */
const isPlain = ({ item: { kind } }: ArrivedItem): boolean => kind === 'location' || kind === 'none'

const findDevices = async (context: ServiceContext, senders: Sender[]): Promise<void> => {
  const named = senders.map(({ identifier }) => ({ deviceId: null, identifier }))
  for (const device of await findNamedDevices(context.db, context, named)) {
    const sender = senders[device.part]
    if (sender) sender.device = device
  }
}

/** Notes by which source a device reports, when that has changed within its provider. */
const noteSource = async (
  { db, accountId }: ServiceContext,
  devices: NamedDevice[],
  { sourceId, isOld = false }: IngestItems,
): Promise<void> => {
  const changed = devices.filter(
    (device) => device.sourceId !== sourceId && !(isOld && device.sourceId !== null),
  )
  if (changed.length > 0) {
    const keys = changed.map(({ key }) => key)
    await setSourceOf(db, accountId, keys, sourceId)
  }
}

/**
 * Stores all items of known devices, and returns what became of their locations. When it returns,
 * everything is durable; when it throws, a repeat stores what is missing.
 */
export const ingestSenders = async (
  context: ServiceContext,
  senders: Sender[],
  given: IngestItems,
) => {
  const isUrgent = given.arrived.some(({ item: { kind } }) => kind === 'alert' || kind === 'cancel')
  const outcome = await ingest(
    context,
    await Promise.all(senders.map((sender) => toArrivals(sender, context.newId))),
    {
      checksCredibility: true,
      // A used-up budget refuses the whole push, so one with an alert must not wait for it.
      mayExceedBudget: isUrgent,
      raisesBy: await raisesOf(context, senders, given),
      now: given.now,
    },
  )
  for (const device of outcome.devices) {
    const sender = senders[device.part]
    if (sender) sender.device ??= device
  }
  await noteSource(context, outcome.devices, given)
  await acceptAgreeing(context, outcome.quarantined)
  const messages = itemsOfDevices(senders, 'message')
  if (messages.length > 0) {
    await storeMessages(context.db, context.accountId, messages)
    // Messages have events too, whether or not anyone wants locations.
    context.waitUntil(pokeIfSubscribed(context.env, context))
  }
  await cancelAlerts(context, senders, given.sourceId)
  await takeCheckIns(context, senders)
  return outcome
}

/** Stores all items of known devices, and returns those of other identifiers. */
export const ingestItems = async (
  context: ServiceContext,
  given: IngestItems,
): Promise<ArrivedItem[]> => {
  const senders = groupBySender(given.arrived)
  if (senders.length === 0) return []
  if (!given.arrived.every(isPlain)) await findDevices(context, senders)
  const { devices } = await ingestSenders(context, senders, given)
  const known = new Set(devices.map(({ part }) => part))
  return senders.flatMap(({ arrived }, part) => (known.has(part) ? [] : arrived))
}
