import { describe, expect, test } from 'vitest'
import { stepsOf, wholeTargets } from '../../../../console/api/changes.ts'
import { applyJsonPatch } from '../../../../src/domain/text/jsonPatch.ts'

type Json = Record<string, unknown>

/** What is stored once the changes of a form are applied to what is stored now. */
const save = (before: Json, after: Json, current: Json, whole: string[] = []) =>
  applyJsonPatch(current, stepsOf(before, after, current, { whole }))

const stored = (document: Json) => ({ ok: true, document })

describe('the changes of a form', () => {
  test('leave what another editor has added to and removed from a list', () => {
    const before = { name: 'North', devices: ['a', 'b', 'c'] }
    const after = { name: 'North', devices: ['b', 'c', 'd'] }
    const current = { name: 'South', devices: ['a', 'c', 'e'] }
    const saved = save(before, after, current)
    expect(saved).toEqual(stored({ name: 'South', devices: ['c', 'e', 'd'] }))
    // Repeated, since the first reply was lost: nothing is left to do.
    expect(stepsOf(before, after, { name: 'South', devices: ['c', 'e', 'd'] })).toEqual([])
  })

  test('are no more than what changed', () => {
    const many = Array.from({ length: 10_000 }, (_, at) => `dev_${at}`)
    const steps = stepsOf({ devices: many }, { devices: many.slice(1) }, { devices: many })
    expect(steps).toEqual([{ op: 'remove', path: '/devices/0' }])
  })

  test('keep the order of a list that nobody else has changed', () => {
    const [ann, bob, eve] = [{ name: 'Ann' }, { name: 'Bob' }, { name: 'Eve' }]
    const after = { list: [{ name: 'Anna' }, bob, { name: 'Cid' }, eve] }
    expect(save({ list: [ann, bob, eve] }, after, { list: [ann, bob, eve] })).toEqual(stored(after))
  })

  test('reorder a list, and keep what another editor has changed in it', () => {
    const [before, after] = [{ list: ['a', 'b', 'c'] }, { list: ['c', 'a', 'd', 'b'] }]
    expect(save(before, after, before)).toEqual(stored(after))
    expect(stepsOf(before, after, after)).toEqual([])
    const merged = { list: ['c', 'd', 'b', 'e'] }
    expect(save(before, after, { list: ['b', 'c', 'e'] })).toEqual(stored(merged))
    expect(stepsOf(before, after, merged)).toEqual([])
  })

  test.each([
    [['a'], ['a', 'a']],
    [
      ['a', 'b', 'a'],
      ['a', 'b'],
    ],
    [
      ['a', 'b', 'a'],
      ['b', 'a'],
    ],
    [['b', 'a', 'a'], ['a']],
  ])('count equal entries: %j becomes %j', (before, after) => {
    expect(save({ list: before }, { list: after }, { list: before })).toEqual(
      stored({ list: after }),
    )
    expect(stepsOf({ list: before }, { list: after }, { list: after })).toEqual([])
  })

  test('go into objects, and remove their members', () => {
    const before = { tags: { 'a/b': '1', c: '2' }, limit: null }
    const after = { tags: { c: '3' }, limit: { email: 5 } }
    const current = { tags: { 'a/b': '1', c: '2', d: '4' }, limit: null }
    expect(save(before, after, current)).toEqual(
      stored({ tags: { c: '3', d: '4' }, limit: { email: 5 } }),
    )
  })

  test('replace what must not be mixed', () => {
    const before = { when: { type: 'speed', above: 5 } }
    const current = { when: { type: 'speed', above: 9 } }
    const after = { when: { type: 'speed', below: 5 } }
    expect(save(before, after, current, ['when'])).toEqual(stored(after))
  })

  test('never empty targets that somebody chose: without any, all devices would be meant', () => {
    const before = { devices: ['a', 'b'], groups: [] }
    const wholeFor = (devices: string[], current: string[]) =>
      wholeTargets(before, { devices, groups: [] }, { devices: current, groups: [] })
    expect(wholeFor(['b'], ['a'])).toEqual(['devices', 'groups'])
    expect(wholeFor(['b'], ['b', 'c'])).toEqual([])
    expect(wholeFor(['x'], ['c'])).toEqual([])
    // Somebody else has chosen all devices.
    expect(wholeFor(['a', 'b', 'c'], [])).toEqual(['devices', 'groups'])
    // All devices were chosen.
    expect(wholeFor([], ['c'])).toEqual(['devices', 'groups'])
  })
})
