import { iso } from '../domain/time/iso.ts'
import type { DaySummary } from './tripSummary.ts'
import { type Stop, speedOf, type Trip, type TripFix } from './trips.ts'

const round = (value: number): number => Math.round(value * 10) / 10
const roundOrNull = (value: number | null): number | null => (value === null ? null : round(value))

const presentPlace = ({ time, latitude, longitude }: TripFix) => ({
  dateTime: iso(time),
  latitude,
  longitude,
})

export const presentTrip = (fixes: TripFix[], { first, last, distance, topSpeed }: Trip) => {
  const [start, end] = [fixes[first] as TripFix, fixes[last] as TripFix]
  const ms = end.time - start.time
  return {
    start: presentPlace(start),
    end: presentPlace(end),
    distance: round(distance),
    duration: ms / 1000,
    topSpeed: roundOrNull(topSpeed),
    meanSpeed: roundOrNull(speedOf(distance, ms)),
    locations: last - first + 1,
  }
}

export const presentStop = (fixes: TripFix[], { first, last }: Stop) => {
  const [start, end] = [fixes[first] as TripFix, fixes[last] as TripFix]
  return {
    start: iso(start.time),
    end: iso(end.time),
    duration: (end.time - start.time) / 1000,
    latitude: start.latitude,
    longitude: start.longitude,
    locations: last - first + 1,
  }
}

export const presentDay = (summary: DaySummary) => {
  const { date, locations, trips, distance, movingMs, topSpeed } = summary
  return {
    date,
    locations,
    trips,
    distance: round(distance),
    movingSeconds: movingMs / 1000,
    topSpeed: roundOrNull(topSpeed),
    meanSpeed: roundOrNull(speedOf(distance, movingMs)),
  }
}
