import { bareMessageId, mailAddress } from '../domain/message/email.ts'
import { toHtml } from './html.ts'
import {
  type Message,
  misconfigured,
  type NotifyEnv,
  type Provider,
  type SendOutcome,
  sendTimeoutMs,
} from './provider.ts'

/** Codes after which no later attempt can succeed. */
const REFUSED = [
  'E_VALIDATION_ERROR',
  'E_FIELD_MISSING',
  'E_TOO_MANY_RECIPIENTS',
  'E_RECIPIENT_SUPPRESSED',
  'E_CONTENT_TOO_LARGE',
  'E_DELIVERY_FAILED',
]
/** Codes for a wrong set-up, which the operator can fix: a sender or recipient not allowed yet. */
const MISCONFIGURED = [
  'E_SENDER_NOT_VERIFIED',
  'E_SENDER_DOMAIN_NOT_AVAILABLE',
  'E_RECIPIENT_NOT_ALLOWED',
]
const THROTTLED_MS: Record<string, number> = {
  E_RATE_LIMIT_EXCEEDED: 30_000,
  E_DAILY_LIMIT_EXCEEDED: 3_600_000,
}

const outcomeOf = (error: Error & { code?: unknown }): SendOutcome => {
  const code =
    typeof error.code === 'string' ? error.code : (/\bE_[A-Z_]+\b/.exec(error.message)?.[0] ?? '')
  const reason = code
    ? `cloudflare-${code.slice(2).toLowerCase().replaceAll('_', '-')}`
    : 'provider-failed'
  const afterMs = THROTTLED_MS[code]
  if (afterMs !== undefined) return { kind: 'throttled', reason: 'throttled', afterMs }
  if (REFUSED.includes(code) || code.startsWith('E_HEADER')) return { kind: 'refused', reason }
  return { kind: 'retry', reason, maybeAccepted: !MISCONFIGURED.includes(code) }
}

const TIMEOUT: SendOutcome = { kind: 'retry', reason: 'timeout', maybeAccepted: true }

/** The binding takes the name and the address of a sender separately. */
const parseSender = (from: string) => {
  const [, name, email] = /^(.*?)\s*<([^<>]+)>$/.exec(from.trim()) ?? []
  return name && email ? { name: name.replaceAll('"', ''), email } : (email ?? from)
}

const send = async (env: NotifyEnv, { key, to, subject, text }: Message): Promise<SendOutcome> => {
  const { EMAIL, EMAIL_FROM } = env
  if (!EMAIL) return misconfigured('the binding EMAIL')
  if (!EMAIL_FROM) return misconfigured('EMAIL_FROM')
  // The binding has no idempotency key: this header lets a mailbox recognise a repeat.
  const headers = { 'X-Perigee-Message': key }
  const sent = EMAIL.send({
    from: parseSender(EMAIL_FROM),
    to: mailAddress(to),
    subject,
    text,
    html: toHtml(text),
    headers,
  }).then(
    // Events on the queue name the message by this id (`src/receipts/emailEvents.ts`).
    ({ messageId }): SendOutcome => ({ kind: 'accepted', providerId: bareMessageId(messageId) }),
    outcomeOf,
  )
  return Promise.race([sent, scheduler.wait(sendTimeoutMs(env)).then(() => TIMEOUT)])
}

export const cloudflare: Provider = {
  name: 'cloudflare',
  send,
  givesReceipts: ({ EMAIL_EVENTS }) => EMAIL_EVENTS === 'true',
}
