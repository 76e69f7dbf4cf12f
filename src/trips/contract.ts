import * as z from 'zod'
import { MAX_SPAN_LOCATIONS } from '../domain/track/location.ts'
import { define } from '../http/contract/contract.ts'
import { day, instantInUrl, success, time } from '../http/contract/wire.ts'
import { isInOrder, OUT_OF_ORDER } from '../http/paging/rangeQuery.ts'
import { MAX_ACCURACY_METRES } from './trips.ts'

const tag = 'Trips'
const MAX_DAYS = 31
/** An hour more: a month may have a day of 25 hours. */
const MAX_SPAN_MS = MAX_DAYS * 86_400_000 + 3_600_000

const query = z
  .strictObject({
    from: instantInUrl.meta({ description: 'The beginning of the span, included.' }),
    to: instantInUrl.meta({
      description: `The end of the span, included, at most ${MAX_DAYS} days after its beginning.`,
    }),
  })
  .refine(isInOrder, OUT_OF_ORDER)
  .refine(
    ({ from, to }) =>
      typeof from !== 'number' || typeof to !== 'number' || to - from <= MAX_SPAN_MS,
    { error: `must be at most ${MAX_DAYS} days after from`, path: ['to'] },
  )

const metres = z.number().meta({ description: 'Metres along the ellipsoid.', example: 18_250 })
const seconds = z.number().meta({ description: 'Seconds from start to end.', example: 1860 })
const topSpeed = z.number().nullable().meta({
  description:
    'km/h: the fastest reported speed or, where none was reported, that of the fastest leg.',
  example: 42.5,
})
const meanSpeed = z
  .number()
  .nullable()
  .meta({ description: 'km/h: distance by time.', example: 35.3 })
const latitude = z.number().meta({ description: 'Degrees, WGS 84.', example: 38.7223 })
const longitude = z.number().meta({ description: 'Degrees, WGS 84.', example: -9.1393 })

const place = z
  .object({
    dateTime: time.meta({ description: 'The time of the location.' }),
    latitude,
    longitude,
  })
  .meta({ id: 'TripPlace' })

export const trip = z
  .object({
    start: place.meta({ description: 'Where and when the trip began.' }),
    end: place.meta({ description: 'Where and when it ended, or the span does.' }),
    distance: metres,
    duration: seconds,
    topSpeed,
    meanSpeed,
    locations: z.int().meta({ description: 'How many locations it has.', example: 32 }),
  })
  .meta({ id: 'Trip' })

export const stop = z
  .object({
    start: time.meta({ description: 'When the device came to the place.' }),
    end: time.meta({ description: 'When it was last there.' }),
    duration: seconds,
    latitude,
    longitude,
    locations: z.int().meta({ description: 'How many locations it has.', example: 12 }),
  })
  .meta({ id: 'Stop' })

export const daySummary = z
  .object({
    date: day.meta({ description: 'The calendar day in the account’s time zone.' }),
    locations: z.int().meta({ description: 'How many locations it has.', example: 144 }),
    trips: z.int().meta({ description: 'How many trips began on the day.', example: 3 }),
    distance: metres,
    movingSeconds: z.number().meta({ description: 'Seconds on trips.', example: 7200 }),
    topSpeed,
    meanSpeed,
  })
  .meta({ id: 'DaySummary' })

const ABOUT = `At most ${MAX_DAYS} days and ${MAX_SPAN_LOCATIONS.toLocaleString('en')} locations. Locations with an accuracy worse than ${MAX_ACCURACY_METRES} m are left out; those with one worse than 100 m decide no stop and count only where they are surely away from the others. Nothing is stored: what arrives late changes the reply. Trips and stops are cut off at the ends of the span.`
const problems = ['device-not-found', 'span-too-large'] as const

export const listTrips = define({
  id: 'listTrips',
  tag,
  summary: 'List a device’s trips',
  description: `A trip is the way between two stops, where the device stays within 100 m for five minutes or longer. ${ABOUT}`,
  scope: 'read',
  query,
  reply: z.object({ success, trips: z.array(trip) }),
  problems,
})

export const listStops = define({
  id: 'listStops',
  tag,
  summary: 'List a device’s stops',
  description: `A stop is where the device stays within 100 m for five minutes or longer. ${ABOUT}`,
  scope: 'read',
  query,
  reply: z.object({ success, stops: z.array(stop) }),
  problems,
})

export const readSummary = define({
  id: 'readSummary',
  tag,
  summary: 'Read a device’s days',
  description: `Distance, time and speed for each calendar day, in the account’s time zone, that has locations or a part of a trip. ${ABOUT}`,
  scope: 'read',
  query,
  reply: z.object({ success, days: z.array(daySummary) }),
  problems,
})
