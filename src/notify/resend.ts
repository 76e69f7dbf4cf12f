import { mailAddress } from '../domain/email.ts'
import { isObject } from '../domain/json.ts'
import { exchange, failureOf, isAnswer, reasonOf } from './exchange.ts'
import { asHtml } from './html.ts'
import {
  type Message,
  misconfigured,
  type NotifyEnv,
  type Provider,
  type Receipt,
  type ReceiptRequest,
  sendTimeout,
} from './provider.ts'
import { hmac, sameBytes } from './signature.ts'

/** What is wrong with our set-up, though it comes as a fault of the request. */
const OURS = [
  'invalid_from_address',
  'invalid_access',
  'invalid_api_key',
  'restricted_api_key',
  'missing_api_key',
]

const send = async (env: NotifyEnv, { key, accountId, to, subject, text }: Message) => {
  const { RESEND_API_KEY, EMAIL_FROM, RESEND_URL = 'https://api.resend.com' } = env
  if (!RESEND_API_KEY) return misconfigured('RESEND_API_KEY')
  if (!EMAIL_FROM) return misconfigured('EMAIL_FROM')
  const answer = await exchange(
    `${RESEND_URL}/emails`,
    {
      method: 'POST',
      // Resend turns away requests that do not say who they are from.
      headers: {
        Authorization: `Bearer ${RESEND_API_KEY}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': key,
        'User-Agent': 'perigee/1.0',
      },
      body: JSON.stringify({
        from: EMAIL_FROM,
        to: [mailAddress(to)],
        subject,
        text,
        html: asHtml(text),
        tags: [
          { name: 'account', value: accountId },
          { name: 'message', value: key },
        ],
      }),
    },
    sendTimeout(env),
  )
  if (!isAnswer(answer)) return answer
  const { status, body } = answer
  if (status >= 200 && status < 300) {
    // A success without an id is no success that Resend gives: asking again under the same key tells.
    if (typeof body.id !== 'string')
      return { kind: 'retry', reason: 'resend-no-id', maybeAccepted: true } as const
    return { kind: 'accepted', providerId: body.id } as const
  }
  const reason = reasonOf('resend', body.name, status)
  if (status === 409) {
    // This key was accepted before, with a text that another release of ours had written.
    if (body.name === 'invalid_idempotent_request')
      return { kind: 'accepted', providerId: null } as const
    return { kind: 'retry', reason, maybeAccepted: true } as const
  }
  if (OURS.includes(String(body.name)))
    return { kind: 'retry', reason, maybeAccepted: false } as const
  return failureOf(answer, reason)
}

const STATUS: Record<string, 'sent' | 'delivered' | 'failed'> = {
  'email.sent': 'sent',
  'email.delivered': 'delivered',
  'email.bounced': 'failed',
  'email.failed': 'failed',
  'email.suppressed': 'failed',
}

const TOLERANCE_SECONDS = 300

/** Resend sends tags back as an object, or as the list that it was given. */
const tagOf = (tags: unknown, name: string): string | null => {
  const listed = Array.isArray(tags)
    ? tags.find((tag) => isObject(tag) && tag.name === name)
    : undefined
  const value = isObject(listed) ? listed.value : isObject(tags) ? tags[name] : undefined
  return typeof value === 'string' ? value : null
}

/** Standard Webhooks, as Svix signs for Resend: HMAC-SHA256 of id, time and body; good for five minutes. */
const readReceipt = async (
  env: NotifyEnv,
  { headers, body }: ReceiptRequest,
  now: number,
): Promise<Receipt | null> => {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map(
    (part) => headers.get(`svix-${part}`) ?? headers.get(`webhook-${part}`) ?? '',
  ) as [string, string, string]
  if (!env.RESEND_WEBHOOK_SECRET || !id || !/^\d{1,12}$/.test(timestamp)) return null
  if (Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return null
  const secret = Uint8Array.fromBase64(env.RESEND_WEBHOOK_SECRET.replace(/^whsec_/, ''))
  const expected = await hmac('SHA-256', secret, `${id}.${timestamp}.${body}`)
  const given = signatures
    .split(' ')
    .flatMap((entry) => (entry.startsWith('v1,') ? [entry.slice(3)] : []))
  if (!given.some((signature) => sameBytes(signature, expected))) return null
  const event: unknown = JSON.parse(body)
  const data = isObject(event) && isObject(event.data) ? event.data : {}
  const type = isObject(event) ? String(event.type) : ''
  const status = STATUS[type] ?? null
  return {
    accountId: tagOf(data.tags, 'account'),
    key: tagOf(data.tags, 'message') ?? '',
    status,
    reason: status === 'failed' ? `resend-${type.slice('email.'.length)}` : null,
    mark: `${id}.${timestamp}`,
  }
}

export const resend: Provider = { name: 'resend', send, readReceipt }
