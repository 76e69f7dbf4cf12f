import { sql } from 'drizzle-orm'
import { findAlert } from '../alerts/store.ts'
import { alerts } from '../db/schema.ts'
import { readAll, statement } from '../db/statement.ts'
import type { CancelItem, SourceItem } from '../domain/account/source.ts'
import { isClockWrong } from '../domain/track/credible.ts'
import type { Context } from '../http/context.ts'
import { requireOk } from '../http/contract/problem.ts'
import { originOf } from '../ingest/handOver.ts'
import type { NamedDevice } from '../ingest/mixedStatements.ts'
import { ledgerOf } from '../ledger/stub.ts'

/* A network says that an emergency was a false alarm. */

const MAX_CANCELLED = 10
/** A cancellation is of what was raised before it, and not of last year's. */
const MAX_AGE_MS = 7 * 86_400_000

/** With a wrong clock the alert has the time of its arrival, and so has its cancellation. */
const timeOf = ({ dateTime }: CancelItem, receivedAt: number): number =>
  isClockWrong(dateTime, receivedAt) ? receivedAt : dateTime

/** Alerts of this name that were raised before the cancellation and are still open. */
const findOpen = (c: Context, { key }: NamedDevice, alertName: string, dateTime: number) =>
  readAll(
    statement<{ id: string }>(
      c.get('db'),
      sql`SELECT ${alerts.id} FROM ${alerts} WHERE ${alerts.deviceKey} = ${key}
        AND ${alerts.time} BETWEEN ${dateTime - MAX_AGE_MS} AND ${dateTime}
        AND ${alerts.name} = ${alertName} AND ${alerts.cancelledAt} IS NULL
        ORDER BY ${alerts.time} DESC LIMIT ${MAX_CANCELLED}`,
    ),
  )

const cancelOne = async (c: Context, id: string): Promise<void> => {
  const principal = c.get('principal')
  const alert = await findAlert(c.get('db'), principal, id)
  if (!alert) return
  const { acknowledgedAt, acknowledgedBy, cancelledAt, cancelledBy, deliveries } = alert
  requireOk(
    await ledgerOf(c.env, principal.accountId).cancelAlert({
      alertId: id,
      deviceId: alert.deviceId,
      by: principal.keyId,
      known: { acknowledgedAt, acknowledgedBy, cancelledAt, cancelledBy },
      alert,
      deliveries,
      origin: originOf(c),
    }),
  )
}

interface Sender {
  items: SourceItem[]
  device: NamedDevice | null
}

/** The newest cancellation of each name stands for those before it: a push may have thousands. */
const newestOf = (items: SourceItem[]): CancelItem[] => {
  const newest = new Map<string, CancelItem>()
  for (const item of items) {
    if (item.kind !== 'cancel') continue
    const before = newest.get(item.alertName)
    if (!before || before.dateTime < item.dateTime) newest.set(item.alertName, item)
  }
  return [...newest.values()]
}

/** Cancels before the reply: after a failure the provider sends the push again. */
export const cancelAlerts = async (
  c: Context,
  senders: Sender[],
  receivedAt: number,
): Promise<void> => {
  for (const { items, device } of senders) {
    if (!device) continue
    for (const item of newestOf(items)) {
      const open = await findOpen(c, device, item.alertName, timeOf(item, receivedAt))
      for (const { id } of open) await cancelOne(c, id)
    }
  }
}
