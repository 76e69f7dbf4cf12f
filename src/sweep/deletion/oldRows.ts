import { lt, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import {
  commands,
  events,
  idempotency,
  keys,
  messages,
  quarantine,
  sessions,
  sourcePayloads,
  tombstones,
  unclaimed,
  unclaimedReports,
} from '../../db/schema.ts'
import { type CellRun, runPart } from '../run.ts'
import { deletePage, deletePages } from './deletePage.ts'

const DAY_MS = 86_400_000
const PAGE = 1000
const MAX_PAGES = 20

interface Rule {
  table: SQLiteTable
  days: number
  isOlderThan: (time: number) => ReturnType<typeof lt>
}

/** How long rows are kept in every cell. */
const RULES: Rule[] = [
  { table: idempotency, days: 1, isOlderThan: (time) => lt(idempotency.claimedAt, time) },
  { table: keys, days: 30, isOlderThan: (time) => lt(keys.expires, time) },
  { table: events, days: 30, isOlderThan: (time) => lt(events.time, time) },
  {
    table: messages,
    days: 30,
    // Account notices, found by their partial index. Other messages are deleted with their alert.
    isOlderThan: (time) => sql`${messages.deviceKey} = 0 AND ${messages.changed} < ${time}`,
  },
  { table: sessions, days: 0, isOlderThan: (time) => lt(sessions.expires, time) },
  { table: unclaimed, days: 30, isOlderThan: (time) => lt(unclaimed.lastReceived, time) },
  {
    table: unclaimedReports,
    days: 30,
    isOlderThan: (time) => lt(unclaimedReports.receivedAt, time),
  },
  { table: quarantine, days: 30, isOlderThan: (time) => lt(quarantine.receivedAt, time) },
  { table: sourcePayloads, days: 7, isOlderThan: (time) => lt(sourcePayloads.receivedAt, time) },
  { table: commands, days: 365, isOlderThan: (time) => lt(commands.creation, time) },
  { table: tombstones, days: 30, isOlderThan: (time) => lt(tombstones.creation, time) },
]

export const MAX_OLD_ROW_QUERIES = RULES.length * MAX_PAGES

export const deleteOldRows = async ({ cell, db, now, take }: CellRun): Promise<void> => {
  for (const { table, days, isOlderThan } of RULES) {
    const where = isOlderThan(now - days * DAY_MS)
    let pages = 0
    await runPart('old-rows', { cell }, () =>
      deletePages({
        take: () => pages++ < MAX_PAGES && take(),
        deleteNext: async () => (await deletePage(db, table, where, PAGE)) === PAGE,
      }),
    )
  }
}
