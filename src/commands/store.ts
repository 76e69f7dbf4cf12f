import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { auditWrite } from '../db/queries/audit.ts'
import { type CommandStatus, commands, devices, messages } from '../db/schema.ts'
import { runBatch } from '../db/statement.ts'
import { changesBetween } from '../domain/admin/audit.ts'
import { messageId } from '../domain/message/alert.ts'

export type NewCommand = Omit<typeof commands.$inferInsert, 'isReceived'>

const SMS_NUMBER = messageId('cmd_', 0).slice('msg_'.length)

const selectCommands = (db: Database) =>
  db
    .select({
      ...getTableColumns(commands),
      /** The state of its SMS, where it is one. */
      smsStatus: messages.status,
      smsReason: messages.reason,
    })
    .from(commands)
    .leftJoin(
      messages,
      and(
        eq(commands.sms, true),
        eq(messages.accountId, commands.accountId),
        sql`${messages.id} = 'msg_' || substr(${commands.id}, 5) || ${SMS_NUMBER}`,
      ),
    )

export type StoredCommand = Awaited<ReturnType<typeof selectCommands>>[number]

export const findCommand = (
  db: Database,
  accountId: string,
  deviceKey: number,
  id: string,
): Promise<StoredCommand | undefined> =>
  selectCommands(db)
    .where(
      and(
        eq(commands.id, id),
        eq(commands.accountId, accountId),
        eq(commands.deviceKey, deviceKey),
      ),
    )
    .get()

/** Newest first, those before `before`. */
export const listCommands = (
  db: Database,
  deviceKey: number,
  before: [creation: number, id: string],
  limit: number,
): Promise<StoredCommand[]> =>
  selectCommands(db)
    .where(
      and(
        eq(commands.deviceKey, deviceKey),
        sql`(${commands.creation}, ${commands.id}) < (${before[0]}, ${before[1]})`,
      ),
    )
    .orderBy(desc(commands.creation), desc(commands.id))
    .limit(limit)

/** Stores a command before it is sent; false when the same request has stored it before. */
export const insertCommand = async (
  db: Database,
  command: NewCommand,
  deviceId: string,
): Promise<boolean> => {
  const { id, accountId, creation: now, format, sms } = command
  const { inserted } = await runBatch(db, {
    inserted: db
      .insert(commands)
      .values({ ...command, isReceived: false })
      .onConflictDoNothing(),
    audited: auditWrite(db, {
      accountId,
      now,
      action: 'command.sent',
      resource: { type: 'device', id: deviceId },
      changes: changesBetween(null, { command: id, format, sms }),
    }),
  })
  return inserted.meta.changes > 0
}

export const setStatus = async (
  db: Database,
  id: string,
  status: CommandStatus,
  answer: string | null,
): Promise<void> => {
  await db.update(commands).set({ status, answer }).where(eq(commands.id, id))
}

export const setChannel = async (
  db: Database,
  {
    accountId,
    device,
    sourceId,
    now,
  }: {
    accountId: string
    device: { key: number; id: string }
    sourceId: string | null
    now: number
  },
): Promise<void> => {
  await runBatch(db, {
    set: db.update(devices).set({ sourceId }).where(eq(devices.key, device.key)),
    audited: auditWrite(db, {
      accountId,
      now,
      action: 'device.commandChannelSet',
      resource: { type: 'device', id: device.id },
      changes: changesBetween(null, { sourceId }),
    }),
  })
}

/** The source that a device last reported by, or that an administrator has chosen. */
export const findSourceOf = async (db: Database, deviceKey: number): Promise<string | null> => {
  const row = await db
    .select({ sourceId: devices.sourceId })
    .from(devices)
    .where(eq(devices.key, deviceKey))
    .get()
  return row?.sourceId ?? null
}
