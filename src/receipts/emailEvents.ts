import { openCell } from '../db/open.ts'
import { bareMessageId } from '../domain/message/email.ts'
import { isObject } from '../domain/text/json.ts'
import { cellNumbers, type Env } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { log, logFailure } from '../log.ts'
import { findSentMessages } from './store.ts'

/*
 * What became of e-mails that Cloudflare sent: events of Email Sending, which a subscription puts on
 * a queue. https://developers.cloudflare.com/email-service/platform/event-subscriptions/
 */

const PREFIX = 'cf.email.sending.message.'

/** `deferred` is not the end: Cloudflare tries again, and reports that too. */
const STATUS: Record<string, 'delivered' | 'failed' | null> = {
  delivered: 'delivered',
  deferred: null,
  bounced: 'failed',
  failed: 'failed',
  rejected: 'failed',
  complained: 'failed',
}

/** Null if it is no event of an e-mail. It has neither our account nor our key. */
const readEvent = (body: unknown) => {
  if (!isObject(body) || !isObject(body.payload) || typeof body.type !== 'string') return null
  const { eventId, messageId } = body.payload
  const what = body.type.startsWith(PREFIX) ? body.type.slice(PREFIX.length) : ''
  const status = Object.hasOwn(STATUS, what) ? STATUS[what] : undefined
  if (status === undefined || typeof messageId !== 'string' || typeof eventId !== 'string')
    return null
  const reason = status === 'failed' ? `cloudflare-${what}` : null
  return { providerId: bareMessageId(messageId), status, reason, mark: eventId }
}

type EmailEvent = NonNullable<ReturnType<typeof readEvent>> & { status: 'delivered' | 'failed' }

/**
 * An event may overtake the id, which the cell gets after the message was accepted: at once, or
 * after the end of an outage.
 */
const MAX_AGE_MS = 15 * 60_000
const LOOKUP_DELAY_SECONDS = 5
const RETRY_DELAY_SECONDS = 30

/** The messages of all events, by the provider's id: one query for each cell. */
const findMessages = async (env: Env, events: EmailEvent[]) => {
  const ids = [...new Set(events.map(({ providerId }) => providerId))]
  const cells = ids.length === 0 ? [] : cellNumbers(env)
  const found = await Promise.all(cells.map((cell) => findSentMessages(openCell(env, cell), ids)))
  return new Map(found.flat().map((message) => [message.providerId, message]))
}
type SentMessages = Awaited<ReturnType<typeof findMessages>>

const receiveEvent = async (
  { message, event }: { message: Message; event: EmailEvent },
  env: Env,
  found: SentMessages,
): Promise<void> => {
  const sent = found.get(event.providerId)
  if (sent) {
    const { accountId, id: key } = sent
    await ledgerOf(env, accountId).applyReceipt({ ...event, accountId, key })
    message.ack()
  } else if (Date.now() - message.timestamp.getTime() < MAX_AGE_MS) {
    message.retry({ delaySeconds: LOOKUP_DELAY_SECONDS * message.attempts })
  } else {
    // Of another service with the same domain, sent again since, or deleted.
    log('info', { event: 'email-event-unknown', queueMessage: message.id })
    message.ack()
  }
}

/** The consumer of the queue. Each message is acknowledged or retried by itself. */
export const receiveEmailEvents = async (batch: MessageBatch, env: Env): Promise<void> => {
  const received = batch.messages.flatMap((message) => {
    const event = readEvent(message.body)
    const status = event?.status ?? null
    if (event && status !== null) return [{ message, event: { ...event, status } }]
    if (!event) log('warn', { event: 'email-event-malformed', queueMessage: message.id })
    message.ack()
    return []
  })
  const found = findMessages(
    env,
    received.map(({ event }) => event),
  )
  await Promise.all(
    received.map(async (one) => {
      try {
        await receiveEvent(one, env, await found)
      } catch (error) {
        logFailure('email-event-failed', error, { queueMessage: one.message.id })
        one.message.retry({ delaySeconds: RETRY_DELAY_SECONDS })
      }
    }),
  )
}
