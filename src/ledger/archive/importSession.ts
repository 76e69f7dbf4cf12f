import {
  deleteRows,
  findRow,
  hasRow,
  insertRow,
  query,
  readValue,
  selectRows,
  updateRows,
} from '../../db/objectTable.ts'
import type { Account } from '../../domain/account/account.ts'
import { findFault, type ListedFile, type Manifest } from '../../domain/archive/archive.ts'
import { storeEmergencySettings } from '../../domain/message/emergency.ts'
import { storeMessageOverrides } from '../../domain/message/messageBudget.ts'
import { renewSandbox, storeSandbox } from '../../domain/sandbox/sandbox.ts'
import { localDay } from '../../domain/time/day.ts'
import type { Env } from '../../env.ts'
import { postUsageOfDay } from '../accounts/account.ts'
import { findNextExpiry } from '../accounts/accountRow.ts'
import { beginDecision } from '../decision.ts'
import { continueAfter, isEmpty } from '../outbox/outbox.ts'
import * as tables from '../tables.ts'

/*
 * A ledger that an archive fills. Until the import is finished its account counts as erased, so that
 * nothing reaches it and the erasure of a failed import deletes it.
 */

const { account, devices, imports, importFiles } = tables
const ALL = query`true`

export const isImporting = (sql: SqlStorage): boolean => hasRow(sql, imports, ALL)

/** The account of an archive; `day`, `used` and the like are of the installation. */
export type ImportedAccount = Omit<Account, 'day' | 'used' | 'deletedAt'>

interface Start {
  session: string
  account: ImportedAccount
  /** The account's last event. */
  sequence: number
}

export type ImportRefusal = {
  ok: false
  refusal: 'account-exists' | 'import-not-found' | 'invalid-archive'
  detail?: string
}
export type ImportOutcome = { ok: true } | ImportRefusal

export const startImport = (sql: SqlStorage, start: Start, now: number): ImportOutcome => {
  const isLeft = hasRow(sql, devices, ALL) || !isEmpty(sql) || isImporting(sql)
  if (isLeft || hasRow(sql, account, { erased: false }))
    return { ok: false, refusal: 'account-exists' }
  // What says that the id was in use before.
  deleteRows(sql, account, ALL)
  const { budgets, ...members } = start.account
  insertRow(sql, account, {
    ...members,
    ...budgets,
    messagesPerDay: storeMessageOverrides(budgets.messagesPerDay),
    emergency: storeEmergencySettings(start.account),
    disabled: members.status === 'disabled',
    sandbox: storeSandbox(renewSandbox(members.sandbox ?? null, now)),
    day: localDay(now, members.timeZone),
    used: 0,
    eventsSeen: start.sequence,
    erased: true,
  })
  insertRow(sql, imports, { session: start.session })
  return { ok: true }
}

/** What has arrived so far; null when there is no such import. */
export const findImport = (sql: SqlStorage, session: string) => {
  const row = hasRow(sql, imports, { session })
    ? findRow(sql, account, { erased: true })
    : undefined
  if (!row) return null
  const { id, number, cell, eventsSeen } = row
  return { id, number, cell, sequence: eventsSeen, files: selectRows(sql, importFiles, ALL) }
}
export type FoundImport = NonNullable<ReturnType<typeof findImport>>

export const recordFile = (sql: SqlStorage, file: ListedFile): void =>
  insertRow(sql, importFiles, file, 'ignore')

/** Afterwards no request can finish it. What it stored is erased as that of an erased account. */
export const abandonImport = (sql: SqlStorage, session?: string): boolean => {
  if (hasRow(sql, account, { erased: false })) return false
  if (session !== undefined && !hasRow(sql, imports, { session })) return false
  deleteRows(sql, imports, ALL)
  return true
}

/** Makes the account one that exists, if all files have arrived as the manifest says. */
export const finishImport = (
  sql: SqlStorage,
  env: Env,
  { manifest, lastEffect, now }: { manifest: Manifest; lastEffect: number; now: number },
): ImportOutcome => {
  const fault = findFault(manifest, selectRows(sql, importFiles, ALL))
  if (fault) return { ok: false, refusal: 'invalid-archive', detail: fault }
  const row = findRow(sql, account, { erased: true })
  if (!row) return { ok: false, refusal: 'import-not-found' }
  // The log of an alert has the numbers of effects: later ones must be greater.
  continueAfter(sql, lastEffect)
  const day = localDay(now, row.timeZone)
  const used = readValue<number>(
    sql,
    query`SELECT count(*) FROM ${devices} WHERE ${devices.ends} IS NULL OR ${devices.ends} > ${day}`,
  )
  updateRows(sql, account, { erased: false, day, used })
  for (const table of [imports, importFiles]) deleteRows(sql, table, ALL)
  const tx = beginDecision(sql, env, now)
  if (!tx) return { ok: false, refusal: 'import-not-found' }
  const nextExpiry = findNextExpiry(tx)
  updateRows(sql, account, { nextExpiry })
  tx.post({ kind: 'account', account: tx.account, nextExpiry })
  tx.post({ kind: 'memberships' })
  postUsageOfDay(tx)
  return { ok: true }
}
