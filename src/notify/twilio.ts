import { isObject } from '../domain/text/json.ts'
import { publicOrigin } from '../env.ts'
import { callProvider, isReply, type ProviderReply, reasonOf, toFailure } from './callProvider.ts'
import {
  type Message,
  misconfigured,
  type NotifyEnv,
  type Provider,
  type Receipt,
  type ReceiptRequest,
  type SendOutcome,
  sendTimeoutMs,
} from './provider.ts'
import { hmac, isSameSignature } from './signature.ts'

interface TwilioApi {
  messagesUrl: string
  headers: Record<string, string>
  timeoutMs: number
}

/** Codes for a wrong account, number or permission, which the operator can fix. */
const MISCONFIGURED = [
  20003, 20005, 20008, 21212, 21408, 21603, 21606, 21659, 21660, 21703, 21704, 21705,
]

const toApi = (env: NotifyEnv, sid: string, token: string): TwilioApi => ({
  messagesUrl: `${env.TWILIO_URL ?? 'https://api.twilio.com'}/2010-04-01/Accounts/${encodeURIComponent(sid)}/Messages.json`,
  headers: { Authorization: `Basic ${btoa(`${sid}:${token}`)}` },
  timeoutMs: sendTimeoutMs(env),
})

const readFailure = (reply: ProviderReply): SendOutcome => {
  const { code } = reply.body
  const reason = reasonOf('twilio', code, reply.status)
  if (MISCONFIGURED.includes(Number(code))) return { kind: 'retry', reason, maybeAccepted: false }
  return toFailure(reply, reason)
}

const NOT_SENT = ['failed', 'undelivered', 'canceled']

/** Looks for the message among those sent since an attempt: Twilio has no idempotency key. */
const findEarlier = async (
  { messagesUrl, headers, timeoutMs }: TwilioApi,
  { to, text }: Message,
  since: number,
) => {
  const query = new URLSearchParams({ To: to, PageSize: '100' })
  const reply = await callProvider(`${messagesUrl}?${query}`, { headers }, timeoutMs)
  if (!isReply(reply)) return reply
  if (reply.status !== 200) return readFailure(reply)
  const sent = Array.isArray(reply.body.messages) ? reply.body.messages.filter(isObject) : []
  // Twilio's times are in whole seconds.
  const sinceSecond = since - (since % 1000)
  return (
    sent.find(({ body, status, date_created: created }) => {
      return (
        body === text &&
        !NOT_SENT.includes(String(status)) &&
        Date.parse(String(created)) >= sinceSecond
      )
    }) ?? null
  )
}

const send = async (env: NotifyEnv, message: Message): Promise<SendOutcome> => {
  const { TWILIO_ACCOUNT_SID: sid, TWILIO_AUTH_TOKEN: token, TWILIO_FROM: from } = env
  if (!sid || !token || !from)
    return misconfigured('TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, TWILIO_FROM')
  const api = toApi(env, sid, token)
  if (message.unsureSince !== null) {
    const earlier = await findEarlier(api, message, message.unsureSince)
    if (earlier && 'kind' in earlier) return earlier as SendOutcome
    if (earlier) return { kind: 'accepted', providerId: String(earlier.sid) }
  }
  const form = new URLSearchParams({
    To: message.to,
    Body: message.text,
    [from.startsWith('MG') ? 'MessagingServiceSid' : 'From']: from,
  })
  const origin = publicOrigin(env)
  if (origin)
    form.set('StatusCallback', `${origin}/hooks/twilio/${message.accountId}?message=${message.key}`)
  const reply = await callProvider(
    api.messagesUrl,
    { method: 'POST', headers: api.headers, body: form },
    api.timeoutMs,
  )
  if (!isReply(reply)) return reply
  if (reply.status < 200 || reply.status >= 300) return readFailure(reply)
  if (typeof reply.body.sid !== 'string')
    return { kind: 'retry', reason: 'twilio-no-sid', maybeAccepted: true }
  return { kind: 'accepted', providerId: reply.body.sid }
}

const STATUS: Record<string, 'sent' | 'delivered' | 'failed'> = {
  sent: 'sent',
  delivered: 'delivered',
  undelivered: 'failed',
  failed: 'failed',
}

/** Checks Twilio's signature: HMAC-SHA1 of the URL and the form's fields, sorted by name. */
const readReceipt = async (
  env: NotifyEnv,
  { url, headers, body }: ReceiptRequest,
): Promise<Receipt | null> => {
  const { TWILIO_AUTH_TOKEN } = env
  if (!TWILIO_AUTH_TOKEN) return null
  const { pathname, search, origin, searchParams } = new URL(url)
  const form = new URLSearchParams(body)
  const members = [...form]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => name + value)
  const signature = headers.get('X-Twilio-Signature') ?? ''
  const expected = await hmac(
    'SHA-1',
    TWILIO_AUTH_TOKEN,
    `${publicOrigin(env) ?? origin}${pathname}${search}${members.join('')}`,
  )
  if (!isSameSignature(signature, expected)) return null
  const status = STATUS[form.get('MessageStatus') ?? ''] ?? null
  return {
    accountId: pathname.split('/').at(-1) ?? '',
    key: searchParams.get('message') ?? '',
    status,
    reason:
      status === 'failed'
        ? `twilio-${/^\d+$/.exec(form.get('ErrorCode') ?? '')?.[0] ?? 'undelivered'}`
        : null,
    mark: expected.toBase64(),
  }
}

export const twilio: Provider = {
  name: 'twilio',
  send,
  givesReceipts: (env) => publicOrigin(env) !== null,
  readReceipt,
}
