import type { LogEntry } from './books.ts'

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
  /** The last line's number where there are older ones. */
  next: number | null
}

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
