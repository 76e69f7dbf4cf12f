import { expect, test } from 'vitest'
import { hasLink, withoutLinks } from '../../../src/domain/text/links.ts'

/** A host's name or an IPv4 address, in whatever form of letters and dots. */
const HOST = /:\/\/|www\.|\S[.。．｡]\p{Cf}*\p{L}\p{Cf}*[\p{L}\p{M}]|\d\.\d\.\d\.\d/iu

test.each([
  'Win https://evil.example/prize now',
  'HTTP://EVIL.EXAMPLE',
  'see www.evil.example',
  'WWW.evil',
  'ｗｗｗ．evil.example',
  'ht\u{ad}tps:/\u{200b}/evil.example',
])('a name with a link: %s', (name) => {
  expect(hasLink(name)).toBe(true)
  expect(withoutLinks(name)).not.toMatch(HOST)
})

test.each([
  'Demo Shipping',
  'Booking.com',
  'St. Clair / Tern',
  'v1.2/3',
  'A/B',
  'Ana M. Sousa',
  'awww. nice',
  'Müller GmbH & Co.KG/Lager',
  'Dr.Smith/Jones',
  'v2.beta/test',
])('a name without: %s', (name) => {
  expect(hasLink(name)).toBe(false)
})

test.each([
  'evil.example/prize',
  'a.b-c.evil.example/',
  'пример.рф/приз',
  'cafe\u{301}.com/x',
  '💩.la/x',
  'evil。com/win',
  'evil．com/x',
  'evil.c\u{ad}om/x',
  '1.2.3.4/x',
  'evil_.com/x',
  'उदाहरण.भारत/x',
])('what a mail client may make a link of is spaced out: %s', (name) => {
  expect(withoutLinks(name)).not.toMatch(HOST)
})

test('a host’s name in a mail is no link, and other names stay as they are', () => {
  expect(withoutLinks('Win at evil.example now')).toBe('Win at evil. example now')
  expect(withoutLinks('Müller GmbH & Co.KG/Lager')).toBe('Müller GmbH & Co. KG/Lager')
  for (const name of ['Tern 7.5, No.7', 'v1.2/3', 'Tern™ 👨‍👩‍👧', 'Cafe\u{301}'])
    expect(withoutLinks(name)).toBe(name)
})
