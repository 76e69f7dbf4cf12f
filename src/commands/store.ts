import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { commands, devices, messages } from '../db/schema.ts'
import { readAll, readFirst, runBatch, statement } from '../db/statement.ts'
import { messageId } from '../domain/message/alert.ts'

export interface CommandRow {
  id: string
  is_received: number
  format: 'Text' | 'Hex' | 'Base64'
  command: string
  sms: number
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'unknown'
  answer: string | null
  creation: number
  /** The state of its SMS, where it is one. */
  sms_status: string | null
  sms_reason: string | null
}

export interface NewCommand {
  id: string
  accountId: string
  deviceKey: number
  format: CommandRow['format']
  command: string
  sms: boolean
  status: CommandRow['status']
  answer: string | null
  creation: number
}

const SMS_NUMBER = messageId('cmd_', 0).slice('msg_'.length)

const ROWS = sql`SELECT ${commands}.*, ${messages.status} AS sms_status,
    ${messages.reason} AS sms_reason
  FROM ${commands} LEFT JOIN ${messages} ON ${commands.sms} = 1
    AND ${messages.accountId} = ${commands.accountId}
    AND ${messages.id} = 'msg_' || substr(${commands.id}, 5) || ${SMS_NUMBER}`

export const findCommand = (
  db: Database,
  accountId: string,
  deviceKey: number,
  id: string,
): Promise<CommandRow | null> =>
  readFirst(
    statement(
      db,
      sql`${ROWS} WHERE ${commands.id} = ${id} AND ${commands.accountId} = ${accountId}
        AND ${commands.deviceKey} = ${deviceKey}`,
    ),
  )

/** Newest first, those before `before`. */
export const listCommands = (
  db: Database,
  deviceKey: number,
  before: [creation: number, id: string],
  limit: number,
): Promise<CommandRow[]> =>
  readAll(
    statement(
      db,
      sql`${ROWS} WHERE ${commands.deviceKey} = ${deviceKey}
        AND (${commands.creation}, ${commands.id}) < (${before[0]}, ${before[1]})
        ORDER BY ${commands.creation} DESC, ${commands.id} DESC LIMIT ${limit}`,
    ),
  )

/** Stores a command before it is sent; false when the same request has stored it before. */
export const insertCommand = async (db: Database, command: NewCommand): Promise<boolean> => {
  const [inserted] = await runBatch(db, [
    statement(
      db,
      db
        .insert(commands)
        .values({ ...command, isReceived: false })
        .onConflictDoNothing(),
    ),
  ])
  return inserted.meta.changes === 1
}

export const setStatus = async (
  db: Database,
  id: string,
  status: CommandRow['status'],
  answer: string | null,
): Promise<void> => {
  await statement(
    db,
    sql`UPDATE ${commands} SET status = ${status}, answer = ${answer} WHERE ${commands.id} = ${id}`,
  ).run()
}

/** The source that a device last reported by. */
export const findSourceOf = async (db: Database, deviceKey: number): Promise<string | null> => {
  const row = await readFirst(
    statement<{ source_id: string | null }>(
      db,
      sql`SELECT ${devices.sourceId} FROM ${devices} WHERE ${devices.key} = ${deviceKey}`,
    ),
  )
  return row?.source_id ?? null
}
