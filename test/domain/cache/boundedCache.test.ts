import { expect, test } from 'vitest'
import { BoundedCache } from '../../../src/domain/cache/boundedCache.ts'

const entry = (bytes: number) => ({ bytes })

test('evicts the oldest entries until the rest fits', () => {
  const cache = new BoundedCache<{ bytes: number }>(10, ({ bytes }) => bytes)
  for (const [key, bytes] of [
    ['a', 4],
    ['b', 4],
    ['c', 2],
  ] as const)
    cache.set(key, entry(bytes))
  expect(cache.size).toBe(10)
  cache.set('d', entry(5))
  expect([cache.get('a'), cache.get('b'), cache.size]).toEqual([undefined, undefined, 7])
  expect(cache.get('c')).toEqual(entry(2))
})

test('an entry that is set again counts once, and one that is too large is not kept', () => {
  const cache = new BoundedCache<{ bytes: number }>(10, ({ bytes }) => bytes)
  cache.set('a', entry(6))
  cache.set('a', entry(8))
  expect(cache.size).toBe(8)
  cache.set('b', entry(11))
  expect([cache.get('b'), cache.size]).toEqual([undefined, 0])
  cache.delete('nobody')
  expect(cache.size).toBe(0)
})

test('entries beyond the share of their owner evict none of others', () => {
  const cache = new BoundedCache<string>(10, () => 1, { maxSize: 4, ownerOf: (value) => value })
  for (let at = 0; at < 5; at++) cache.set(`b${at}`, 'b')
  cache.set('c', 'c')
  for (let at = 0; at < 20; at++) cache.set(`a${at}`, 'a')
  const kept = (name: string) => Array.from({ length: 20 }, (_, at) => cache.get(`${name}${at}`))
  expect(kept('b').filter(Boolean)).toHaveLength(4)
  expect(kept('a').flatMap((value, at) => (value ? [at] : []))).toEqual([16, 17, 18, 19])
  expect([cache.get('c'), cache.size]).toEqual(['c', 9])
  for (let at = 0; at < 5; at++) cache.set(`d${at}`, 'd')
  expect([cache.get('b1'), cache.get('c'), cache.size]).toEqual([undefined, 'c', 10])
})
