import { iso } from '../domain/time/iso.ts'
import type { AuditRow } from './store.ts'

export const presentEntry = (row: AuditRow) => ({
  id: row.id,
  at: iso(row.at),
  actor: { type: row.actorType, id: row.actorId, name: row.actorName },
  action: row.action,
  resource: { type: row.resourceType, id: row.resourceId },
  changes: row.changes,
  requestId: row.requestId,
  address: row.address,
})

export type OperatedRow = AuditRow & { accountName: string | null }

/** The operator also sees which account it concerns. */
export const presentOperatedEntry = (row: OperatedRow) => ({
  ...presentEntry(row),
  account: row.accountId || null,
  accountName: row.accountName,
})
