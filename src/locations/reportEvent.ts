/*
 * `location.reported`, in the batch of the report and right after its insert, whose `changes()` it is told from. One event a report:
 * the log keeps the newest time and the count, the location is joined when the event is read.
 */

/** ?1 account. */
const NUMBER = `INSERT INTO event_heads (account_id, sequence)
  SELECT ?1, 1 WHERE changes() > 0 ON CONFLICT (account_id) DO UPDATE SET sequence = sequence + 1`

/** ?2 now, ?3 event, ?4 device, ?5 the report: what of it was new is what has been received just now. */
const EVENT = `INSERT INTO events (account_id, sequence, id, type, time, device_id, data)
  SELECT ?1, h.sequence, ?3, 'location.reported', ?2, ?4, (
    SELECT json_object('time', max(l.time), 'count', count(DISTINCT l.time)) FROM devices d CROSS JOIN json_each(?5) sent
      CROSS JOIN locations l ON l.device_key = d.key AND l.time = sent.value ->> 0 AND l.received_at = ?2 WHERE d.id = ?4)
  FROM event_heads h WHERE h.account_id = ?1 AND changes() > 0`

export interface Report {
  accountId: string
  deviceId: string
  eventId: string
  packed: string
}

export const appendReportEvent = (
  db: D1Database,
  { accountId, deviceId, eventId, packed }: Report,
  now: number,
): D1PreparedStatement[] => [
  db.prepare(NUMBER).bind(accountId),
  db.prepare(EVENT).bind(accountId, now, eventId, deviceId, packed),
]
