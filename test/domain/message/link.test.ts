import { expect, test } from 'vitest'
import {
  cellOfLink,
  LINK_BYTES,
  LINK_MARK,
  makeLink,
  redactLink,
} from '../../../src/domain/message/link.ts'

const random = () => crypto.getRandomValues(new Uint8Array(LINK_BYTES))

test('a link has 16 characters, the cell first, and no two are the same', () => {
  const links = Array.from({ length: 1000 }, () => makeLink(37, random()))
  for (const link of links) {
    expect(link).toMatch(/^15[0-9a-z]{14}$/)
    expect(cellOfLink(link)).toBe(37)
  }
  expect(new Set(links).size).toBe(links.length)
  expect(cellOfLink(makeLink(0, random()))).toBe(0)
  expect(cellOfLink(makeLink(1023, random()))).toBe(1023)
})

test('every random bit is used: the last character varies', () => {
  const last = new Set(Array.from({ length: 2000 }, () => makeLink(0, random()).at(-1)))
  expect(last.size).toBe(32)
})

test.each(['', '0', '00aaaaaaaaaaaa', `${'0'.repeat(17)}`, '00AAAAAAAAAAAAAA', '00aaaaaaaaaaaaa…'])(
  '%j is no link',
  (text) => {
    expect(cellOfLink(text)).toBeNull()
  },
)

test('a stored text shows no link', () => {
  expect(redactLink(`Open https://perigee.example/a/${LINK_MARK}\n`)).toBe(
    'Open https://perigee.example/a/…\n',
  )
})
