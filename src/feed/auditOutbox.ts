import { deleteRows, hasRow, insertRow, query, selectRows } from '../db/objectTable.ts'
import { openCell } from '../db/open.ts'
import { insertEntry, newAuditId } from '../db/queries/audit.ts'
import { runBatch } from '../db/statement.ts'
import { changesBetween, type Writer } from '../domain/admin/audit.ts'
import type { Env } from '../env.ts'
import type { FeedOwner } from './stub.ts'
import { auditEntries } from './tables.ts'

/* Entries of the audit, written in the transaction of what they record, until the cell has them. */

/** Of what the feed does by itself. */
export const FEED: Writer = {
  actor: { type: 'system', id: 'webhooks', name: null },
  requestId: 'webhooks',
  address: null,
}

interface Recorded {
  writer: Writer
  action: string
  webhookId: string
  changes?: object
  now: number
}

export const postAudit = (
  sql: SqlStorage,
  { writer, action, webhookId, changes = {}, now: at }: Recorded,
): void => {
  const resource = { type: 'webhook', id: webhookId }
  const id = newAuditId(at)
  const entry = { id, at, writer, action, resource, changes: changesBetween(null, changes) }
  insertRow(sql, auditEntries, { id, entry })
}

export const hasPendingAudit = (sql: SqlStorage): boolean => hasRow(sql, auditEntries, query`true`)

const PAGE = 50

/** Stores what is pending in the cell. A repeat stores nothing twice. Callers ignore failures. */
export const drainAudit = async (
  sql: SqlStorage,
  env: Env,
  { accountId, cell }: FeedOwner,
): Promise<void> => {
  for (;;) {
    const page = selectRows(sql, auditEntries, query`true LIMIT ${PAGE}`)
    if (page.length === 0) return
    await runBatch(
      openCell(env, cell),
      page.map(({ entry }) => insertEntry(accountId, entry)),
    )
    for (const { id } of page) deleteRows(sql, auditEntries, { id })
  }
}
