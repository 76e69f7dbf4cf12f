import type { Database } from '../db/open.ts'
import type { Addressed } from '../domain/event.ts'

/** An event as its cell has it, with what decides who may hear of it. */
export interface LoggedEvent extends Addressed {
  id: string
  sequence: number
  accountId: string
  time: number
  data: Record<string, unknown>
}

interface Row {
  id: string
  sequence: number
  account_id: string
  type: string
  time: number
  device_id: string | null
  data: string
  groups: string | null
}

/** Groups as they are now; a deleted device stays with those that it was in last. */
const COLUMNS = `e.*, CASE WHEN d.key IS NULL THEN t.groups
  ELSE (SELECT json_group_array(group_id) FROM group_devices WHERE device_key = d.key) END AS groups`
const SOURCE = `events e LEFT JOIN devices d ON d.id = e.device_id AND d.account_id = e.account_id
  LEFT JOIN tombstones t ON t.account_id = e.account_id AND t.id = e.device_id`

const toEvent = (row: Row): LoggedEvent => ({
  id: row.id,
  sequence: row.sequence,
  accountId: row.account_id,
  type: row.type,
  time: row.time,
  deviceId: row.device_id,
  groups: row.groups === null ? [] : (JSON.parse(row.groups) as string[]),
  data: JSON.parse(row.data) as Record<string, unknown>,
})

export interface LogPage {
  events: LoggedEvent[]
  /** The account's last number when the page was read. */
  head: number
}

const PAGE = `SELECT ${COLUMNS} FROM ${SOURCE} WHERE e.account_id = ?1 AND e.sequence > ?2 ORDER BY e.sequence LIMIT ?3`

/** The next events after a number, and where the log ends, as of one moment. */
export const readLog = async ({ $client: db }: Database, accountId: string, after: number, limit: number): Promise<LogPage> => {
  const [rows, heads] = await db.batch([
    db.prepare(PAGE).bind(accountId, after, limit),
    db.prepare('SELECT sequence FROM event_heads WHERE account_id = ?').bind(accountId),
  ])
  return {
    events: ((rows?.results ?? []) as unknown as Row[]).map(toEvent),
    head: (heads?.results[0] as { sequence: number } | undefined)?.sequence ?? 0,
  }
}

/** The events with these numbers, as far as they are still kept. */
export const readSequences = async ({ $client: db }: Database, accountId: string, sequences: number[]): Promise<LoggedEvent[]> => {
  const { results } = await db
    .prepare(
      `SELECT ${COLUMNS} FROM json_each(?2) n CROSS JOIN ${SOURCE.replace('events e', 'events e ON e.account_id = ?1 AND e.sequence = n.value')} ORDER BY e.sequence`,
    )
    .bind(accountId, JSON.stringify(sequences))
    .all<Row>()
  return results.map(toEvent)
}
