import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  formatApiKey,
  makeSecret,
  parseApiKey,
  SECRET_BYTES,
} from '../../../src/domain/account/apiKey.ts'
import { base32, base32Time } from '../../../src/domain/text/base32.ts'

const id = `key_${'a1b2c3d4e5f6g7h8j9k0mn'}`
const secret = makeSecret(Uint8Array.from({ length: SECRET_BYTES }, (_, index) => index * 7))
const apiKey = formatApiKey(id, secret)

test('a key has the form pgk_<id>_<secret>_<checksum> and at least 160 bits of secret', () => {
  expect(apiKey).toMatch(/^pgk_[0-9a-z]{22}_[0-9a-z]{40}_[0-9a-z]{7}$/)
  expect(SECRET_BYTES * 8).toBeGreaterThanOrEqual(160)
  expect(secret.length * 5).toBe(SECRET_BYTES * 8)
  expect(parseApiKey(apiKey)).toEqual({ id, secret })
})

test('every random bit affects the secret', () => {
  const bytes = fc.uint8Array({ minLength: SECRET_BYTES, maxLength: SECRET_BYTES })
  fc.assert(
    fc.property(bytes, fc.nat(SECRET_BYTES * 8 - 1), (random, bit) => {
      const flipped = random.map((byte, index) =>
        index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte,
      )
      expect(makeSecret(flipped)).not.toBe(makeSecret(random))
    }),
  )
})

test('the checksum detects one wrong character and two swapped characters', () => {
  for (let index = 4; index < apiKey.length; index++) {
    for (const other of '0a') {
      if (other === apiKey[index] || apiKey[index] === '_') continue
      expect(
        parseApiKey(apiKey.slice(0, index) + other + apiKey.slice(index + 1)),
        `${index}`,
      ).toBeNull()
    }
    const [a, b] = [apiKey[index], apiKey[index + 1]]
    if (b === undefined || a === b || a === '_' || b === '_') continue
    expect(
      parseApiKey(apiKey.slice(0, index) + b + a + apiKey.slice(index + 2)),
      `${index}`,
    ).toBeNull()
  }
})

test('any other text is rejected', () => {
  for (const text of [
    '',
    'pgk_',
    apiKey.toUpperCase(),
    ` ${apiKey}`,
    `${apiKey}\n`,
    `${apiKey}0`,
    apiKey.slice(0, -1),
    apiKey.slice(4),
    apiKey.replace('pgk', 'pgx'),
  ]) {
    expect(parseApiKey(text), text).toBeNull()
  }
  fc.assert(fc.property(fc.string(), (text) => parseApiKey(text) === null))
})

test('base 32 uses Crockford’s alphabet, five bits per character, most significant bit first', () => {
  expect(base32(new Uint8Array([0, 0, 0, 0, 0]), 8)).toBe('00000000')
  expect(base32(new Uint8Array([255, 255, 255, 255, 255]), 8)).toBe('zzzzzzzz')
  expect(base32(new Uint8Array([0x08, 0x42, 0x10, 0x84, 0x21]), 8)).toBe('11111111')
  expect(
    base32(new Uint8Array([0b00000_000, 0b01_00010_0, 0b0011_0010, 0b0_00101_00, 0b110_00111]), 8),
  ).toBe('01234567')
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 5, maxLength: 40 }), (bytes) => {
      const text = base32(bytes, 8)
      const value = [...text].reduce(
        (sum, character) =>
          sum * 32n + BigInt('0123456789abcdefghjkmnpqrstvwxyz'.indexOf(character)),
        0n,
      )
      expect(value).toBe(bytes.slice(0, 5).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n))
    }),
  )
})

test('encoded times sort like the times', () => {
  const time = fc.integer({ min: 0, max: 32 ** 9 - 1 })
  fc.assert(
    fc.property(time, time, (a, b) => {
      expect(base32Time(a)).toHaveLength(9)
      expect(Math.sign(a - b)).toBe(
        base32Time(a) < base32Time(b) ? -1 : base32Time(a) > base32Time(b) ? 1 : 0,
      )
    }),
  )
})

test('the key of an operator is no key of an account, and the other way round', () => {
  const operator = `opr_${id.slice(4)}`
  const key = formatApiKey(operator, secret)
  expect(key).toMatch(/^pgo_/)
  expect(parseApiKey(key, 'opr')).toEqual({ id: operator, secret })
  expect(parseApiKey(key)).toBeNull()
  expect(parseApiKey(apiKey, 'opr')).toBeNull()
  expect(parseApiKey(`pgk${key.slice(3)}`)).toBeNull()
})
