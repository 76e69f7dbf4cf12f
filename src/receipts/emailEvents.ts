import { openCell } from '../db/open.ts'
import { bareMessageId } from '../domain/message/email.ts'
import { isObject } from '../domain/text/json.ts'
import { cellNumbers, type Env } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { log, logFailure } from '../log.ts'
import { findSentMessage } from './store.ts'

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

/** An event may overtake the id, which the cell gets after the message was accepted. */
const MAX_LOOKUPS = 5
const LOOKUP_DELAY_SECONDS = 5
const RETRY_DELAY_SECONDS = 30

const findMessage = async (env: Env, providerId: string) => {
  const found = await Promise.all(
    cellNumbers(env).map((cell) => findSentMessage(openCell(env, cell), providerId)),
  )
  return found.find((message) => message != null)
}

const receiveEvent = async (message: Message, env: Env): Promise<void> => {
  const event = readEvent(message.body)
  if (!event) {
    log('warn', { event: 'email-event-malformed', queueMessage: message.id })
    message.ack()
    return
  }
  const { status, providerId } = event
  if (status === null) {
    message.ack()
    return
  }
  const sent = await findMessage(env, providerId)
  if (sent) {
    const { accountId, id: key } = sent
    await ledgerOf(env, accountId).applyReceipt({ ...event, accountId, key, status })
    message.ack()
  } else if (message.attempts < MAX_LOOKUPS) {
    message.retry({ delaySeconds: LOOKUP_DELAY_SECONDS * message.attempts })
  } else {
    // Of another service with the same domain, sent again since, or deleted.
    log('info', { event: 'email-event-unknown', queueMessage: message.id })
    message.ack()
  }
}

/** The consumer of the queue. Each message is acknowledged or retried by itself. */
export const receiveEmailEvents = async (batch: MessageBatch, env: Env): Promise<void> => {
  await Promise.all(
    batch.messages.map((message) =>
      receiveEvent(message, env).catch((error: unknown) => {
        logFailure('email-event-failed', error, { queueMessage: message.id })
        message.retry({ delaySeconds: RETRY_DELAY_SECONDS })
      }),
    ),
  )
}
