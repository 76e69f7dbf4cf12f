import { addDays, type Day, dayStart, localDay } from '../domain/time/day.ts'
import type { Slices } from '../http/admission/slices.ts'
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

const QUARTER_MS = 900_000

/** As `localDay`, which takes microseconds, for times in order: most quarters are in one day. */
const dayFinder = (timeZone: string): ((time: number) => Day) => {
  let known = { quarter: Number.NaN, day: '' }
  return (time) => {
    const quarter = Math.floor(time / QUARTER_MS)
    if (quarter === known.quarter) return known.day
    const start = quarter * QUARTER_MS
    const day = localDay(start, timeZone)
    if (localDay(start + QUARTER_MS - 1, timeZone) !== day) return localDay(time, timeZone)
    known = { quarter, day }
    return day
  }
}

/** Splits a leg at the midnights in it, in proportion to its time. */
const splitByDay = (
  [from, to]: [number, number],
  findDay: (time: number) => Day,
  timeZone: string,
): [Day, number][] => {
  const parts: [Day, number][] = []
  let day = findDay(from)
  const last = findDay(to)
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
export const summarizeDays = async (
  fixes: readonly TripFix[],
  trips: readonly Trip[],
  timeZone: string,
  slices: Slices,
): Promise<DaySummary[]> => {
  const findDay = dayFinder(timeZone)
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
    const day = dayOf(findDay(time))
    day.locations++
    noteSpeed(day, speed)
    const turn = slices.spend(1)
    if (turn) await turn
  }
  for (const { first, last } of trips) {
    const start = fixes[first]
    if (start) dayOf(findDay(start.time)).trips++
    for (let index = first + 1; index <= last; index++) {
      const [before, fix] = [fixes[index - 1] as TripFix, fixes[index] as TripFix]
      const [metres, ms] = [legMetres(before, fix), fix.time - before.time]
      for (const [date, part] of splitByDay([before.time, fix.time], findDay, timeZone)) {
        const day = dayOf(date)
        day.distance += ms > 0 ? (metres * part) / ms : 0
        day.movingMs += part
        if (!hasSpeeds) noteSpeed(day, speedOf(metres, ms))
      }
      const turn = slices.spend(2)
      if (turn) await turn
    }
  }
  return [...days.values()].sort((a, b) => (a.date < b.date ? -1 : 1))
}
