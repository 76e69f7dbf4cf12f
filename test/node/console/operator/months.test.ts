import { expect, test } from 'vitest'
import { nextCursorOf } from '../../../../console/operator/pages/nextCursor.ts'
import { lastDayOf, lastMonths, monthName } from '../../../../console/pages/licenses/month.ts'

test('the last months go back across the year', () => {
  expect(lastMonths('2027-02-28', 4)).toEqual(['2027-02', '2027-01', '2026-12', '2026-11'])
})

test('a month has its last day and its name', () => {
  expect(['2027-02', '2028-02', '2026-12'].map(lastDayOf)).toEqual([
    '2027-02-28',
    '2028-02-29',
    '2026-12-31',
  ])
  expect(monthName('2026-12')).toBe('December 2026')
})

test('the next page of a download is the one that the reply names', () => {
  const withLink = (Link: string) => new Response('', { headers: { Link } })
  const next = '</admin/usage?month=2026-10&cursor=a%2Bb&limit=1>; rel="next"'
  expect(nextCursorOf(withLink(next))).toBe('a+b')
  expect(nextCursorOf(withLink('</admin/usage?cursor=x>; rel="prev"'))).toBeNull()
  expect(nextCursorOf(new Response(''))).toBeNull()
})
