import { deleteRows, selectRows } from '../../db/objectTable.ts'
import { hasEnded } from '../../domain/account/license.ts'
import {
  type Alert,
  type AlertUpdate,
  indexOf,
  type MessageSummary,
  type Recipient,
  SERIES,
  seriesOf,
} from '../../domain/message/alert.ts'
import type { Decision } from '../decision.ts'
import { isMessageOf } from '../messages/messageQueue.ts'
import { type DeviceRow, type EmergencyRow, emergencies, messages } from '../tables.ts'
import { findEmergency, isReached, openEmergency } from './emergencies.ts'

/* An emergency that someone handled, or that was over, is open again. */

/** What the messages about an alert are composed from. */
export interface AlertMatter {
  alert: Alert
  updates: AlertUpdate[]
  /** How many messages it has: further ones are numbered from there. */
  messages: number
  /** The alert's messages as the cell has them, which keeps them longer than the ledger does. */
  deliveries: MessageSummary[]
  origin: string
}

/** How many messages an alert that was over has: the cell may not have the last of them yet. */
const countKnown = (sql: SqlStorage, { alert, messages: inCell }: AlertMatter): number =>
  selectRows(sql, messages, isMessageOf(alert.id))
    .filter(({ id }) => seriesOf(id) <= SERIES.undelivered)
    .reduce((count, { id }) => Math.max(count, indexOf(id) + 1), inCell)

/** Checks it and sends it again as if it were new. */
export const reopenEmergency = (
  tx: Decision,
  device: DeviceRow,
  given: AlertMatter & { administrators: Recipient[] },
): EmergencyRow => {
  const { alert, origin, administrators, updates, deliveries } = given
  const row = findEmergency(tx.sql, alert.id)
  const { name: deviceName, identifier } = device.record
  deleteRows(tx.sql, emergencies, { id: alert.id })
  return openEmergency(tx, {
    deviceKey: device.key,
    details: row?.details ?? {
      alert,
      motion: {},
      deviceName,
      identifier,
      origin,
      deviceId: device.id,
      administrators,
      isOfExpiredDevice: hasEnded(device.ends, tx.account.day),
    },
    messages: row?.messages ?? countKnown(tx.sql, given),
    isOnItsWay:
      !isReached(tx.sql, alert.id) && !deliveries.some(({ status }) => status === 'delivered'),
    updates: row?.updates ?? updates,
  })
}
