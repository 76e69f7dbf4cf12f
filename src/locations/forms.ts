import * as z from 'zod'
import { isObject, type JsonObject, withoutNulls } from '../domain/text/json.ts'
import { iso } from '../domain/time/iso.ts'
import {
  CODE_LISTS,
  FREE_LISTS,
  isPlausible,
  type Location,
  MAX_REPORT_LOCATIONS,
  MAX_SENSOR_TIME,
  MAX_SOURCE_LENGTH,
  NUMBER_FIELDS,
  type NumberName,
  SENSOR_TIMES,
  TEXT_LISTS,
} from '../domain/track/location.ts'
import { freeForm } from '../http/contract/validation.ts'
import { exactlyOne, instant, line, time } from '../http/contract/wire.ts'
import {
  absent,
  isInOrder,
  OUT_OF_ORDER,
  PAGING,
  type QueryBody,
  SINCE,
  toQuery,
  UNTIL,
} from '../http/paging/rangeQuery.ts'

/* `fastReader.ts` must accept nothing that `newLocation` refuses: a test compares them. */

const number = (min: number, max: number) =>
  z
    .number('must be a number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)
    .overwrite((value) => value + 0)

const numberNamed = (name: NumberName) =>
  number(NUMBER_FIELDS[name].min, NUMBER_FIELDS[name].max).meta({
    description: NUMBER_FIELDS[name].description,
  })

const optionalNumbers = Object.fromEntries(
  (Object.keys(NUMBER_FIELDS) as NumberName[])
    .filter((name) => name !== 'latitude' && name !== 'longitude')
    .map((name) => [name, numberNamed(name).optional()]),
) as { [N in Exclude<NumberName, 'latitude' | 'longitude'>]: z.ZodOptional<z.ZodNumber> }

const optionalFields = <const N extends string, T extends z.ZodType>(
  names: readonly N[],
  schema: T,
) =>
  Object.fromEntries(names.map((name) => [name, schema.optional()])) as {
    [K in N]: z.ZodOptional<T>
  }

const SENSOR_TIME = [number(0, MAX_SENSOR_TIME), instant.transform(iso)] as const
const SENSOR_TIME_ERROR = 'must be a number or a date-time'
const sensorTimeMeta = { description: 'A number, or a date-time, which is stored in UTC.' }
const sensorTime = z.union(SENSOR_TIME, SENSOR_TIME_ERROR).meta(sensorTimeMeta)
const sensorTimeOrNull = z.union([...SENSOR_TIME, z.null()], SENSOR_TIME_ERROR).meta(sensorTimeMeta)
/** More items cannot fit into 8 KiB, so they are not checked one by one. */
const MAX_LIST_ITEMS = 4096
const list = <T extends z.ZodType>(of: T, error: string) =>
  freeForm(z.array(of, error).max(MAX_LIST_ITEMS, 'must not be larger than 8 KiB'))
const textList = list(z.string('must be text'), 'must be a list of texts')
const codeList = list(
  z.union([z.string(), number(-1e15, 1e15)], 'must be text or a number'),
  'must be a list',
)
const freeList = list(z.unknown(), 'must be a list')
const attributes = freeForm(z.unknown().refine(isObject, 'must be an object')) as z.ZodType<
  JsonObject,
  JsonObject
>

const fields = {
  ...optionalNumbers,
  ...optionalFields(SENSOR_TIMES, sensorTime),
  ...optionalFields(TEXT_LISTS, textList),
  ...optionalFields(CODE_LISTS, codeList),
  hasCriticalAlert: z.boolean('must be true or false').optional(),
  attributes: attributes
    .meta({ type: 'object', description: 'Your own values. At most 8 KiB and 8 levels deep.' })
    .optional(),
  ...optionalFields(FREE_LISTS, freeList),
  source: z
    .string('must be text')
    .min(1, 'must not be empty')
    .max(MAX_SOURCE_LENGTH, `must have at most ${MAX_SOURCE_LENGTH} characters`)
    .optional()
    .meta({
      description: 'How the position was determined: `gnss`, `network`, …',
      example: 'gnss',
    }),
}

/** In a report null means left out. */
const reportedFields = Object.fromEntries(
  Object.entries(fields).map(([name, field]) => [name, field.nullable()]),
) as { [N in keyof typeof fields]: z.ZodNullable<(typeof fields)[N]> }

const newLocationMembers = {
  dateTime: instant
    .refine(
      (at) => isPlausible(at, Date.now()),
      'must not be before the year 2000 or more than 10 minutes in the future',
    )
    .meta({
      description:
        'From the year 2000 to ten minutes ahead of the time of arrival. A device has one location for each `dateTime`.',
    }),
  latitude: numberNamed('latitude').meta({ example: 38.7223 }),
  longitude: numberNamed('longitude').meta({ example: -9.1393 }),
  ...reportedFields,
  ...optionalFields(SENSOR_TIMES, sensorTimeOrNull),
  receivedAt: z
    .unknown()
    .optional()
    .meta({ description: 'Set by the server: accepted and ignored.' }),
}

export const newLocation = z
  .strictObject(newLocationMembers)
  .transform(({ receivedAt, ...location }) => withoutNulls(location) as Location)
  .meta({ id: 'NewLocation' })

/** A location with its device, by one of two names. */
export interface AddressedLocation {
  deviceId: string | null
  identifier: string | null
  location: Location
}

export const addressedLocation = z
  .strictObject({
    deviceId: line(64).min(1, 'must not be empty').nullish().meta({
      description: 'The device, by its id.',
      example: 'dev_1jn7wz3h4q8v2n5t7r6m0p',
    }),
    identifier: line(64).trim().min(1, 'must not be empty').nullish().meta({
      description:
        'The device, by its IMEI, ESN or serial number, without regard to case. Instead of `deviceId`.',
      example: '300434060000000',
    }),
    ...newLocationMembers,
  })
  .refine(
    ({ deviceId, identifier }) => (deviceId ?? null) === null || (identifier ?? null) === null,
    {
      path: ['identifier'],
      error: 'must be left out where deviceId is given',
    },
  )
  .refine(({ deviceId, identifier }) => (deviceId ?? identifier ?? null) !== null, {
    path: ['deviceId'],
    error: 'is required unless identifier is given',
  })
  .transform(
    ({ receivedAt, deviceId, identifier, ...sent }): AddressedLocation => ({
      deviceId: deviceId ?? null,
      identifier: identifier ?? null,
      location: withoutNulls(sent) as Location,
    }),
  )
  .meta({ id: 'AddressedLocation', override: exactlyOne('deviceId', 'identifier') })

export const location = z
  .object({
    dateTime: time,
    latitude: z.number(),
    longitude: z.number(),
    ...fields,
    ...optionalFields(SENSOR_TIMES, z.union([z.number(), time])),
    receivedAt: time,
  })
  .meta({ id: 'Location', description: 'Members that were not sent are absent.' })

const listOf = <T extends z.ZodType>(schema: T) =>
  z
    .array(schema, 'must be a list of locations')
    .min(1, 'must not be empty')
    .max(MAX_REPORT_LOCATIONS, `must have at most ${MAX_REPORT_LOCATIONS} locations`)
const several = listOf(newLocation)

export const addressedForm = z.strictObject({
  locations: listOf(addressedLocation).meta({
    description: 'Locations of any devices of the account, in any order.',
  }),
})

const report = (locations: z.output<typeof newLocation>[]) => ({
  kind: 'report' as const,
  locations,
})
/** A body with a location is a report even when it has the members of a query. */
const queryMembers = { from: z.unknown().optional(), to: z.unknown().optional() }
const noReport = { location: absent, locations: absent }

export const forms = {
  one: z
    .strictObject({ location: newLocation, locations: absent, ...queryMembers })
    .transform(({ location: sent }) => report([sent]))
    .meta({ title: 'LocationReport' }),
  several: z
    .strictObject({ locations: several, location: absent, ...queryMembers })
    .transform(({ locations }) => report(locations))
    .meta({ title: 'LocationsReport' }),
  bare: newLocation.transform((sent) => report([sent])),
  bareList: several.transform(report),
  since: z
    .strictObject({ ...SINCE, ...PAGING, ...noReport })
    .refine(isInOrder, OUT_OF_ORDER)
    .transform(toQuery)
    .meta({ title: 'LocationQuery' }),
  until: z
    .strictObject({ ...UNTIL, ...PAGING, ...noReport })
    .transform(toQuery)
    .meta({ title: 'LocationQueryUntil' }),
}

export type LocationsBody = QueryBody | ReturnType<typeof report>
