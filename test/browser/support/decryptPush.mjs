import { createDecipheriv, hkdfSync } from 'node:crypto'

const derive = (secret, salt, info, length) =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, length))

/** The text of a push for the browser with these keys: RFC 8291, one record of RFC 8188. */
export const decryptPush = (body, { ecdh, auth }) => {
  const salt = body.subarray(0, 16)
  const keyEnd = 21 + body[20]
  const sender = body.subarray(21, keyEnd)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender])
  const secret = derive(ecdh.computeSecret(sender), auth, info, 32)
  const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16)
  const iv = derive(secret, salt, 'Content-Encoding: nonce\0', 12)
  const decipher = createDecipheriv('aes-128-gcm', key, iv)
  decipher.setAuthTag(body.subarray(-16))
  const plain = Buffer.concat([decipher.update(body.subarray(keyEnd, -16)), decipher.final()])
  // The last byte ends the record.
  return plain.subarray(0, -1).toString()
}
