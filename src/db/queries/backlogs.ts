import { sql } from 'drizzle-orm'
import type { Database } from '../open.ts'
import { insertSelect } from '../query.ts'
import { backlogs } from '../schema.ts'
import { runBatch, statement, valuesOf } from '../statement.ts'

/** What is behind: an outbox, whose id is empty, or a webhook. */
export interface Backlog {
  id: string
  since: number
}

interface BacklogsOfAccount {
  accountId: string
  kind: 'outbox' | 'webhook'
  behind: Backlog[]
  now: number
}

/** Replaces what an account's object has said about its backlogs of a kind. */
const saveBacklogs = (db: Database, { accountId, kind, behind, now }: BacklogsOfAccount) => {
  const ids = behind.map(({ id }) => id)
  const each = (name: keyof Backlog) => sql`value ->> ${`$.${name}`}`
  return runBatch(db, {
    gone: sql`DELETE FROM ${backlogs} WHERE ${backlogs.accountId} = ${accountId}
      AND ${backlogs.kind} = ${kind} AND ${backlogs.id} NOT IN ${valuesOf(ids)}`,
    behind: insertSelect(
      backlogs,
      { accountId, kind, id: each('id'), since: each('since'), confirmed: now },
      sql`FROM json_each(${JSON.stringify(behind)}) WHERE true
        ON CONFLICT DO UPDATE SET since = excluded.since, confirmed = excluded.confirmed`,
    ),
  })
}

/** An object confirms a backlog this often. */
const CONFIRM_MS = 240_000
/** What was not confirmed for this long is over, or its object does not run. */
const VALID_MS = 900_000

/** Of one object: writes what is behind, now and then, and once more when nothing is. */
export class BacklogReport {
  #reportedAt: number | null = null

  async report(db: Database, given: BacklogsOfAccount): Promise<void> {
    const { behind, now } = given
    const isOver = behind.length === 0
    if (isOver ? this.#reportedAt === null : now - (this.#reportedAt ?? 0) < CONFIRM_MS) return
    this.#reportedAt = isOver ? null : now
    await saveBacklogs(db, given)
  }
}

interface BacklogSummary {
  kind: 'outbox' | 'webhook'
  count: number
  since: number
  /** The account of the oldest. */
  accountId: string
}

/** A bare column beside `min` is of the row that has the minimum. */
export const selectBacklogs = (db: Database, now: number) =>
  statement<BacklogSummary>(
    db,
    sql`SELECT ${backlogs.kind} AS kind, count(*) AS count, min(${backlogs.since}) AS since,
        ${backlogs.accountId} AS accountId
      FROM ${backlogs} WHERE ${backlogs.confirmed} > ${now - VALID_MS} GROUP BY ${backlogs.kind}`,
  )
