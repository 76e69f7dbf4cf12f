import { toBase64url } from '../auth/mac.ts'
import { isSignature, sign } from '../auth/signature.ts'
import { openCell, withRetries } from '../db/open.ts'
import { checkPublicUrl } from '../domain/text/publicUrl.ts'
import { allowsLoopback, type Env, publicOrigin } from '../env.ts'
import { callProvider, isReply, reasonOf, toFailure } from './callProvider.ts'
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
import { encryptPush } from './pushEncryption.ts'
import { findSigningKey } from './pushKeys.ts'
import { deleteGoneSubscription, findPushSubscription } from './pushSubscriptions.ts'

const NAME = 'webpush'

const HOUR_SECONDS = 3600
/** How long a push service keeps a message for a browser that is not running. */
const TTL_SECONDS = { urgent: 24 * HOUR_SECONDS, other: 4 * HOUR_SECONDS }
/** At most 24 hours are allowed. */
const JWT_SECONDS = 12 * HOUR_SECONDS
/** Encrypted it has less than the 4,096 bytes that push services take. */
const MAX_PAYLOAD_BYTES = 3072

/** Whom a push service can ask about our messages, as the claim `sub` wants it. */
const contactOf = (env: Env): string => {
  const origin = publicOrigin(env)
  if (origin?.startsWith('https:')) return origin
  const address = /[^\s<>]+@[^\s<>]+/.exec(env.EMAIL_FROM ?? '')?.[0]
  return address ? `mailto:${address}` : 'https://perigee.example'
}

const toPart = (value: object): string =>
  toBase64url(new TextEncoder().encode(JSON.stringify(value)))

/** RFC 8292: a token for the push service, signed with the key that the browser subscribed with. */
const authorize = async (env: Env, audience: string, keyId: string): Promise<string | null> => {
  const found = await findSigningKey(env, keyId)
  if (!found) return null
  const exp = Math.floor(Date.now() / 1000) + JWT_SECONDS
  const claims = { aud: audience, exp, sub: contactOf(env) }
  const signed = `${toPart({ typ: 'JWT', alg: 'ES256' })}.${toPart(claims)}`
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const bytes = new TextEncoder().encode(signed)
  const signature = new Uint8Array(await crypto.subtle.sign(algorithm, found.key, bytes))
  return `vapid t=${signed}.${toBase64url(signature)}, k=${found.publicKey}`
}

const receiptText = (accountId: string, key: string): string =>
  `push receipt ${JSON.stringify([accountId, key])}`

const receiptPath = async (env: Env, { accountId, key }: Message): Promise<string> => {
  const signature = await sign(env, receiptText(accountId, key))
  return `/hooks/${NAME}/${accountId}?${new URLSearchParams({ message: key, signature })}`
}

/** What the service worker of the console gets. The body is cut where all of it is too long. */
const composePayload = async (env: Env, message: Message): Promise<string> => {
  const { key, subject, text, link, alertId, kind, isUrgent, isTest } = message
  const lines = text.split('\n').filter((line) => link === null || !line.endsWith(link))
  const rest = {
    alertId,
    messageId: key.split('-', 1)[0],
    emergency: isUrgent,
    test: isTest,
    kind,
    link,
    receipt: await receiptPath(env, message),
  }
  const compose = (body: string) => JSON.stringify({ title: subject, body, ...rest })
  let body = lines.join('\n')
  while (body && new TextEncoder().encode(compose(body)).byteLength > MAX_PAYLOAD_BYTES)
    body = body.slice(0, -50)
  return compose(body)
}

const sendPush = async (env: Env, message: Message): Promise<SendOutcome> => {
  const db = withRetries(openCell(env, message.cell))
  const { accountId, to, userId = null } = message
  const subscription = await findPushSubscription(db, accountId, to)
  // Another user of the browser may have taken it over since the message was composed.
  if (!subscription || (userId !== null && subscription.userId !== userId))
    return { kind: 'refused', reason: 'subscription-deleted' }
  const check = checkPublicUrl(subscription.endpoint, allowsLoopback(env))
  if (!check.ok) return { kind: 'refused', reason: 'endpoint-not-allowed' }
  const authorization = await authorize(env, check.url.origin, subscription.keyId)
  if (authorization === null) return misconfigured('push key')
  const { alertId, isUrgent } = message
  const reply = await callProvider(
    subscription.endpoint,
    {
      method: 'POST',
      headers: {
        Authorization: authorization,
        'Content-Encoding': 'aes128gcm',
        'Content-Type': 'application/octet-stream',
        TTL: String(isUrgent ? TTL_SECONDS.urgent : TTL_SECONDS.other),
        Urgency: isUrgent ? 'high' : 'normal',
        // A later message about the alert replaces one that was not shown yet.
        ...(alertId !== null && { Topic: alertId }),
      },
      body: await encryptPush(await composePayload(env, message), subscription),
    },
    sendTimeoutMs(env),
  )
  if (!isReply(reply)) return reply
  const { status } = reply
  if (status >= 200 && status < 300) return { kind: 'accepted', providerId: null }
  if (status === 404 || status === 410) {
    await deleteGoneSubscription(db, subscription)
    return { kind: 'refused', reason: 'subscription-gone' }
  }
  const failure = toFailure(reply, reasonOf(NAME, undefined, status))
  // Each browser has a push service of its own: one must not delay the others.
  return failure.kind === 'throttled' ? { ...failure, isOfRecipient: true } : failure
}

/** A service worker posts the path of its payload once it has shown the notification. */
const readReceipt = async (env: Env, { url }: ReceiptRequest): Promise<Receipt | null> => {
  const { pathname, searchParams } = new URL(url)
  const accountId = pathname.split('/').at(-1) ?? ''
  const [key, signature] = [searchParams.get('message') ?? '', searchParams.get('signature') ?? '']
  if (!(await isSignature(env, receiptText(accountId, key), signature))) return null
  // A message that is sent again has another key.
  return { accountId, key, status: 'delivered', reason: null, mark: key }
}

/** The Worker gives providers its whole environment. */
const whole = (env: NotifyEnv): Env => env as Env

/** Sends to the push service of a browser, which only the service worker can report on. */
export const webPush: Provider = {
  name: NAME,
  send: (env, message) => sendPush(whole(env), message),
  givesReceipts: () => true,
  readReceipt: (env, request) => readReceipt(whole(env), request),
}
