import { isObject, type JsonObject } from '../domain/text/json.ts'
import { publicOrigin } from '../env.ts'
import { callProvider, isReply, type ProviderReply, reasonOf, toFailure } from './callProvider.ts'
import {
  type Message,
  type NotifyEnv,
  type ReceiptRequest,
  type SendOutcome,
  sendTimeoutMs,
} from './provider.ts'
import { hmac, isSameSignature } from './signature.ts'

/* What SMS and calls through Twilio share: its API, its failures and its signature. */

/** What the account has sent: the path's name, and the member of a reply. */
const LISTS = { Messages: 'messages', Calls: 'calls' } as const

interface TwilioApi {
  url: string
  member: (typeof LISTS)[keyof typeof LISTS]
  headers: Record<string, string>
  timeoutMs: number
}

/** Null without the account's credentials. */
export const openApi = (env: NotifyEnv, list: keyof typeof LISTS): TwilioApi | null => {
  const { TWILIO_ACCOUNT_SID: sid, TWILIO_AUTH_TOKEN: token, TWILIO_URL } = env
  if (!sid || !token) return null
  return {
    url: `${TWILIO_URL ?? 'https://api.twilio.com'}/2010-04-01/Accounts/${encodeURIComponent(sid)}/${list}.json`,
    member: LISTS[list],
    headers: { Authorization: `Basic ${btoa(`${sid}:${token}`)}` },
    timeoutMs: sendTimeoutMs(env),
  }
}

/** Codes for a wrong account, number or permission, which the operator can fix. */
const MISCONFIGURED = [
  13227, 20003, 20005, 20008, 21210, 21212, 21215, 21219, 21408, 21603, 21606, 21659, 21660, 21703,
  21704, 21705,
]

const readFailure = (reply: ProviderReply): SendOutcome => {
  const { code } = reply.body
  const reason = reasonOf('twilio', code, reply.status)
  if (MISCONFIGURED.includes(Number(code))) return { kind: 'retry', reason, maybeAccepted: false }
  return toFailure(reply, reason)
}

const NOT_SENT = ['failed', 'undelivered', 'canceled']

type IsSame = (sent: JsonObject) => boolean

/** Looks for the message among those sent since an attempt: Twilio has no idempotency key. */
const findEarlier = async (
  { url, member, headers, timeoutMs }: TwilioApi,
  to: string,
  since: number,
  isSame: IsSame,
): Promise<SendOutcome | null> => {
  const query = new URLSearchParams({ To: to, PageSize: '100' })
  const reply = await callProvider(`${url}?${query}`, { headers }, timeoutMs)
  if (!isReply(reply)) return reply
  if (reply.status !== 200) return readFailure(reply)
  const list = reply.body[member]
  // Twilio's times are in whole seconds.
  const sinceSecond = since - (since % 1000)
  const earlier = (Array.isArray(list) ? list.filter(isObject) : []).find(
    (sent) =>
      isSame(sent) &&
      !NOT_SENT.includes(String(sent.status)) &&
      Date.parse(String(sent.date_created)) >= sinceSecond,
  )
  return earlier ? { kind: 'accepted', providerId: String(earlier.sid) } : null
}

/** Sends the form, unless an attempt of unknown outcome has: `isSame` recognizes it. */
export const sendOnce = async (
  api: TwilioApi,
  { to, unsureSince }: Message,
  form: URLSearchParams,
  isSame: IsSame,
): Promise<SendOutcome> => {
  const { url, headers, timeoutMs } = api
  const earlier = unsureSince === null ? null : await findEarlier(api, to, unsureSince, isSame)
  if (earlier) return earlier
  const reply = await callProvider(url, { method: 'POST', headers, body: form }, timeoutMs)
  if (!isReply(reply)) return reply
  if (reply.status < 200 || reply.status >= 300) return readFailure(reply)
  if (typeof reply.body.sid !== 'string')
    return { kind: 'retry', reason: 'twilio-no-sid', maybeAccepted: true }
  return { kind: 'accepted', providerId: reply.body.sid }
}

/** Where Twilio reports on a message: the path has the account, the query the message. */
export const hookUrl = (origin: string, hook: string, { accountId, key }: Message): string =>
  `${origin}/hooks/${hook}/${accountId}?message=${key}`

/** A request of Twilio whose signature is right. */
interface SignedRequest {
  accountId: string
  key: string
  query: URLSearchParams
  form: URLSearchParams
  mark: string
}

/** Checks Twilio's signature: HMAC-SHA1 of the URL and the form's fields, sorted by name. */
export const readSigned = async (
  env: NotifyEnv,
  { url, headers, body }: ReceiptRequest,
): Promise<SignedRequest | null> => {
  const { TWILIO_AUTH_TOKEN } = env
  if (!TWILIO_AUTH_TOKEN) return null
  const { pathname, search, origin, searchParams: query } = new URL(url)
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
  const [, , , accountId = ''] = pathname.split('/')
  return { accountId, key: query.get('message') ?? '', query, form, mark: expected.toBase64() }
}
