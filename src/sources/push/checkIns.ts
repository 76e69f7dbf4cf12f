import { and, eq, isNull, sql } from 'drizzle-orm'
import { commands, watches } from '../../db/schema.ts'
import { valuesOf } from '../../db/statement.ts'
import type { SourceItem } from '../../domain/account/source.ts'
import { type CheckInText, readCheckIn } from '../../domain/watch/checkInText.ts'
import type { ServiceContext } from '../../serviceContext.ts'
import { type Sign, takeSign } from '../../watches/byMessage.ts'
import { idOfMessage, type ReceivedMessage, storeMessages, timeOfMessage } from './messages.ts'
import { itemsOfDevices, type Sender } from './senders.ts'

/* Check-ins among what devices have sent: their texts, and the button or code for “all is well”. */

type Received = ReceivedMessage & { said: CheckInText }

/** Of one kind and device in a push, the newest; of plain check-ins the last one alone. */
const MAX_SIGNS = 3

const readTexts = (senders: Sender[]): Received[] =>
  itemsOfDevices(senders, 'message').flatMap((one) => {
    const said = one.item.format === 'Text' ? readCheckIn(one.item.text) : null
    return said ? [{ ...one, said }] : []
  })

/** The part of an item that is a check-in, without a position; null if none is. */
export const toCheckIn = (item: SourceItem): SourceItem | null => {
  if (item.kind === 'message') return item.format === 'Text' && readCheckIn(item.text) ? item : null
  if (item.kind !== 'location' && item.kind !== 'none') return null
  if (item.okAt === undefined) return null
  if (item.kind === 'none') return item
  const { location, ...contact } = item
  return { ...contact, kind: 'none' }
}

/** The last press of each device, as the message OK; a text that came with it says more. */
const readButtons = (senders: Sender[], texts: Received[]): Received[] => {
  const withText = new Set(texts.map(({ device, item }) => `${device.key} ${item.dateTime}`))
  const pressed = new Map<number, Received>()
  for (const { item: report, device, receivedAt } of [
    ...itemsOfDevices(senders, 'location'),
    ...itemsOfDevices(senders, 'none'),
  ]) {
    const { identifier, key, okAt: dateTime } = report
    if (dateTime === undefined || withText.has(`${device.key} ${dateTime}`)) continue
    const item = { identifier, key: `ok ${key}`, dateTime, text: 'OK' } as const
    const said = { action: 'checkIn', given: 'message' } as const
    const one = {
      item: { kind: 'message', ...item, format: 'Text' },
      device,
      receivedAt,
      said,
    } as const
    const before = pressed.get(device.key)
    if (!before || timeOfMessage(before) < timeOfMessage(one)) pressed.set(device.key, one)
  }
  return [...pressed.values()]
}

/** What can change anything: of a device with a watch that runs, or the start of one. */
const findEffective = async (
  { db, accountId }: ServiceContext,
  received: Received[],
): Promise<(one: Received) => boolean> => {
  const keys = valuesOf([...new Set(received.map(({ device }) => device.key))])
  const found = await db
    .selectDistinct({ key: watches.deviceKey })
    .from(watches)
    .where(
      and(
        sql`${watches.deviceKey} IN ${keys}`,
        sql`+${watches.accountId} = ${accountId}`,
        sql`${watches.state} IN ('active', 'overdue')`,
      ),
    )
  const watched = new Set(found.map(({ key }) => key))
  return ({ device, said: { action } }) =>
    watched.has(device.key) || action === 'promise' || action === 'repeat'
}

/** Those that have had no effect yet, with their stored time, which a repeat has too. */
const findFresh = async ({ db }: ServiceContext, received: Received[]): Promise<Sign[]> => {
  if (received.length === 0) return []
  const signs = await Promise.all(
    received.map(async ({ device, said, item }) => {
      return { device, said, messageId: await idOfMessage(device.id, item) }
    }),
  )
  const ids = valuesOf(signs.map(({ messageId }) => messageId))
  const stored = await db
    .select({ id: commands.id, at: commands.creation })
    .from(commands)
    .where(and(sql`${commands.id} IN ${ids}`, isNull(commands.answer)))
  const times = new Map(stored.map(({ id, at }) => [id, at]))
  return signs.flatMap((sign) => {
    const at = times.get(sign.messageId)
    return at === undefined ? [] : [{ ...sign, at }]
  })
}

/** In the order in which they were said: the newest of each device. */
const newestOf = (signs: Sign[]): Sign[] => {
  const counts = new Map<string, number>()
  return signs
    .sort((a, b) => b.at - a.at)
    .filter(({ device, said }) => {
      const isPlain = said.action === 'checkIn'
      const key = `${device.key} ${said.action} ${isPlain ? said.given : ''}`
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count <= (isPlain ? 1 : MAX_SIGNS)
    })
    .reverse()
}

/**
 * Takes check-ins before the reply: after a failure the provider sends the push again. Its texts
 * must be stored; presses of a button are stored here, where they count, so that each does so once.
 */
export const takeCheckIns = async (context: ServiceContext, senders: Sender[]): Promise<void> => {
  const texts = readTexts(senders)
  const buttons = readButtons(senders, texts)
  if (texts.length + buttons.length === 0) return
  const { db, accountId } = context
  const isEffective = await findEffective(context, [...texts, ...buttons])
  const pressed = buttons.filter(isEffective)
  if (pressed.length > 0) await storeMessages(db, accountId, pressed)
  const fresh = await findFresh(context, [...texts.filter(isEffective), ...pressed])
  for (const sign of newestOf(fresh)) {
    const answer = await takeSign(context, sign)
    if (answer !== null)
      await db.update(commands).set({ answer }).where(eq(commands.id, sign.messageId))
  }
}
