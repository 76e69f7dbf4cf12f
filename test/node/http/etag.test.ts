import { expect, test } from 'vitest'
import { tagOf } from '../../../src/http/reply/etag.ts'

test('bodies that differ in one character have different tags', () => {
  const bodies = Array.from(
    { length: 20_000 },
    (_, index) => `{"name":"Tern ${index}","note":"é✓"}`,
  )
  const body = 'a'.repeat(300)
  for (let at = 0; at < body.length; at++)
    bodies.push(`${body.slice(0, at)}b${body.slice(at + 1)}`, body.slice(0, at))
  const tags = bodies.map((text) => tagOf(text, 1))
  expect(new Set(tags).size).toBe(bodies.length)
  for (const tag of tags) expect(tag).toMatch(/^"1\.[0-9a-z]{21}"$/)
})

test('the same body has the same tag, and a known second part is taken as it is', () => {
  expect(tagOf('{}', 7)).toBe(tagOf('{}', 7))
  expect(tagOf('{}', 7, 'x-y')).toBe('"7.x-y"')
})
