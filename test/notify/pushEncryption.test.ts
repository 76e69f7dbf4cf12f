import { describe, expect, test } from 'vitest'
import { areClientKeys, encryptPush } from '../../src/notify/pushEncryption.ts'
import { decryptPush, fromBase64url, makeBrowser, toBase64url } from '../support/alerts/push.ts'

const CURVE = { name: 'ECDH', namedCurve: 'P-256' }

const importPair = async (publicKey: string, privateKey: string): Promise<CryptoKeyPair> => {
  const raw = fromBase64url(publicKey)
  const [x, y] = [toBase64url(raw.slice(1, 33)), toBase64url(raw.slice(33))]
  const jwk = { kty: 'EC', crv: 'P-256', x, y, d: privateKey }
  return {
    publicKey: await crypto.subtle.importKey('raw', raw, CURVE, true, []),
    privateKey: await crypto.subtle.importKey('jwk', jwk, CURVE, true, ['deriveBits']),
  }
}

/** RFC 8291, section 5 and appendix A. */
const EXAMPLE = {
  text: 'When I grow up, I want to be a watermelon',
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  clientPrivate: 'q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  senderPublic:
    'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8',
  senderPrivate: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  body: 'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
}

describe('a push message', () => {
  test('is encrypted as in the example of RFC 8291', async () => {
    const pair = await importPair(EXAMPLE.senderPublic, EXAMPLE.senderPrivate)
    const sender = { pair, salt: fromBase64url(EXAMPLE.salt) }
    expect(toBase64url(await encryptPush(EXAMPLE.text, EXAMPLE, sender))).toBe(EXAMPLE.body)
  })

  test('of the example is read by the decryption of these tests', async () => {
    const { privateKey } = await importPair(EXAMPLE.p256dh, EXAMPLE.clientPrivate)
    const { p256dh, auth, body, text } = EXAMPLE
    expect(await decryptPush(fromBase64url(body), { p256dh, auth, privateKey })).toBe(text)
  })

  test('is read by its browser alone, and is never the same twice', async () => {
    const [browser, other] = [await makeBrowser(), await makeBrowser()]
    for (const text of ['', 'SOS – 38,7223° N', 'é'.repeat(1500)]) {
      const [first, second] = [await encryptPush(text, browser), await encryptPush(text, browser)]
      expect(await decryptPush(first, browser)).toBe(text)
      expect(toBase64url(first)).not.toBe(toBase64url(second))
      await expect(decryptPush(first, other)).rejects.toThrow()
      expect(first.byteLength).toBeLessThan(4096)
    }
  })
})

test('keys that nothing can be encrypted with are recognized', async () => {
  const { p256dh, auth } = await makeBrowser()
  expect(await areClientKeys({ p256dh, auth })).toBe(true)
  const wrong = [
    { p256dh: `B${'A'.repeat(86)}`, auth },
    { p256dh: p256dh.slice(0, -4), auth },
    { p256dh: '!', auth },
    { p256dh, auth: auth.slice(0, -4) },
    { p256dh, auth: '' },
  ]
  for (const keys of wrong) expect(await areClientKeys(keys), JSON.stringify(keys)).toBe(false)
})
