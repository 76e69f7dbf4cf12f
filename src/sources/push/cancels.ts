import { and, between, desc, eq, isNotNull } from 'drizzle-orm'
import { describeStep } from '../../alerts/steps.ts'
import { findAlert } from '../../alerts/store.ts'
import { alerts } from '../../db/schema.ts'
import type { CancelItem } from '../../domain/account/source.ts'
import { digestOf } from '../../domain/text/sha256.ts'
import { isClockWrong } from '../../domain/track/credible.ts'
import { requireOk } from '../../http/contract/problem.ts'
import { ledgerOf } from '../../ledger/stub.ts'
import { type ServiceContext, writerIn } from '../../serviceContext.ts'
import { type ArrivedItem, itemsOf, type Sender } from './senders.ts'

/* A network says that an emergency was a false alarm. */

const MAX_CANCELLED = 10
/** A cancellation is of what was raised before it, and not of last year's. */
const MAX_AGE_MS = 7 * 86_400_000

type Cancellation = ArrivedItem<CancelItem>

/** Alerts of this name that were raised before the cancellation: first those not yet cancelled. */
const findBefore = ({ db }: ServiceContext, deviceKey: number, name: string, time: number) =>
  db
    .select({ id: alerts.id })
    .from(alerts)
    .where(
      and(
        eq(alerts.deviceKey, deviceKey),
        between(alerts.time, time - MAX_AGE_MS, time),
        eq(alerts.name, name),
        eq(alerts.test, false),
      ),
    )
    .orderBy(isNotNull(alerts.cancelledAt), desc(alerts.time))
    .limit(MAX_CANCELLED)

const readKnown = async (context: ServiceContext, id: string, by: string) => {
  const alert = await findAlert(context.db, context, id)
  if (!alert) return []
  return [{ ...describeStep(context, alert), action: 'cancel' as const, by }]
}

const cancelFor = async (
  context: ServiceContext,
  sourceId: string,
  device: NonNullable<Sender['device']>,
  { item, receivedAt }: Cancellation,
): Promise<void> => {
  const { env, accountId, origin } = context
  const { alertName: name, dateTime } = item
  // With a wrong clock the alert has the time of its arrival, and so has its cancellation.
  const isWrong = isClockWrong(dateTime, receivedAt)
  const time = isWrong ? receivedAt : dateTime
  const found = await findBefore(context, device.key, name, time)
  const known = await Promise.all(found.map(({ id }) => readKnown(context, id, sourceId)))
  requireOk(
    await ledgerOf(env, accountId).cancelByTracker(
      {
        deviceId: device.id,
        sourceId,
        name,
        time,
        receivedAt,
        isClockWrong: isWrong,
        digest: await digestOf(JSON.stringify(item)),
        known: known.flat(),
        origin,
      },
      writerIn(context),
    ),
  )
}

/** The newest cancellation of each name stands for those before it: a push may have thousands. */
const newestOf = (cancellations: Cancellation[]): Cancellation[] => {
  const newest = new Map<string, Cancellation>()
  for (const one of cancellations) {
    const before = newest.get(one.item.alertName)
    if (!before || before.item.dateTime < one.item.dateTime) newest.set(one.item.alertName, one)
  }
  return [...newest.values()]
}

/** Cancels before the reply: after a failure the provider sends the push again. */
export const cancelAlerts = async (
  context: ServiceContext,
  senders: Sender[],
  sourceId: string,
): Promise<void> => {
  for (const { arrived, device } of senders)
    if (device)
      for (const one of newestOf(itemsOf(arrived, 'cancel')))
        await cancelFor(context, sourceId, device, one)
}
