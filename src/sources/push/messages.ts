import { sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { buildAppendRows } from '../../db/queries/events.ts'
import { insertSelect } from '../../db/query.ts'
import { commands } from '../../db/schema.ts'
import { runBatch } from '../../db/statement.ts'
import type { MessageItem } from '../../domain/account/source.ts'
import { base32 } from '../../domain/text/base32.ts'
import { sha256 } from '../../domain/text/sha256.ts'
import { iso } from '../../domain/time/iso.ts'
import { isClockWrong } from '../../domain/track/credible.ts'
import type { NamedDevice } from '../../ingest/arrival.ts'
import type { ArrivedItem } from './senders.ts'

/* Messages written on devices. They stand in one list with the commands to them. */

const ID_LENGTH = 22

/** Of the key alone: a repeat of a message without a time has another one. */
export const idOfMessage = async (deviceId: string, { key }: MessageItem): Promise<string> =>
  `cmd_${base32(await sha256(`message ${deviceId} ${key}`), ID_LENGTH)}`

/** Those that are not stored yet; the first of several with one id. */
const selectNew = (messages: string) => sql`SELECT sent.value ->> 1 AS id, min(sent.key) AS place,
    sent.value ->> 3 AS device_id, sent.value ->> 7 AS data
  FROM json_each(${messages}) sent
  WHERE NOT EXISTS (SELECT 1 FROM ${commands} WHERE ${commands.id} = sent.value ->> 0)
  GROUP BY sent.value ->> 0`

export type ReceivedMessage = ArrivedItem<MessageItem> & { device: Pick<NamedDevice, 'id' | 'key'> }

/** Commands and messages are kept for a year. */
const MAX_AGE_MS = 365 * 86_400_000
const MAX_AHEAD_MS = 600_000

/**
 * With a wrong clock a message would be deleted at once, stay at the top of the list, or be a
 * check-in of the future.
 */
export const timeOfMessage = ({ item: { dateTime }, receivedAt }: ReceivedMessage): number => {
  const isPlausible = dateTime >= receivedAt - MAX_AGE_MS && dateTime <= receivedAt + MAX_AHEAD_MS
  return isPlausible && !isClockWrong(dateTime, receivedAt)
    ? Math.min(dateTime, receivedAt)
    : receivedAt
}

/** `[commandId, eventId, deviceKey, deviceId, format, text, dateTime, data]`. */
const packMessage = async (message: ReceivedMessage): Promise<unknown[]> => {
  const { item, device } = message
  const { text, format } = item
  const id = await idOfMessage(device.id, item)
  const dateTime = timeOfMessage(message)
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
  const sent = JSON.stringify(await Promise.all(messages.map(packMessage)))
  const rows = selectNew(sent)
  const time = Date.now()
  const insertMessages = insertSelect(
    commands,
    {
      id: sql`sent.value ->> 0`,
      accountId,
      deviceKey: sql`sent.value ->> 2`,
      isReceived: true,
      format: sql`sent.value ->> 4`,
      command: sql`sent.value ->> 5`,
      sms: false,
      status: 'delivered',
      creation: sql`sent.value ->> 6`,
    },
    sql`FROM json_each(${sent}) sent WHERE true ON CONFLICT DO NOTHING`,
  )
  // The events first: they must see which messages are new.
  const events = buildAppendRows({ accountId, type: 'message.received', time, rows })
  await runBatch(db, [...events, insertMessages])
}
