import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { ACCOUNT_TABLES, deletePage } from '../../db/accountTables.ts'
import { isHere } from '../../db/movedCell.ts'
import {
  audit,
  backlogs,
  commands,
  events,
  idempotency,
  keyNetworks,
  keys,
  messages,
  oauthRecords,
  quarantine,
  sessions,
  signInAttempts,
  sourcePayloads,
  tombstones,
  unclaimed,
  unclaimedReports,
} from '../../db/schema.ts'
import { AUDIT_DAYS } from '../../domain/admin/audit.ts'
import { base32Time } from '../../domain/text/base32.ts'
import { type CellRun, runPart } from '../run.ts'
import { deletePages } from './deletePage.ts'

const DAY_MS = 86_400_000
const PAGE = 1000
/** A command's SMS shows its status, so both are kept for as long. */
const COMMAND_DAYS = 365
const MAX_PAGES = 20

interface Rule {
  time: SQLiteColumn
  days: number
  /** Which rows are old, if the column is no time. */
  isOld?: (until: number) => SQL
  /** Which rows; all without it. */
  only?: SQL
}

/** How long rows are kept in every cell. */
const RULES: Rule[] = [
  { time: idempotency.claimedAt, days: 1 },
  // Before the keys themselves.
  {
    time: keyNetworks.keyId,
    days: 30,
    isOld: (until) =>
      sql`${keyNetworks.keyId} IN (SELECT ${keys.id} FROM ${keys} WHERE ${keys.expires} < ${until})`,
  },
  { time: keys.expires, days: 30 },
  { time: events.time, days: 30 },
  // Notices and SMS of commands have partial indexes. Other messages are deleted with their alert.
  { time: messages.changed, days: 30, only: sql`${messages.deviceKey} = 0` },
  { time: messages.changed, days: COMMAND_DAYS, only: sql`${messages.kind} = 'command'` },
  { time: sessions.expires, days: 0 },
  { time: oauthRecords.expires, days: 0 },
  { time: signInAttempts.at, days: 1 },
  { time: unclaimed.lastReceived, days: 30 },
  { time: unclaimedReports.receivedAt, days: 30 },
  { time: quarantine.receivedAt, days: 30 },
  { time: sourcePayloads.receivedAt, days: 7 },
  { time: commands.creation, days: COMMAND_DAYS },
  { time: tombstones.creation, days: 30 },
  { time: backlogs.confirmed, days: 1 },
  {
    time: audit.id,
    days: AUDIT_DAYS,
    isOld: (until) => sql`${audit.id} < ${`aud_${base32Time(until)}`}`,
  },
]

export const MAX_OLD_ROW_QUERIES = RULES.length * MAX_PAGES

export const deleteOldRows = async ({ cell, db, now, take }: CellRun): Promise<void> => {
  for (const { time, days, only = sql`true`, ...rule } of RULES) {
    const until = now - days * DAY_MS
    const owned = ACCOUNT_TABLES.find((table) => table === time.table)
    // Passes over accounts that move: the old cell refuses writes, and the new one has a copy.
    const isOwn = owned ? isHere(owned.accountId) : sql`true`
    const isOld = sql`${only} AND ${rule.isOld?.(until) ?? sql`${time} < ${until}`} AND ${isOwn}`
    let pages = 0
    await runPart('old-rows', { cell }, () =>
      deletePages({
        take: () => pages++ < MAX_PAGES && take(),
        deleteNext: () => deletePage(db, time.table, isOld, PAGE),
      }),
    )
  }
}
