import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapePointer, mergePatch, sameJson } from '../../../src/domain/text/json.ts'

/** The cases of RFC 7396: target, patch, result. */
const CASES: [unknown, unknown, unknown][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]

test.each(CASES)('%j patched with %j is %j', (target, patch, result) => {
  const given = JSON.stringify([target, patch])
  expect(mergePatch(target, patch)).toEqual(result)
  expect(JSON.stringify([target, patch])).toBe(given)
})

test('`__proto__` and `constructor` become plain members and change no prototype', () => {
  const patch = JSON.parse(
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  )
  const result = mergePatch({}, patch) as object
  expect(Object.keys(result)).toEqual(['__proto__', 'constructor'])
  expect(Object.getPrototypeOf(result)).toBe(Object.prototype)
  expect(({} as { polluted?: true }).polluted).toBeUndefined()
})

test('applying a patch twice is the same as applying it once', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
      const once = mergePatch(target, patch)
      expect(mergePatch(once, patch)).toEqual(once)
    }),
  )
})

test('values are the same if their JSON is, in any order of members', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, shuffled(member)]),
    )
  }
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) =>
      sameJson(value, shuffled(value)),
    ),
  )
  for (const [a, b] of [
    [1, '1'],
    [null, undefined],
    [[], {}],
    [{ a: undefined }, {}],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { a: 1, b: 2 }],
    [
      { a: 1, b: 2 },
      { a: 1, c: 2 },
    ],
    [{ toString: 1 }, {}],
  ]) {
    expect(sameJson(a, b), JSON.stringify([a, b])).toBe(false)
    expect(sameJson(b, a), JSON.stringify([b, a])).toBe(false)
  }
})

test('a name in a pointer is escaped, and an unpaired surrogate replaced', () => {
  expect(escapePointer('a/b~c')).toBe('a~1b~0c')
  expect(escapePointer('~1')).toBe('~01')
  expect(escapePointer('\ud800')).toBe('\ufffd')
})
