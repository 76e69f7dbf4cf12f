import { sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { buildAppendRows } from '../../db/queries/events.ts'
import { commands } from '../../db/schema.ts'
import { compile, names, placeholders, runBatch } from '../../db/statement.ts'
import type { MessageItem } from '../../domain/account/source.ts'
import { base32 } from '../../domain/text/base32.ts'
import { iso } from '../../domain/time/iso.ts'
import { isClockWrong } from '../../domain/track/credible.ts'
import type { NamedDevice } from '../../ingest/arrival.ts'

/* Messages written on devices. They stand in one list with the commands to them. */

const ID_LENGTH = 22

/** Of the key alone: a repeat of a message without a time has another one. */
const idOf = async (deviceId: string, { key }: MessageItem): Promise<string> => {
  const bytes = new TextEncoder().encode(`message ${deviceId} ${key}`)
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `cmd_${base32(digest, ID_LENGTH)}`
}

const p = placeholders('accountId', 'messages', 'now')

/** `messages` are `[commandId, eventId, deviceKey, deviceId, format, text, dateTime, data]`. */
interface Messages {
  accountId: string
  messages: string
  now: number
}

/** Those that are not stored yet; the first of several with one id. */
const NEW_MESSAGES = sql`SELECT sent.value ->> 1 AS id, min(sent.key) AS place,
    sent.value ->> 3 AS device_id, sent.value ->> 7 AS data
  FROM json_each(${p.messages}) sent
  WHERE NOT EXISTS (SELECT 1 FROM ${commands} WHERE ${commands.id} = sent.value ->> 0)
  GROUP BY sent.value ->> 0`

const [TAKE_NUMBERS, INSERT_EVENTS] = buildAppendRows({
  accountId: p.accountId,
  type: 'message.received',
  time: p.now,
  rows: NEW_MESSAGES,
})
const takeNumbers = compile<Messages>(TAKE_NUMBERS)
const insertEvents = compile<Messages>(INSERT_EVENTS)

const COMMAND_COLUMNS = names(
  commands.id,
  commands.accountId,
  commands.deviceKey,
  commands.isReceived,
  commands.format,
  commands.command,
  commands.sms,
  commands.status,
  commands.creation,
)

const insertMessages = compile<Messages>(
  sql`INSERT INTO ${commands} (${COMMAND_COLUMNS})
    SELECT sent.value ->> 0, ${p.accountId}, sent.value ->> 2, 1, sent.value ->> 4,
      sent.value ->> 5, 0, 'delivered', sent.value ->> 6
    FROM json_each(${p.messages}) sent WHERE true ON CONFLICT DO NOTHING`,
)

export interface ReceivedMessage {
  item: MessageItem
  device: Pick<NamedDevice, 'id' | 'key'>
  receivedAt: number
}

/** Commands and messages are kept for a year. */
const MAX_AGE_MS = 365 * 86_400_000

/** With a wrong clock a message would be deleted at once, or stay at the top of the list. */
const timeOf = ({ item, receivedAt }: ReceivedMessage): number =>
  isClockWrong(item.dateTime, receivedAt) || item.dateTime < receivedAt - MAX_AGE_MS
    ? receivedAt
    : item.dateTime

const packMessage = async (message: ReceivedMessage): Promise<unknown[]> => {
  const { item, device } = message
  const { text, format } = item
  const id = await idOf(device.id, item)
  const dateTime = timeOf(message)
  const data = { commandId: id, text, format, dateTime: iso(dateTime) }
  const eventId = `evt_${id.slice(4)}`
  return [id, eventId, device.key, device.id, format, text, dateTime, JSON.stringify(data)]
}

/** Stores each message once, with its event. */
export const storeMessages = async (
  db: Database,
  accountId: string,
  messages: ReceivedMessage[],
): Promise<void> => {
  const packed = await Promise.all(messages.map(packMessage))
  const values = { accountId, messages: JSON.stringify(packed), now: Date.now() }
  // The events first: they must see which messages are new.
  await runBatch(db, [
    takeNumbers(db, values),
    insertEvents(db, values),
    insertMessages(db, values),
  ])
}
