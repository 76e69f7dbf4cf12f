import { type Day, dayStart, localDay } from './day.ts'

/** When a device ends: the day that its expiration date begins, or null for a device without an end. */
export type Ends = Day | null

export interface Licenses {
  total: number
  used: number
}

/** The account's day never runs back with the clock: what has expired stays so. */
export const currentDay = (account: { day: Day; timeZone: string }, now: number): Day => {
  const today = localDay(now, account.timeZone)
  if (today > account.day) return today
  return account.day
}

export const hasEnded = (ends: Ends, today: Day): boolean => ends !== null && ends <= today

export const endsOf = (limits: { expires: boolean; expirationDate: Day | null }): Ends =>
  limits.expires ? limits.expirationDate : null

/** True also where an operator has set the total below what is in use: nothing more is granted until enough are free. */
export const mayGrant = (licenses: Licenses, wanted = 1): boolean =>
  licenses.used + wanted <= licenses.total

export const available = (licenses: Licenses): number => Math.max(0, licenses.total - licenses.used)

/** The instant at which a license frees itself, given how many end on which coming day (ascending), or null. */
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
