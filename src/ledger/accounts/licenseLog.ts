export type LogEntry =
  | 'granted'
  | 'released'
  | 'expired'
  | 'refused'
  | 'total-changed'
  | 'zone-changed'

/** A line of the license log: what happened, and how many licenses were in use after it. */
export interface LogLine {
  sequence: number
  time: number
  deviceId: string | null
  what: LogEntry
  used: number
  total: number
}

export interface LogPage {
  lines: LogLine[]
  /** The sequence of the last line, if there are older ones. */
  next: number | null
}

const MAX_LINES = 100_000
const TRIM_EVERY = 1000

export const appendLogLine = (sql: SqlStorage, line: Omit<LogLine, 'sequence'>): void => {
  const { sequence } = sql
    .exec<{ sequence: number }>(
      `INSERT INTO log (time, device_id, what, used, total) VALUES (?, ?, ?, ?, ?)
       RETURNING sequence`,
      line.time,
      line.deviceId,
      line.what,
      line.used,
      line.total,
    )
    .one()
  if (sequence % TRIM_EVERY === 0)
    sql.exec('DELETE FROM log WHERE sequence <= ?', sequence - MAX_LINES)
}

/** The newest lines before the given sequence, newest first. */
export const readLog = (sql: SqlStorage, before: number | null, limit: number): LogPage => {
  const rows = sql
    .exec<{
      sequence: number
      time: number
      device_id: string | null
      what: string
      used: number
      total: number
    }>(
      'SELECT * FROM log WHERE sequence < ? ORDER BY sequence DESC LIMIT ?',
      before ?? Number.MAX_SAFE_INTEGER,
      limit + 1,
    )
    .toArray()
  const lines = rows.slice(0, limit).map(({ device_id, what, ...line }) => ({
    ...line,
    deviceId: device_id,
    what: what as LogEntry,
  }))
  return { lines, next: rows.length > limit ? (lines.at(-1)?.sequence ?? null) : null }
}
