import { expect, test } from 'vitest'
import { hasLink, withoutLinks } from '../../../src/domain/text/links.ts'

test.each([
  'Win https://evil.example/prize now',
  'HTTP://EVIL.EXAMPLE',
  'see www.evil.example',
  'WWW.evil',
  'evil.example/prize',
  'a.b-c.evil.example/',
  'пример.рф/приз',
])('a name with a link: %s', (name) => {
  expect(hasLink(name)).toBe(true)
  expect(withoutLinks(name)).not.toMatch(/:\/\/|www\.|\.\p{L}/iu)
})

test.each([
  'Demo Shipping',
  'Booking.com',
  'St. Clair / Tern',
  'v1.2/3',
  'A/B',
  'Ana M. Sousa',
  'awww. nice',
])('a name without: %s', (name) => {
  expect(hasLink(name)).toBe(false)
})

test('a host’s name in a mail is no link', () => {
  expect(withoutLinks('Win at evil.example now')).toBe('Win at evil. example now')
  expect(withoutLinks('Tern 7.5, No.7')).toBe('Tern 7.5, No.7')
})
