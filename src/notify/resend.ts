import { mailAddress } from '../domain/message/email.ts'
import { isObject } from '../domain/text/json.ts'
import { callProvider, isReply, reasonOf, toFailure } from './callProvider.ts'
import { toHtml } from './html.ts'
import {
  type Message,
  misconfigured,
  type NotifyEnv,
  type Provider,
  type Receipt,
  type ReceiptRequest,
  sendTimeoutMs,
} from './provider.ts'
import { hmac, isSameSignature } from './signature.ts'

/** Codes for a wrong set-up, which the operator can fix. Their status is that of a bad request. */
const MISCONFIGURED = [
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
  const reply = await callProvider(
    `${RESEND_URL}/emails`,
    {
      method: 'POST',
      // Resend refuses requests without a User-Agent.
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
        html: toHtml(text),
        tags: [
          { name: 'account', value: accountId },
          { name: 'message', value: key },
        ],
      }),
    },
    sendTimeoutMs(env),
  )
  if (!isReply(reply)) return reply
  const { status, body } = reply
  if (status >= 200 && status < 300) {
    // Resend's successes have an id. A retry under the same key finds out what happened.
    if (typeof body.id !== 'string')
      return { kind: 'retry', reason: 'resend-no-id', maybeAccepted: true } as const
    return { kind: 'accepted', providerId: body.id } as const
  }
  const reason = reasonOf('resend', body.name, status)
  if (status === 409) {
    // Accepted before under this key, with a text that another release composed.
    if (body.name === 'invalid_idempotent_request')
      return { kind: 'accepted', providerId: null } as const
    return { kind: 'retry', reason, maybeAccepted: true } as const
  }
  if (MISCONFIGURED.includes(String(body.name)))
    return { kind: 'retry', reason, maybeAccepted: false } as const
  return toFailure(reply, reason)
}

const STATUS: Record<string, 'sent' | 'delivered' | 'failed'> = {
  'email.sent': 'sent',
  'email.delivered': 'delivered',
  'email.bounced': 'failed',
  'email.failed': 'failed',
  'email.suppressed': 'failed',
  // Marked as spam: whoever does so has not been notified, and gets no further messages.
  'email.complained': 'failed',
}

const TOLERANCE_SECONDS = 300

/** Resend returns tags as an object, or as the list that it was sent. */
const findTag = (tags: unknown, name: string): string | null => {
  const listed = Array.isArray(tags)
    ? tags.find((tag) => isObject(tag) && tag.name === name)
    : undefined
  const value = isObject(listed) ? listed.value : isObject(tags) ? tags[name] : undefined
  return typeof value === 'string' ? value : null
}

/** Checks a Standard Webhooks signature: HMAC-SHA256 of id, time and body, valid for 5 minutes. */
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
  if (!given.some((signature) => isSameSignature(signature, expected))) return null
  const event: unknown = JSON.parse(body)
  const data = isObject(event) && isObject(event.data) ? event.data : {}
  const type = isObject(event) ? String(event.type) : ''
  const status = STATUS[type] ?? null
  return {
    accountId: findTag(data.tags, 'account'),
    key: findTag(data.tags, 'message') ?? '',
    status,
    reason: status === 'failed' ? `resend-${type.slice('email.'.length)}` : null,
    mark: `${id}.${timestamp}`,
  }
}

export const resend: Provider = {
  name: 'resend',
  send,
  givesReceipts: ({ RESEND_WEBHOOK_SECRET }) => Boolean(RESEND_WEBHOOK_SECRET),
  readReceipt,
}
