import { sql } from 'drizzle-orm'
import { appendEvent } from '../db/events.ts'
import type { Database } from '../db/open.ts'
import { commands } from '../db/schema.ts'
import { runBatch, statement } from '../db/statement.ts'
import { base32, base32Time } from '../domain/base32.ts'
import type { MessageItem, SourceItem } from '../domain/source.ts'
import type { NamedDevice } from '../locations/mixedStatements.ts'

/* Messages written on devices. They stand in one list with the commands to them. */

const idOf = async ({ id }: NamedDevice, { key, dateTime }: MessageItem): Promise<string> => {
  const bytes = new TextEncoder().encode(`message ${id} ${key}`)
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `cmd_${base32Time(dateTime)}${base32(digest, 13)}`
}

const storeMessage = async (
  db: Database,
  accountId: string,
  device: NamedDevice,
  item: MessageItem,
): Promise<void> => {
  const id = await idOf(device, item)
  const { dateTime, text, format } = item
  const values = {
    id,
    accountId,
    deviceKey: device.key,
    isReceived: true,
    format,
    command: text,
    sms: false,
    status: 'delivered',
    answer: null,
    creation: dateTime,
  }
  const event = {
    accountId,
    id: `evt_${id.slice(4)}`,
    type: 'message.received',
    time: Date.now(),
    deviceId: device.id,
    data: { commandId: id, text, format, dateTime: new Date(dateTime).toISOString() },
  }
  const isNew = sql`NOT EXISTS (SELECT 1 FROM ${commands} WHERE ${commands.id} = ${id})`
  await runBatch(db, [
    // The event first: its guard must see that the message is new.
    ...appendEvent(db, event, isNew),
    statement(db, db.insert(commands).values(values).onConflictDoNothing()),
  ])
}

interface Sender {
  items: SourceItem[]
  device: NamedDevice | null
}

/** Stores each message once, with its event. */
export const storeMessages = async (
  db: Database,
  accountId: string,
  senders: Sender[],
): Promise<void> => {
  for (const { items, device } of senders)
    for (const item of items)
      if (item.kind === 'message' && device) await storeMessage(db, accountId, device, item)
}
