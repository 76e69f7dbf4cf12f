import { expect, test } from 'vitest'
import { COUNTRIES, countryCode } from '../../../src/domain/account/countries.ts'
import { difference } from '../../../src/domain/account/group.ts'
import { intersectScopes } from '../../../src/domain/account/scope.ts'
import { canAct } from '../../../src/domain/account/user.ts'
import { emailKey, mailAddress } from '../../../src/domain/message/email.ts'
import { isTimeZone } from '../../../src/domain/time/day.ts'
import { timeZoneNames } from '../../../src/domain/time/timeZones.ts'

test.each([
  ['Ana@Example.COM', 'ana@example.com'],
  ['ana+fleet@mail.example.museum', 'ana+fleet@mail.example.museum'],
  ["o'neil@example.ie", "o'neil@example.ie"],
  ['ana@Bücher.example', 'ana@xn--bcher-kva.example'],
  ['ana@xn--bcher-kva.EXAMPLE', 'ana@xn--bcher-kva.example'],
  ['anna@пример.рф', 'anna@xn--e1afmkfd.xn--p1ai'],
  ['josé@例え.テスト', 'josé@xn--r8jz45g.xn--zckzah'],
])('%s is a valid address and compared as %s', (address, key) => {
  expect(emailKey(address)).toBe(key)
})

test.each([
  'ana',
  '@example.com',
  'ana@',
  'ana@localhost',
  'ana@example',
  'ana@1.2.3.4',
  'ana@0x7f.1',
  'ana@[::1]',
  'ana@example.com.',
  'ana@-example.com',
  'ana@exa_mple.com',
  'ana@exa mple.com',
  'ana@example..com',
  '.ana@example.com',
  'a..na@example.com',
  'ana sousa@example.com',
  '"ana"@example.com',
  '<ana@example.com>',
  'ana@example.com,bea@example.com',
  'ana@example.com\r\nBcc: bea@example.com',
  'ana\n@example.com',
  'ana@example.com\u2028',
  'ana\u0000@example.com',
  `${'a'.repeat(65)}@example.com`,
  `ana@${'a'.repeat(64)}.com`,
  `ana@${'ab.'.repeat(90)}com`,
])('%j is not a valid address', (address) => {
  expect(emailKey(address)).toBeNull()
})

test.each([
  ['Ana@Bücher.example', 'Ana@xn--bcher-kva.example'],
  ['José@例え.テスト', 'José@xn--r8jz45g.xn--zckzah'],
  ['Ana+Fleet@mail.example.com', 'Ana+Fleet@mail.example.com'],
  ['no address', 'no address'],
])('mail to %s goes to %s', (address, written) => {
  expect(mailAddress(address)).toBe(written)
})

test('each of the 249 countries has a unique alpha-2 code, alpha-3 code and name', () => {
  expect(Object.keys(COUNTRIES)).toHaveLength(249)
  expect(new Set(Object.values(COUNTRIES)).size).toBe(249)
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const found = letters.flatMap((a) =>
    letters.flatMap((b) => letters.flatMap((c) => countryCode(a + b + c) ?? [])),
  )
  expect(new Set(found)).toEqual(new Set(Object.keys(COUNTRIES)))
  expect([
    countryCode('PRT'),
    countryCode('pt'),
    countryCode('UK'),
    countryCode('XK'),
    countryCode(''),
  ]).toEqual(['PT', 'PT', null, null, null])
})

test('every listed time zone is valid for a user and has a long name', () => {
  const zones = Object.entries(timeZoneNames(Date.UTC(2026, 6, 1)))
  expect(zones.filter(([zone, name]) => !isTimeZone(zone) || name === zone || name === '')).toEqual(
    [],
  )
  expect(zones.length).toBeGreaterThan(440)
})

test('a bound key grants what both the key and its user grant', () => {
  expect(intersectScopes(['admin'], ['read'])).toEqual(['read'])
  expect(intersectScopes(['admin'], ['write'])).toEqual(['ingest', 'read', 'write'])
  expect(intersectScopes(['ingest'], ['admin'])).toEqual(['ingest'])
  expect(intersectScopes(['ingest'], ['read'])).toEqual([])
  expect(intersectScopes(['admin'], [])).toEqual([])
})

test('a user can act from `from` (inclusive) until `expires` (exclusive)', () => {
  const period = { disabled: false, from: 10, expires: 20 }
  expect([9, 10, 19, 20].map((now) => canAct(period, now))).toEqual([false, true, true, false])
  expect(canAct({ ...period, disabled: true }, 15)).toBe(false)
  expect(canAct({ disabled: false, from: null, expires: null }, 0)).toBe(true)
})

test('the difference of two sets lists what to add and what to remove', () => {
  expect(difference(['a', 'b', 'c'], ['c', 'd', 'a', 'd'])).toEqual({
    added: ['d'],
    removed: ['b'],
  })
})
