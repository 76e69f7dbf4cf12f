import { expect, test } from 'vitest'
import { dayIn } from '../../../../console/format/time.ts'
import { addMonths, daysOfMonth, monthName } from '../../../../console/pages/licenses/month.ts'

test('a month has its days once, in weeks that begin on Monday', () => {
  const weeks = daysOfMonth('2026-11')
  expect(weeks[0]).toEqual([null, null, null, null, null, null, '2026-11-01'])
  expect(weeks.every((week) => week.length === 7)).toBe(true)
  expect(weeks.flat().filter((day) => day !== null)).toHaveLength(30)
  expect(daysOfMonth('2024-02').flat()).toContain('2024-02-29')
})

test('months are counted across years', () => {
  expect(addMonths('2026-12', 1)).toBe('2027-01')
  expect(addMonths('2027-01', -1)).toBe('2026-12')
  expect(monthName('2027-01')).toBe('January 2027')
})

test('today is the date of the zone', () => {
  expect(dayIn('UTC')).toBe(new Date().toISOString().slice(0, 10))
})
