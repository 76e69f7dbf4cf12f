import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import { MAX_KEY_BYTES } from '../settings.ts'
import { bytesOfBase64 } from './bytes.ts'
import { Unreadable } from './push.ts'

/* A message of OwnTracks in libsodium's secretbox: base64 of the nonce and what follows it. */

const NONCE_BYTES = 24

/** Filled with zeros, as the apps do. */
const toKey = (text: string): Uint8Array => {
  const key = new Uint8Array(MAX_KEY_BYTES)
  key.set(new TextEncoder().encode(text).subarray(0, MAX_KEY_BYTES))
  return key
}

const decrypt = (box: Uint8Array, key: string): string => {
  const nonce = box.subarray(0, NONCE_BYTES)
  const plain = xsalsa20poly1305(toKey(key), nonce).decrypt(box.subarray(NONCE_BYTES))
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(plain)
}

export const openSecretbox = (data: string, key: string): JsonObject => {
  const box = bytesOfBase64(data)
  if (!box) throw new Unreadable('`data` is not base64.')
  let text: string
  try {
    text = decrypt(box, key)
  } catch {
    throw new Unreadable(
      'The message cannot be decrypted: the key of the app is not that of the source.',
    )
  }
  try {
    const message: unknown = JSON.parse(text)
    if (isObject(message)) return message
  } catch {
    // Not JSON.
  }
  throw new Unreadable('The decrypted message is not a JSON object.')
}
