import { addDays, type Day, dayStart, localDay } from '../domain/time/day.ts'
import { legMetres, speedOf, type Trip, type TripFix } from './trips.ts'

/* A track by calendar days. */

export interface DaySummary {
  date: Day
  locations: number
  trips: number
  distance: number
  movingMs: number
  topSpeed: number | null
}

/** Splits a leg at the midnights in it, in proportion to its time. */
const splitByDay = (from: number, to: number, timeZone: string): [Day, number][] => {
  const last = localDay(to, timeZone)
  const parts: [Day, number][] = []
  let day = localDay(from, timeZone)
  let start = from
  while (day < last) {
    const next = addDays(day, 1)
    const end = Math.min(to, dayStart(next, timeZone))
    if (end > start) parts.push([day, end - start])
    start = end
    day = next
  }
  parts.push([last, to - start])
  return parts
}

/** One entry for each day that has a fix or a part of a trip. */
export const summarizeDays = (
  fixes: readonly TripFix[],
  trips: readonly Trip[],
  timeZone: string,
): DaySummary[] => {
  const days = new Map<Day, DaySummary>()
  const dayOf = (date: Day): DaySummary => {
    const known = days.get(date)
    if (known) return known
    const added = { date, locations: 0, trips: 0, distance: 0, movingMs: 0, topSpeed: null }
    days.set(date, added)
    return added
  }
  const noteSpeed = (day: DaySummary, speed: number | null) => {
    if (speed !== null) day.topSpeed = Math.max(day.topSpeed ?? 0, speed)
  }
  const hasSpeeds = fixes.some(({ speed }) => speed !== null)
  for (const { time, speed } of fixes) {
    const day = dayOf(localDay(time, timeZone))
    day.locations++
    noteSpeed(day, speed)
  }
  for (const { first, last } of trips) {
    const start = fixes[first]
    if (start) dayOf(localDay(start.time, timeZone)).trips++
    for (let index = first + 1; index <= last; index++) {
      const [before, fix] = [fixes[index - 1] as TripFix, fixes[index] as TripFix]
      const [metres, ms] = [legMetres(before, fix), fix.time - before.time]
      for (const [date, part] of splitByDay(before.time, fix.time, timeZone)) {
        const day = dayOf(date)
        day.distance += ms > 0 ? (metres * part) / ms : 0
        day.movingMs += part
        if (!hasSpeeds) noteSpeed(day, speedOf(metres, ms))
      }
    }
  }
  return [...days.values()].sort((a, b) => (a.date < b.date ? -1 : 1))
}
