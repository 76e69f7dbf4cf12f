/** What happened, before it has its number. */
export interface NewEvent {
  accountId: string
  /** Names the happening, so that telling of it twice enters it once. */
  id: string
  type: string
  time: number
  deviceId: string | null
  data: Record<string, unknown>
}

/** A condition on which an event enters at all: SQL with parameters from ?7 on. */
export interface Guard {
  sql: string
  values: (string | number | null)[]
}

const ALWAYS: Guard = { sql: '1', values: [] }

/**
 * Statements for the batch of the write that the event tells of. The number is taken and the event entered together,
 * or neither where its id is there already or the guard does not hold: no gap, no repeat.
 */
export const appendEvent = (
  db: D1Database,
  event: NewEvent,
  guard: Guard = ALWAYS,
): D1PreparedStatement[] => {
  const { accountId, id, type, time, deviceId, data } = event
  const values = [accountId, id, type, time, deviceId, JSON.stringify(data), ...guard.values]
  const enters = `(${guard.sql}) AND NOT EXISTS (SELECT 1 FROM events WHERE account_id = ?1 AND id = ?2)`
  return [
    db
      .prepare(
        `INSERT INTO event_heads (account_id, sequence) SELECT ?1, 1 WHERE ${enters} AND ?3 IS NOT NULL AND ?4 IS NOT NULL AND ?6 IS NOT NULL AND ifnull(?5, 1) IS NOT NULL
         ON CONFLICT (account_id) DO UPDATE SET sequence = sequence + 1`,
      )
      .bind(...values),
    db
      .prepare(
        `INSERT INTO events (account_id, sequence, id, type, time, device_id, data)
         SELECT ?1, sequence, ?2, ?3, ?4, ?5, ?6 FROM event_heads WHERE account_id = ?1 AND ${enters}`,
      )
      .bind(...values),
  ]
}

/**
 * The same for many at once: an event of one type for each row (`id`, `data`) of a query whose parameters begin at ?4,
 * numbered in the order of their ids.
 */
export const appendEach = (
  db: D1Database,
  accountId: string,
  type: string,
  time: number,
  rows: Guard,
): D1PreparedStatement[] => {
  const fresh = `WITH fresh AS (SELECT * FROM (${rows.sql}) r WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.account_id = ?1 AND e.id = r.id))`
  const values = [accountId, type, time, ...rows.values]
  return [
    db
      .prepare(
        `${fresh} INSERT INTO event_heads (account_id, sequence) SELECT ?1, count(*) FROM fresh WHERE ?2 <> '' AND ?3 > 0 HAVING count(*) > 0
         ON CONFLICT (account_id) DO UPDATE SET sequence = sequence + excluded.sequence`,
      )
      .bind(...values),
    db
      .prepare(
        `${fresh} INSERT INTO events (account_id, sequence, id, type, time, data)
         SELECT ?1, h.sequence - count(*) OVER () + row_number() OVER (ORDER BY f.id), f.id, ?2, ?3, f.data
         FROM fresh f JOIN event_heads h ON h.account_id = ?1`,
      )
      .bind(...values),
  ]
}

/** SQL: someone listens to the account, so that its feed is to be poked. `accountId` and `now` are parameters of the statement. */
export const subscribed = (accountId: `?${number}`, now: `?${number}`): string =>
  `(EXISTS (SELECT 1 FROM webhooks WHERE account_id = ${accountId} AND enabled = 1)
    OR EXISTS (SELECT 1 FROM event_heads WHERE account_id = ${accountId} AND streams_until > ${now}))`

/** SQL: someone asks for `location.reported`. */
export const subscribedToLocations = (accountId: `?${number}`, now: `?${number}`): string =>
  `(EXISTS (SELECT 1 FROM webhooks WHERE account_id = ${accountId} AND enabled = 1 AND wants_locations = 1)
    OR EXISTS (SELECT 1 FROM event_heads WHERE account_id = ${accountId} AND location_streams_until > ${now}))`

export const hasSubscribers = async (
  db: D1Database,
  accountId: string,
  now: number,
): Promise<boolean> =>
  (await db
    .prepare(`SELECT ${subscribed('?1', '?2')} AS heard`)
    .bind(accountId, now)
    .first<number>('heard')) === 1
