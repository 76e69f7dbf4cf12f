import { type Day, dayStart, localDay } from '../time/day.ts'

/** The day on which a device expires, or null if it never does. */
export type Ends = Day | null

export interface Licenses {
  total: number
  used: number
}

/** The account's day never goes back with the clock: an expired device stays expired. */
export const currentDay = (account: { day: Day; timeZone: string }, now: number): Day => {
  const today = localDay(now, account.timeZone)
  if (today > account.day) return today
  return account.day
}

export const hasEnded = (ends: Ends, today: Day): boolean => ends !== null && ends <= today

export const endsOf = (limits: { expires: boolean; expirationDate: Day | null }): Ends =>
  limits.expires ? limits.expirationDate : null

/**
 * False while more are in use than the total, which an operator may lower: nothing is granted until
 * enough are free.
 */
export const canGrant = (licenses: Licenses, wanted = 1): boolean =>
  licenses.used + wanted <= licenses.total

export const available = (licenses: Licenses): number => Math.max(0, licenses.total - licenses.used)

/** When the next license becomes free; null if never. `endings` are in the order of their days. */
export const availableAt = (
  licenses: Licenses,
  endings: Iterable<{ day: Day; count: number }>,
  timeZone: string,
): number | null => {
  if (licenses.total < 1) return null
  let used = licenses.used
  for (const { day, count } of endings) {
    used -= count
    if (used < licenses.total) return dayStart(day, timeZone)
  }
  return null
}
