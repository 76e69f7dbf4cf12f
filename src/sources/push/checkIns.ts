import { and, eq, isNull, sql } from 'drizzle-orm'
import { commands, watches } from '../../db/schema.ts'
import { valuesOf } from '../../db/statement.ts'
import { isClockWrong } from '../../domain/track/credible.ts'
import { readCheckIn } from '../../domain/watch/checkInText.ts'
import type { ServiceContext } from '../../serviceContext.ts'
import { type Sign, takeSign } from '../../watches/byMessage.ts'
import { idOfMessage } from './messages.ts'
import { itemsOfDevices, type Sender } from './senders.ts'

/* Check-ins among what devices have sent: their texts, and the button or code for “all is well”. */

/** What is older says nothing about now: it waited to be claimed, or is replayed. */
const MAX_AGE_MS = 86_400_000
/** A clock may be ahead by this; a repeat of the push has the same time then. */
const MAX_AHEAD_MS = 600_000
/** Of one kind and device in a push, the newest; of plain check-ins the last one alone. */
const MAX_SIGNS = 3

const readTexts = (senders: Sender[]): Promise<(Sign & { messageId: string })[]> =>
  Promise.all(
    itemsOfDevices(senders, 'message').flatMap(({ item, device }) => {
      const said = item.format === 'Text' ? readCheckIn(item.text) : null
      if (!said) return []
      const toSign = async () => {
        const messageId = await idOfMessage(device.id, item)
        return { device, said, at: item.dateTime, messageId }
      }
      return [toSign()]
    }),
  )

/** Those without a text: one that came with the button says more. */
const readButtons = (senders: Sender[], texts: Sign[]): Sign[] => {
  const hasText = new Set(texts.map(({ device, at }) => `${device.key} ${at}`))
  return [...itemsOfDevices(senders, 'location'), ...itemsOfDevices(senders, 'none')].flatMap(
    ({ item: { okAt }, device, receivedAt }) => {
      if (okAt === undefined || hasText.has(`${device.key} ${okAt}`)) return []
      const at = isClockWrong(okAt, receivedAt) ? receivedAt : okAt
      return [{ device, at, said: { action: 'checkIn', given: 'message' }, messageId: null }]
    },
  )
}

/** What can change anything: of a device with a watch that runs, or the start of one. */
const findEffective = async (
  { db, accountId }: ServiceContext,
  signs: Sign[],
): Promise<(sign: Sign) => boolean> => {
  const keys = valuesOf([...new Set(signs.map(({ device }) => device.key))])
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

/** Texts that have had no effect yet, with their stored time, which a repeat has too. */
const findFresh = async (
  { db }: ServiceContext,
  texts: (Sign & { messageId: string })[],
): Promise<Sign[]> => {
  if (texts.length === 0) return []
  const ids = valuesOf(texts.map(({ messageId }) => messageId))
  const stored = await db
    .select({ id: commands.id, at: commands.creation })
    .from(commands)
    .where(and(sql`${commands.id} IN ${ids}`, isNull(commands.answer)))
  const times = new Map(stored.map(({ id, at }) => [id, at]))
  return texts.flatMap((text) => {
    const at = times.get(text.messageId)
    return at === undefined ? [] : [{ ...text, at }]
  })
}

/** In the order in which they were said: the newest of each device. */
const newestOf = (signs: Sign[], now: number): Sign[] => {
  const counts = new Map<string, number>()
  return signs
    .flatMap((sign) => {
      if (sign.at < now - MAX_AGE_MS) return []
      return [sign.at > now + MAX_AHEAD_MS ? { ...sign, at: now } : sign]
    })
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
 * Takes check-ins before the reply: after a failure the provider sends the push again. The messages
 * must be stored.
 */
export const takeCheckIns = async (
  context: ServiceContext,
  senders: Sender[],
  now: number,
): Promise<void> => {
  const texts = await readTexts(senders)
  const buttons = readButtons(senders, texts)
  if (texts.length + buttons.length === 0) return
  const isEffective = await findEffective(context, [...texts, ...buttons])
  const fresh = await findFresh(context, texts.filter(isEffective))
  const { db } = context
  for (const sign of newestOf([...fresh, ...buttons.filter(isEffective)], now)) {
    const answer = await takeSign(context, sign)
    if (answer !== null && sign.messageId !== null)
      await db.update(commands).set({ answer }).where(eq(commands.id, sign.messageId))
  }
}
