import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { RowForm } from '../../db/queries/archiveRows.ts'
import * as tables from '../tables.ts'

/* The tables of a ledger that are in an archive of its account. */

interface LedgerPart extends RowForm {
  /** Unique in the table, in the order of the archive. */
  order: SQLiteColumn[]
}

const part = <T extends SQLiteTable>(
  table: T,
  order: SQLiteColumn[],
  omitted: (keyof T['$inferSelect'] & string)[] = [],
): LedgerPart => ({ table, order, omitted })

const { devices, log, messageCounts, raised, presses, ruleCooldowns, drills, alertStates } = tables

export const LEDGER_PARTS = {
  devices: part(devices, [devices.key], ['key', 'identifierKey', 'ends']),
  licenseLog: part(log, [log.sequence]),
  /** Of a device by its id, which is null for counts of the account. */
  messageCounts: part(
    messageCounts,
    [messageCounts.deviceKey, messageCounts.day, messageCounts.channel],
    ['deviceKey'],
  ),
  raisedAlerts: part(raised, [raised.id]),
  alertReports: part(presses, [presses.raiseId, presses.source, presses.digest, presses.at]),
  ruleCooldowns: part(ruleCooldowns, [
    ruleCooldowns.ruleId,
    ruleCooldowns.deviceId,
    ruleCooldowns.zoneId,
    ruleCooldowns.time,
  ]),
  drills: part(drills, [drills.alertId]),
  alertStates: part(alertStates, [alertStates.alertId], ['seq']),
} satisfies Record<string, LedgerPart>
export type LedgerPartName = keyof typeof LEDGER_PARTS
