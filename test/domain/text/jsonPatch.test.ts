import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyJsonPatch, type PatchStep } from '../../../src/domain/text/jsonPatch.ts'
import { cpuTimeMs } from '../../support/cpuTime.ts'

const outcome = (document: unknown, ...steps: PatchStep[]) => {
  const given = JSON.stringify(document)
  const applied = applyJsonPatch(document, steps)
  expect(JSON.stringify(document), 'the input is not changed').toBe(given)
  return applied.ok ? applied.document : applied.refusal
}
const NO_PATH = 'no-such-path'

describe('add', () => {
  test('adds or replaces a member', () => {
    expect(outcome({ a: 1 }, { op: 'add', path: '/b', value: 2 })).toEqual({ a: 1, b: 2 })
    expect(outcome({ a: 1 }, { op: 'add', path: '/a', value: null })).toEqual({ a: null })
    expect(outcome({ a: {} }, { op: 'add', path: '/a/b', value: { c: [] } })).toEqual({
      a: { b: { c: [] } },
    })
    expect(outcome({ a: 1 }, { op: 'add', path: '', value: [7] })).toEqual([7])
  })

  test('inserts an item at its index, or at the end', () => {
    expect(outcome({ list: ['a', 'b'] }, { op: 'add', path: '/list/1', value: 'x' })).toEqual({
      list: ['a', 'x', 'b'],
    })
    expect(outcome({ list: ['a'] }, { op: 'add', path: '/list/-', value: ['b'] })).toEqual({
      list: ['a', ['b']],
    })
    expect(outcome({ list: ['a'] }, { op: 'add', path: '/list/1', value: 'b' })).toEqual({
      list: ['a', 'b'],
    })
  })

  test('needs an existing parent and a valid index', () => {
    expect(outcome({ a: 1 }, { op: 'add', path: '/b/c', value: 1 })).toBe(NO_PATH)
    expect(outcome({ a: 'text' }, { op: 'add', path: '/a/0', value: 1 })).toBe(NO_PATH)
    for (const index of [
      '2',
      '-1',
      '01',
      '1e0',
      'length',
      '',
      '0x0',
      ' 0',
      '99999999999999999999',
    ]) {
      expect(outcome({ list: ['a'] }, { op: 'add', path: `/list/${index}`, value: 1 }), index).toBe(
        NO_PATH,
      )
    }
  })
})

describe('remove and replace', () => {
  test('change an existing value', () => {
    expect(outcome({ a: 1, b: 2 }, { op: 'remove', path: '/b' })).toEqual({ a: 1 })
    expect(outcome({ list: ['a', 'b', 'c'] }, { op: 'remove', path: '/list/1' })).toEqual({
      list: ['a', 'c'],
    })
    expect(outcome({ a: 1, b: 2 }, { op: 'replace', path: '/b', value: 'x' })).toEqual({
      a: 1,
      b: 'x',
    })
    expect(outcome({ list: ['a', 'b'] }, { op: 'replace', path: '/list/1', value: 'x' })).toEqual({
      list: ['a', 'x'],
    })
    expect(outcome({ a: 1 }, { op: 'replace', path: '', value: { b: 2 } })).toEqual({ b: 2 })
  })

  test('refuse a path that does not exist', () => {
    for (const path of [
      '/b',
      '/a/b',
      '/list/1',
      '/list/-',
      '/toString',
      '/list/length',
      '/__proto__',
      '/constructor',
    ]) {
      expect(outcome({ a: 1, list: ['a'] }, { op: 'remove', path }), path).toBe(NO_PATH)
      expect(outcome({ a: 1, list: ['a'] }, { op: 'replace', path, value: 1 }), path).toBe(NO_PATH)
    }
  })
})

describe('move and copy', () => {
  test('put a value at another path', () => {
    const document = { from: { waldo: 'fred', bar: 'baz' }, to: {} }
    expect(outcome(document, { op: 'move', from: '/from/waldo', path: '/to/thud' })).toEqual({
      from: { bar: 'baz' },
      to: { thud: 'fred' },
    })
    expect(
      outcome({ list: ['a', 'b', 'c'] }, { op: 'move', from: '/list/0', path: '/list/2' }),
    ).toEqual({ list: ['b', 'c', 'a'] })
    expect(outcome({ a: { b: 1 } }, { op: 'move', from: '/a/b', path: '/a' })).toEqual({ a: 1 })
    expect(outcome({ a: 1 }, { op: 'move', from: '/a', path: '/a' })).toEqual({ a: 1 })
    expect(outcome({ a: [1] }, { op: 'copy', from: '/a', path: '/a/-' })).toEqual({ a: [1, [1]] })
  })

  test('a copy is independent of its source', () => {
    expect(
      outcome(
        { a: { x: 1 } },
        { op: 'copy', from: '/a', path: '/b' },
        { op: 'replace', path: '/b/x', value: 2 },
      ),
    ).toEqual({
      a: { x: 1 },
      b: { x: 2 },
    })
  })

  test('refuse a move into itself and a source that does not exist', () => {
    expect(outcome({ a: { b: {} } }, { op: 'move', from: '/a', path: '/a/b/c' })).toBe(NO_PATH)
    expect(outcome({ a: 1 }, { op: 'move', from: '/b', path: '/b' })).toBe(NO_PATH)
    expect(outcome({ a: 1 }, { op: 'copy', from: '/b', path: '/c' })).toBe(NO_PATH)
    expect(outcome({ a: 1 }, { op: 'copy', from: '/a', path: '/b/c' })).toBe(NO_PATH)
    expect(outcome({ ab: 1, a: 2 }, { op: 'move', from: '/a', path: '/ab' })).toEqual({ ab: 2 })
  })
})

describe('test', () => {
  test('passes if the values are equal, in any order of members', () => {
    const document = { a: { x: 1, y: [1, 'two', null] }, n: 0 }
    expect(
      outcome(document, { op: 'test', path: '/a', value: { y: [1, 'two', null], x: 1 } }),
    ).toEqual(document)
    expect(outcome(document, { op: 'test', path: '/n', value: -0 })).toEqual(document)
    for (const value of [
      { x: 1 },
      { x: 1, y: ['two', 1, null] },
      { x: '1', y: [1, 'two', null] },
      null,
      [],
    ]) {
      expect(outcome(document, { op: 'test', path: '/a', value })).toBe('test-failed')
    }
    expect(outcome({ a: '10' }, { op: 'test', path: '/a', value: 10 })).toBe('test-failed')
  })

  test('fails if the path does not exist', () => {
    expect(outcome({ a: 1 }, { op: 'test', path: '/b', value: null })).toBe('test-failed')
    expect(outcome({ a: 1 }, { op: 'test', path: '/b/c', value: 1 })).toBe('test-failed')
    expect(outcome({ a: [1] }, { op: 'test', path: '/a/-', value: 1 })).toBe('test-failed')
  })
})

test('pointers are unescaped once', () => {
  const document = { 'a/b': 1, 'c~d': 2, '': 3, '~1': 4, ' ': 5 }
  for (const [path, value] of [
    ['/a~1b', 1],
    ['/c~0d', 2],
    ['/', 3],
    ['/~01', 4],
    ['/ ', 5],
  ] as const) {
    expect(outcome(document, { op: 'test', path, value })).toEqual(document)
  }
})

test('all steps are applied in order, or none, and the first that fails is named', () => {
  const steps: PatchStep[] = [
    { op: 'add', path: '/b', value: [] },
    { op: 'add', path: '/b/-', value: 1 },
    { op: 'test', path: '/b/0', value: 2 },
    { op: 'remove', path: '/nothing' },
  ]
  expect(applyJsonPatch({ a: 1 }, steps)).toEqual({ ok: false, step: 2, refusal: 'test-failed' })
  expect(outcome({ a: 1 }, ...steps.slice(0, 2))).toEqual({ a: 1, b: [1] })
  expect(outcome({ a: 1 })).toEqual({ a: 1 })
})

test('`__proto__` and `constructor` are members like any other', () => {
  const made = applyJsonPatch({}, [
    { op: 'add', path: '/__proto__', value: { polluted: true } },
    { op: 'add', path: '/constructor', value: 1 },
  ])
  if (!made.ok) throw new Error(made.refusal)
  expect(Object.keys(made.document as object)).toEqual(['__proto__', 'constructor'])
  expect(Object.getPrototypeOf(made.document)).toBe(Object.prototype)
  expect(({} as { polluted?: true }).polluted).toBeUndefined()
})

test('copies of more than 1 MiB in total are refused, and many small ones are fast', () => {
  const doubling = Array.from(
    { length: 40 },
    (): PatchStep => ({ op: 'copy', from: '', path: '/-' }),
  )
  expect(outcome([['x'.repeat(100)]], ...doubling)).toBe('too-large')
  const small = Array.from(
    { length: 20_000 },
    (): PatchStep => ({ op: 'copy', from: '/a', path: '/b' }),
  )
  let patched: unknown
  const copy = () => {
    patched = outcome({ a: 1, large: 'x'.repeat(900_000) }, ...small)
  }
  expect(cpuTimeMs(copy)).toBeLessThan(2_000)
  expect(patched).toMatchObject({ a: 1, b: 1 })
})

test('add followed by remove restores the document', () => {
  const name = fc.string({ minLength: 1 }).filter((text) => text !== '__proto__')
  fc.assert(
    fc.property(
      fc.dictionary(name, fc.jsonValue()),
      name,
      fc.jsonValue(),
      (document, key, value) => {
        fc.pre(!Object.hasOwn(document, key))
        const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
        expect(
          outcome(
            document,
            { op: 'add', path, value },
            { op: 'test', path, value },
            { op: 'remove', path },
          ),
        ).toEqual(document)
      },
    ),
  )
})
