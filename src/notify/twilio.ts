import { isObject } from '../domain/json.ts'
import { type Answer, exchange, failureOf, isAnswer, reasonOf } from './exchange.ts'
import {
  type Message,
  misconfigured,
  type NotifyEnv,
  type Provider,
  publicOrigin,
  type Receipt,
  type ReceiptRequest,
  type SendOutcome,
  sendTimeout,
} from './provider.ts'
import { hmac, sameBytes } from './signature.ts'

interface Access {
  messages: string
  headers: Record<string, string>
  timeout: number
}

/** Twilio's codes for what is wrong with our account, number or permissions, though they come as a fault of the request. */
const OURS = [20003, 20005, 20008, 21212, 21408, 21603, 21606, 21659, 21660, 21703, 21704, 21705]

const accessOf = (env: NotifyEnv, sid: string, token: string): Access => ({
  messages: `${env.TWILIO_URL ?? 'https://api.twilio.com'}/2010-04-01/Accounts/${encodeURIComponent(sid)}/Messages.json`,
  headers: { Authorization: `Basic ${btoa(`${sid}:${token}`)}` },
  timeout: sendTimeout(env),
})

const failed = (answer: Answer): SendOutcome => {
  const { code } = answer.body
  const reason = reasonOf('twilio', code, answer.status)
  if (OURS.includes(Number(code))) return { kind: 'retry', reason, maybeAccepted: false }
  return failureOf(answer, reason)
}

const UNDONE = ['failed', 'undelivered', 'canceled']

/** Twilio knows no idempotency key: after a try that may have been accepted, the list of what was sent is asked first. */
const findEarlier = async (
  { messages, headers, timeout }: Access,
  { to, text }: Message,
  since: number,
) => {
  const query = new URLSearchParams({ To: to, PageSize: '100' })
  const answer = await exchange(`${messages}?${query}`, { headers }, timeout)
  if (!isAnswer(answer)) return answer
  if (answer.status !== 200) return failed(answer)
  const sent = Array.isArray(answer.body.messages) ? answer.body.messages.filter(isObject) : []
  const wholeSecond = since - (since % 1000)
  return (
    sent.find(({ body, status, date_created: created }) => {
      return (
        body === text &&
        !UNDONE.includes(String(status)) &&
        Date.parse(String(created)) >= wholeSecond
      )
    }) ?? null
  )
}

const send = async (env: NotifyEnv, message: Message): Promise<SendOutcome> => {
  const { TWILIO_ACCOUNT_SID: sid, TWILIO_AUTH_TOKEN: token, TWILIO_FROM: from } = env
  if (!sid || !token || !from)
    return misconfigured('TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, TWILIO_FROM')
  const access = accessOf(env, sid, token)
  if (message.unsureSince !== null) {
    const earlier = await findEarlier(access, message, message.unsureSince)
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
  const answer = await exchange(
    access.messages,
    { method: 'POST', headers: access.headers, body: form },
    access.timeout,
  )
  if (!isAnswer(answer)) return answer
  if (answer.status < 200 || answer.status >= 300) return failed(answer)
  if (typeof answer.body.sid !== 'string')
    return { kind: 'retry', reason: 'twilio-no-sid', maybeAccepted: true }
  return { kind: 'accepted', providerId: answer.body.sid }
}

const STATUS: Record<string, 'sent' | 'delivered' | 'failed'> = {
  sent: 'sent',
  delivered: 'delivered',
  undelivered: 'failed',
  failed: 'failed',
}

/** HMAC-SHA1 of the URL that was called and the form's members in the order of their names. */
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
  if (!sameBytes(signature, expected)) return null
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

export const twilio: Provider = { name: 'twilio', send, readReceipt }
