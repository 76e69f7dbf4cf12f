import { deleteRows, query, readValue, selectRows } from '../../db/objectTable.ts'
import { log } from '../tables.ts'

/** A line of the license log: what happened, and how many licenses were in use after it. */
export type LogLine = typeof log.$inferSelect
export type LogEntry = LogLine['what']

export interface LogPage {
  lines: LogLine[]
  /** The sequence of the last line, if there are older ones. */
  next: number | null
}

const MAX_LINES = 100_000
const TRIM_EVERY = 1000

export const appendLogLine = (sql: SqlStorage, line: Omit<LogLine, 'sequence'>): void => {
  const { time, deviceId, what, used, total } = line
  const sequence = readValue<number>(
    sql,
    query`INSERT INTO ${log} (${log.time}, ${log.deviceId}, ${log.what}, ${log.used}, ${log.total})
      VALUES (${time}, ${deviceId}, ${what}, ${used}, ${total}) RETURNING ${log.sequence}`,
  )
  if (sequence % TRIM_EVERY === 0)
    deleteRows(sql, log, query`${log.sequence} <= ${sequence - MAX_LINES}`)
}

/** The newest lines before the given sequence, newest first. */
export const readLog = (sql: SqlStorage, before: number | null, limit: number): LogPage => {
  const isBefore = query`${log.sequence} < ${before ?? Number.MAX_SAFE_INTEGER}
    ORDER BY ${log.sequence} DESC LIMIT ${limit + 1}`
  const rows = selectRows(sql, log, isBefore)
  const lines = rows.slice(0, limit)
  return { lines, next: rows.length > limit ? (lines.at(-1)?.sequence ?? null) : null }
}
