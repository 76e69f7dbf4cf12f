import { LOCATION_COLUMNS, readLastLocation } from '../db/locations.ts'
import type { Database } from '../db/open.ts'
import type { Addressed } from '../domain/event.ts'
import type { StoredLocation } from '../domain/location.ts'

/** An event as its cell has it, with what decides who may hear of it. */
export interface LoggedEvent extends Addressed {
  id: string
  sequence: number
  accountId: string
  time: number
  data: Record<string, unknown>
  /** The newest location of a report, where it still stands: the log keeps only its time. */
  location: StoredLocation | null
  /** How much of it there is to tell, in characters. */
  size: number
}

interface Row {
  id: string
  sequence: number
  account_id: string
  type: string
  time: number
  device_id: string | null
  data: string
  device_key: number | null
  groups: string | null
  location: string | null
  bytes: number
}

/** Groups as they are now; a deleted device stays with those that it was in last. */
const COLUMNS = `e.*, d.key AS device_key, CASE WHEN d.key IS NULL THEN t.groups
    ELSE (SELECT json_group_array(group_id) FROM group_devices WHERE device_key = d.key) END AS groups,
  CASE WHEN e.type = 'location.reported' THEN
    (SELECT json_array(${LOCATION_COLUMNS}) FROM locations l WHERE l.device_key = d.key AND l.time = e.data ->> 'time') END AS location`
const DEVICE = `LEFT JOIN devices d ON d.id = e.device_id AND d.account_id = e.account_id
  LEFT JOIN tombstones t ON t.account_id = e.account_id AND t.id = e.device_id`

/** What a device said in an alert goes with it, though the log still tells that it raised one. */
const GONE = { text: null, latitude: null, longitude: null }

const dataOf = ({ type, data, device_key }: Row): Record<string, unknown> => ({
  ...(JSON.parse(data) as Record<string, unknown>),
  ...(type === 'alert.raised' && device_key === null && GONE),
})

const toEvent = (row: Row): LoggedEvent => ({
  id: row.id,
  sequence: row.sequence,
  accountId: row.account_id,
  type: row.type,
  time: row.time,
  deviceId: row.device_id,
  groups: row.groups === null ? [] : (JSON.parse(row.groups) as string[]),
  data: dataOf(row),
  location: readLastLocation(row.location),
  size: row.data.length + (row.location?.length ?? 0),
})

export interface LogPage {
  events: LoggedEvent[]
  /** Whether there may be more after the last of these. */
  more: boolean
  /** The account's last number when the page was read. */
  head: number
}

/** However much the locations carry, a page of events fits into memory. */
const MAX_BYTES = 2_000_000

const PAGE = `SELECT * FROM (
    SELECT *, sum(ifnull(length(location), 0)) OVER (ORDER BY sequence ROWS UNBOUNDED PRECEDING) AS bytes FROM (
      SELECT ${COLUMNS} FROM events e ${DEVICE} WHERE e.account_id = ?1 AND e.sequence > ?2 ORDER BY e.sequence LIMIT ?3))
  WHERE bytes - ifnull(length(location), 0) < ${MAX_BYTES} ORDER BY sequence`

/** The next events after a number, and where the log ends, as of one moment. */
export const readLog = async (
  { $client: db }: Database,
  accountId: string,
  after: number,
  limit: number,
): Promise<LogPage> => {
  const [found, heads] = await db.batch([
    db.prepare(PAGE).bind(accountId, after, limit),
    db.prepare('SELECT sequence FROM event_heads WHERE account_id = ?').bind(accountId),
  ])
  const rows = (found?.results ?? []) as unknown as Row[]
  return {
    events: rows.map(toEvent),
    more: rows.length === limit || (rows.at(-1)?.bytes ?? 0) >= MAX_BYTES,
    head: (heads?.results[0] as { sequence: number } | undefined)?.sequence ?? 0,
  }
}

const CHOSEN = `SELECT ${COLUMNS} FROM json_each(?2) n CROSS JOIN events e ON e.account_id = ?1 AND e.sequence = n.value ${DEVICE}
  ORDER BY e.sequence`

/** The events with these numbers, as far as they are still kept. */
export const readSequences = async (
  { $client: db }: Database,
  accountId: string,
  sequences: number[],
): Promise<LoggedEvent[]> => {
  const { results } = await db.prepare(CHOSEN).bind(accountId, JSON.stringify(sequences)).all<Row>()
  return results.map(toEvent)
}
