import { env } from 'cloudflare:workers'
import type { Caller } from '../accounts.ts'
import type { Reply } from '../http.ts'
import { readProviderRecord } from './recipients.ts'

/* A browser with a push subscription. It decrypts by itself, with HMAC alone: RFC 8291 and 8188. */

const CURVE = { name: 'ECDH', namedCurve: 'P-256' }
export const PUSH_PATH = '/api/me/pushSubscriptions'

export const toBase64url = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
export const fromBase64url = (text: string): Uint8Array =>
  Uint8Array.fromBase64(text, { alphabet: 'base64url' })

const mac = async (secret: Uint8Array, ...parts: (Uint8Array | string)[]): Promise<Uint8Array> => {
  const hash = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', secret, hash, false, ['sign'])
  const data = await new Blob(parts).arrayBuffer()
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, data))
}

export interface Subscriber {
  p256dh: string
  auth: string
  privateKey: CryptoKey
}

/** The text of an encrypted body. Throws if it was not encrypted for this browser. */
export const decryptPush = async (
  body: Uint8Array,
  { p256dh, auth, privateKey }: Subscriber,
): Promise<string> => {
  const salt = body.slice(0, 16)
  const keyLength = body[20] ?? 0
  const senderKey = body.slice(21, 21 + keyLength)
  const sender = await crypto.subtle.importKey('raw', senderKey, CURVE, false, [])
  const agreement = { name: 'ECDH', public: sender } as SubtleCryptoDeriveKeyAlgorithm
  const shared = new Uint8Array(await crypto.subtle.deriveBits(agreement, privateKey, 256))
  const one = Uint8Array.of(1)
  const first = await mac(fromBase64url(auth), shared)
  const secret = await mac(first, 'WebPush: info\0', fromBase64url(p256dh), senderKey, one)
  const second = await mac(salt, secret)
  const keyBytes = (await mac(second, 'Content-Encoding: aes128gcm\0', one)).slice(0, 16)
  const iv = (await mac(second, 'Content-Encoding: nonce\0', one)).slice(0, 12)
  const key = await crypto.subtle.importKey('raw', keyBytes, 'AES-GCM', false, ['decrypt'])
  const record = body.slice(21 + keyLength)
  const plain = new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, record))
  if (plain.at(-1) !== 2) throw new Error('the last record does not end with 2')
  return new TextDecoder().decode(plain.slice(0, -1))
}

export interface Browser extends Subscriber {
  /** The name under which the test providers keep its record. */
  name: string
  /** What `PushSubscription.toJSON()` gives. */
  subscription: { endpoint: string; expirationTime: null; keys: { p256dh: string; auth: string } }
}

/** `base` is the address of its push service; by default a public name that nobody calls. */
export const makeBrowser = async (base = 'https://push.example'): Promise<Browser> => {
  const pair = (await crypto.subtle.generateKey(CURVE, true, ['deriveBits'])) as CryptoKeyPair
  const raw = (await crypto.subtle.exportKey('raw', pair.publicKey)) as ArrayBuffer
  const p256dh = toBase64url(new Uint8Array(raw))
  const auth = toBase64url(crypto.getRandomValues(new Uint8Array(16)))
  const name = `browser-${crypto.randomUUID()}`
  const keys = { p256dh, auth }
  const subscription = { endpoint: `${base}/push/${name}`, expirationTime: null, keys }
  return { name, ...keys, privateKey: pair.privateKey, subscription }
}

/** A browser whose push service is one of the test providers. */
export const makeLocalBrowser = (): Promise<Browser> => makeBrowser(env.PROVIDERS)

export const subscribe = (
  user: Caller,
  { subscription }: Browser,
  headers: Record<string, string> = {},
): Promise<Reply> => user.call('POST', PUSH_PATH, { body: subscription, headers })

export const listSubscriptions = async (user: Caller) =>
  (await user.call('GET', PUSH_PATH)).body.pushSubscriptions

/** What the push service of the browser has received, decrypted. */
export const readNotifications = async (browser: Browser) => {
  const { requests } = await readProviderRecord(browser.name)
  return Promise.all(
    requests.map(async ({ headers, body }) => {
      const bytes = Uint8Array.fromBase64(String(body.base64))
      return { headers, bytes, payload: JSON.parse(await decryptPush(bytes, browser)) }
    }),
  )
}
