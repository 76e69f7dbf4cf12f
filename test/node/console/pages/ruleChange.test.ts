import { expect, test } from 'vitest'
import { isBeforeChange } from '../../../../console/pages/rules/lastChange.ts'
import { later } from '../../../../console/text/later.ts'

const lastModified = '2026-11-14T08:00:00.000Z'

test.each([
  [true, '2026-11-14T08:00:00.000Z', false],
  [true, '2026-11-14T09:00:00.000Z', false],
  // A zone of the rule was changed later than the rule.
  [false, '2026-11-14T09:00:00.000Z', true],
  // The rule was switched on after it was tried.
  [true, '2026-11-14T07:59:59.999Z', true],
])(
  'an alert with sinceChange %s at %s is before the last change: %s',
  (sinceChange, dateTime, is) => {
    expect(isBeforeChange({ sinceChange, dateTime }, { lastModified })).toBe(is)
  },
)

test('how many are before it is said in words', () => {
  const said = ([count, all]: [number, number]) => later.rules.triedBefore(count, all)
  const rest = ' from before the last change: live, the rule raises nothing there.'
  expect(said([1, 1])).toBe(`It is${rest}`)
  expect(said([3, 3])).toBe(`All are${rest}`)
  expect(said([1, 3])).toBe(`1 of them is${rest}`)
  expect(said([2, 3])).toBe(`2 of them are${rest}`)
})
