import {
  deleteRows,
  findRow,
  insertRow,
  query,
  selectRows,
  updateRows,
} from '../../db/objectTable.ts'
import { changesBetween } from '../../domain/admin/audit.ts'
import { CHANNELS } from '../../domain/message/alert.ts'
import { GIVE_UP_AFTER_MS } from '../../domain/message/messageRetry.ts'
import type { Decision } from '../decision.ts'
import { failMessage } from '../messages/messageState.ts'
import { migrateTables } from '../migrations.ts'
import * as tables from '../tables.ts'
import { type AccountOutcome, type AccountRefusal, acceptAccount } from './account.ts'
import { saveAccount } from './accountRow.ts'

/* Deleting an account, bringing it back, moving it to another cell, and erasing it. */

const TABLES_OF_PENDING_WORK = [
  tables.outbox,
  tables.messages,
  tables.receipts,
  tables.raised,
  tables.presses,
  tables.cancellations,
  tables.notices,
  tables.emergencies,
  tables.alertStates,
  tables.notes,
  tables.deletedDevices,
]

/** Makes the account unreachable, and keeps it for as long as it can be brought back. */
export const deleteAccount = (
  tx: Decision,
  versions: number[] | null,
): { ok: true } | AccountRefusal => {
  const { account, now } = tx
  if (versions && !versions.includes(account.version))
    return { ok: false, refusal: 'precondition-failed' }
  if (account.deletedAt !== null) return { ok: true }
  Object.assign(account, { deletedAt: now, version: account.version + 1 })
  saveAccount(tx)
  tx.audit('account.deleted', { type: 'account', id: account.id })
  return { ok: true }
}

/** What waited for longer than any message does is not sent: it would alarm people of the past. */
const giveUpOld = (tx: Decision): void => {
  const { sql, now } = tx
  const { messages, emergencies } = tables
  const until = now - GIVE_UP_AFTER_MS
  const { checkAt, nextRound, againAt } = emergencies
  const lastDue = query`max(ifnull(${checkAt}, 0), ifnull(${nextRound}, 0), ifnull(${againAt}, 0))`
  // Before messages fail, which would have their emergencies checked again.
  const past = selectRows(sql, emergencies, query`${lastDue} <= ${until}`)
  for (const channel of CHANNELS) {
    const isQueued = query`${messages.channel} = ${channel} AND ${messages.nextTry} IS NOT NULL`
    for (const message of selectRows(sql, messages, isQueued))
      if (message.accepted <= until)
        failMessage(tx, message, { ...message, reason: 'account-deleted' })
  }
  const settled = { checkAt: null, nextRound: null, againAt: null }
  for (const { id } of past) updateRows(sql, emergencies, settled, { id })
}

export type UndeleteOutcome = AccountOutcome | { ok: false; refusal: 'account-not-deleted' }

export const undeleteAccount = (tx: Decision): UndeleteOutcome => {
  const { account } = tx
  if (account.deletedAt === null) return { ok: false, refusal: 'account-not-deleted' }
  Object.assign(account, { deletedAt: null, version: account.version + 1 })
  giveUpOld(tx)
  saveAccount(tx)
  tx.audit('account.undeleted', { type: 'account', id: account.id })
  return acceptAccount(tx)
}

/** Follows the account to another cell: all effects go there from now on. */
export const moveAccount = (tx: Decision, to: number): void => {
  const { sql, account } = tx
  const { id, cell: from } = account
  if (from === to) return
  account.cell = to
  updateRows(sql, tables.account, { cell: to })
  tx.audit('account.moved', { type: 'account', id }, changesBetween({ cell: from }, { cell: to }))
  tx.post({ kind: 'directory-moved', from, to })
}

/** Ends the account for good. The sweep erases its rows later, in pages. */
export const eraseAccount = (
  tx: Decision,
  versions: number[] | null,
): { ok: true } | AccountRefusal => {
  const { sql, account, now } = tx
  if (versions && !versions.includes(account.version))
    return { ok: false, refusal: 'precondition-failed' }
  updateRows(sql, tables.account, { erased: true })
  for (const table of TABLES_OF_PENDING_WORK) deleteRows(sql, table, query`true`)
  tx.audit('account.erased', { type: 'account', id: account.id })
  tx.post({ kind: 'account-gone', at: now })
  tx.post({ kind: 'directory-gone', cell: account.cell })
  return { ok: true }
}

export const eraseIfDeleted = (tx: Decision, until: number): { ok: true } | AccountRefusal => {
  const { deletedAt } = tx.account
  return deletedAt !== null && deletedAt <= until ? eraseAccount(tx, null) : { ok: true }
}

/** Keeps only the id of an erased account, which tells a restored database from a lost ledger. */
const markErased = (sql: SqlStorage, id: string): void => {
  const texts = { userName: '', name: '', timeZone: 'UTC', day: '1970-01-01' }
  const counts = { number: 0, cell: 0, total: 0, used: 0, creation: 0, lastModified: 0, version: 0 }
  const state = { status: 'disabled', disabled: true, erased: true } as const
  insertRow(sql, tables.account, { id, ...texts, ...counts, ...state })
}

export const eraseStorage = async (storage: DurableObjectStorage): Promise<void> => {
  const { sql } = storage
  const id = findRow(sql, tables.account, query`true`)?.id
  await storage.deleteAlarm()
  await storage.deleteAll()
  migrateTables(storage)
  if (id) markErased(sql, id)
}
