import { and, between, desc, eq, isNull } from 'drizzle-orm'
import { findAlert } from '../../alerts/store.ts'
import { alerts } from '../../db/schema.ts'
import type { CancelItem } from '../../domain/account/source.ts'
import { isClockWrong } from '../../domain/track/credible.ts'
import { requireOk } from '../../http/contract/problem.ts'
import { ledgerOf } from '../../ledger/stub.ts'
import { authorOf, type ServiceContext } from '../../serviceContext.ts'
import { type ArrivedItem, itemsOf, type Sender } from './senders.ts'

/* A network says that an emergency was a false alarm. */

const MAX_CANCELLED = 10
/** A cancellation is of what was raised before it, and not of last year's. */
const MAX_AGE_MS = 7 * 86_400_000

type Cancellation = ArrivedItem<CancelItem>

/** Alerts of this name that were raised before the cancellation and are still open. */
const findOpen = (
  { db }: ServiceContext,
  deviceKey: number,
  { item: { alertName, dateTime }, receivedAt }: Cancellation,
) => {
  // With a wrong clock the alert has the time of its arrival, and so has its cancellation.
  const time = isClockWrong(dateTime, receivedAt) ? receivedAt : dateTime
  return db
    .select({ id: alerts.id })
    .from(alerts)
    .where(
      and(
        eq(alerts.deviceKey, deviceKey),
        between(alerts.time, time - MAX_AGE_MS, time),
        eq(alerts.name, alertName),
        isNull(alerts.cancelledAt),
      ),
    )
    .orderBy(desc(alerts.time))
    .limit(MAX_CANCELLED)
}

const cancelOne = async (context: ServiceContext, id: string): Promise<void> => {
  const { env, db, accountId, origin } = context
  const alert = await findAlert(db, context, id)
  if (!alert) return
  const { acknowledgedAt, acknowledgedBy, cancelledAt, cancelledBy, deliveries } = alert
  requireOk(
    await ledgerOf(env, accountId).cancelAlert({
      alertId: id,
      deviceId: alert.deviceId,
      by: authorOf(context),
      known: { acknowledgedAt, acknowledgedBy, cancelledAt, cancelledBy },
      alert,
      deliveries,
      origin,
    }),
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
export const cancelAlerts = async (context: ServiceContext, senders: Sender[]): Promise<void> => {
  for (const { arrived, device } of senders) {
    if (!device) continue
    for (const one of newestOf(itemsOf(arrived, 'cancel')))
      for (const { id } of await findOpen(context, device.key, one)) await cancelOne(context, id)
  }
}
