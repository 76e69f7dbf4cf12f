import { fromBase64url } from '../auth/mac.ts'

/* Encryption of push messages for one browser: RFC 8291, with the coding `aes128gcm` of RFC 8188. */

/** The keys of a browser's subscription, in base64url. */
interface ClientKeys {
  p256dh: string
  auth: string
}

/** Our side of one message. New for each message; tests give their own. */
interface SenderKeys {
  pair: CryptoKeyPair
  salt: Uint8Array
}

const CURVE = { name: 'ECDH', namedCurve: 'P-256' }
const BYTES = { salt: 16, auth: 16, key: 16, nonce: 12, secret: 32 }
/** The one record of a message is shorter; push services take bodies of up to 4,096 bytes. */
const RECORD_BYTES = 4096
/** Ends the last record. */
const DELIMITER = 2

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const join = (...parts: Uint8Array[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]))

const importClientKey = (p256dh: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', fromBase64url(p256dh), CURVE, true, [])

/** Whether messages can be encrypted with these keys: a point of the curve, and a secret. */
export const areClientKeys = async ({ p256dh, auth }: ClientKeys): Promise<boolean> => {
  try {
    await importClientKey(p256dh)
    return fromBase64url(auth).byteLength === BYTES.auth
  } catch {
    return false
  }
}

const makeSenderKeys = async (): Promise<SenderKeys> => ({
  pair: (await crypto.subtle.generateKey(CURVE, true, ['deriveBits'])) as CryptoKeyPair,
  salt: crypto.getRandomValues(new Uint8Array(BYTES.salt)),
})

const exportRaw = async (key: CryptoKey): Promise<Uint8Array> =>
  new Uint8Array((await crypto.subtle.exportKey('raw', key)) as ArrayBuffer)

const derive = async (
  secret: Uint8Array,
  salt: Uint8Array,
  info: Uint8Array,
  bytes: number,
): Promise<Uint8Array> => {
  const key = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits'])
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt, info }
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, bytes * 8))
}

/** The body of a push request: a header with salt and public key, and one encrypted record. */
export const encryptPush = async (
  payload: string,
  { p256dh, auth }: ClientKeys,
  sender?: SenderKeys,
): Promise<Uint8Array> => {
  const { pair, salt } = sender ?? (await makeSenderKeys())
  const client = await importClientKey(p256dh)
  // The types of Workers call the member `$public`; the runtime wants `public`.
  const agreement = { name: CURVE.name, public: client } as SubtleCryptoDeriveKeyAlgorithm
  const bits = await crypto.subtle.deriveBits(agreement, pair.privateKey, BYTES.secret * 8)
  const own = await exportRaw(pair.publicKey)
  const info = join(encode('WebPush: info\0'), await exportRaw(client), own)
  const secret = await derive(new Uint8Array(bits), fromBase64url(auth), info, BYTES.secret)
  const keyBytes = await derive(secret, salt, encode('Content-Encoding: aes128gcm\0'), BYTES.key)
  const iv = await derive(secret, salt, encode('Content-Encoding: nonce\0'), BYTES.nonce)
  const key = await crypto.subtle.importKey('raw', keyBytes, 'AES-GCM', false, ['encrypt'])
  const record = join(encode(payload), Uint8Array.of(DELIMITER))
  const encrypted = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, record)
  const header = Uint8Array.of(0, 0, RECORD_BYTES >> 8, 0, own.byteLength)
  return join(salt, header, own, new Uint8Array(encrypted))
}
