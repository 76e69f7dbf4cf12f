import * as z from 'zod'
import { iso } from '../domain/iso.ts'
import { isObject, type JsonObject } from '../domain/json.ts'
import {
  CODE_LISTS,
  FREE_LISTS,
  isPlausible,
  type Location,
  MAX_REPORT_LOCATIONS,
  MAX_SENSOR_TIME,
  MAX_SOURCE_LENGTH,
  NUMBERS,
  type NumberName,
  SENSOR_TIMES,
  TEXT_LISTS,
} from '../domain/location.ts'
import { MAX_ROWS, pageQuery } from '../http/page.ts'
import { freeForm } from '../http/validation.ts'
import { instant, time } from '../http/wire.ts'

/* What the quick reader in read.ts takes must be what `location` takes: a test holds one against the other. */

const number = (least: number, most: number) =>
  z
    .number('must be a number')
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`)
    .overwrite((value) => value + 0)

const numberNamed = (name: NumberName) =>
  number(NUMBERS[name].least, NUMBERS[name].most).meta({ description: NUMBERS[name].about })

const optionalNumbers = Object.fromEntries(
  (Object.keys(NUMBERS) as NumberName[])
    .filter((name) => name !== 'latitude' && name !== 'longitude')
    .map((name) => [name, numberNamed(name).optional()]),
) as { [N in Exclude<NumberName, 'latitude' | 'longitude'>]: z.ZodOptional<z.ZodNumber> }

const named = <const N extends string, T extends z.ZodType>(names: readonly N[], schema: T) =>
  Object.fromEntries(names.map((name) => [name, schema.optional()])) as {
    [K in N]: z.ZodOptional<T>
  }

const sensorTime = z
  .union([number(0, MAX_SENSOR_TIME), instant.transform(iso)], 'must be a number or a date-time')
  .meta({ description: 'A number, or a date-time, which is kept in UTC.' })
/** More would not fit into 8 KiB, and are not looked at one by one. */
const MAX_LISTED = 4096
const list = <T extends z.ZodType>(of: T, error: string) =>
  freeForm(z.array(of, error).max(MAX_LISTED, 'must not be larger than 8 KiB'))
const texts = list(z.string('must be text'), 'must be a list of texts')
const codes = list(
  z.union([z.string(), number(-1e15, 1e15)], 'must be text or a number'),
  'must be a list',
)
const anything = list(z.unknown(), 'must be a list')
const attributes = freeForm(z.unknown().refine(isObject, 'must be an object')) as z.ZodType<
  JsonObject,
  JsonObject
>

const fields = {
  ...optionalNumbers,
  ...named(SENSOR_TIMES, sensorTime),
  ...named(TEXT_LISTS, texts),
  ...named(CODE_LISTS, codes),
  hasCriticalAlert: z.boolean('must be true or false').optional(),
  attributes: attributes.meta({ type: 'object', description: 'Values of your own.' }).optional(),
  ...named(FREE_LISTS, anything),
  source: z
    .string('must be text')
    .min(1, 'must not be empty')
    .max(MAX_SOURCE_LENGTH, `must have at most ${MAX_SOURCE_LENGTH} characters`)
    .optional()
    .meta({ description: 'Where the fix came from: `gnss`, `network`, …', example: 'gnss' }),
}

export const newLocation = z
  .strictObject({
    dateTime: instant.refine(
      (at) => isPlausible(at, Date.now()),
      'must not be before 2000 nor more than 10 minutes in the future',
    ),
    latitude: numberNamed('latitude').meta({ example: 38.7223 }),
    longitude: numberNamed('longitude').meta({ example: -9.1393 }),
    ...fields,
    receivedAt: z
      .unknown()
      .optional()
      .meta({ description: 'Written by the server: accepted and ignored.' }),
  })
  .transform(({ receivedAt, ...location }) => location as Location)
  .meta({ id: 'NewLocation' })

export const location = z
  .object({
    dateTime: time,
    latitude: z.number(),
    longitude: z.number(),
    ...fields,
    ...named(SENSOR_TIMES, z.union([z.number(), time])),
    receivedAt: time,
  })
  .meta({ id: 'Location', description: 'What was not sent is left out.' })

const several = z
  .array(newLocation, 'must be a list of locations')
  .min(1, 'must not be empty')
  .max(MAX_REPORT_LOCATIONS, `must have at most ${MAX_REPORT_LOCATIONS} locations`)

const report = (locations: z.output<typeof newLocation>[]) => ({
  kind: 'report' as const,
  locations,
})
/** A location makes it a report even beside the members of a query. */
const beside = { from: z.unknown().optional(), to: z.unknown().optional() }

export const inOrder = { error: 'must not be after to', path: ['from'] }
export const isInOrder = ({ from, to }: { from?: number | undefined; to?: number | undefined }) =>
  from === undefined || to === undefined || from <= to

export const forms = {
  query: z
    .strictObject({
      from: instant.optional(),
      to: instant.optional(),
      limit: z
        .int('must be a whole number')
        .min(1, 'must be at least 1')
        .max(MAX_ROWS, `must be at most ${MAX_ROWS}`)
        .default(MAX_ROWS),
      cursor: pageQuery.cursor,
    })
    .refine(isInOrder, inOrder)
    .transform((query) => ({ kind: 'query' as const, ...query })),
  one: z
    .strictObject({ location: newLocation, ...beside })
    .transform(({ location: sent }) => report([sent])),
  several: z
    .strictObject({ locations: several, ...beside })
    .transform(({ locations }) => report(locations)),
  bare: newLocation.transform((sent) => report([sent])),
  bareList: several.transform(report),
}

export type LocationsBody = z.output<(typeof forms)['query']> | ReturnType<typeof report>
