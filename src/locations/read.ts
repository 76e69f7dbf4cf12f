import * as z from 'zod'
import { isObject, type JsonObject } from '../domain/json.ts'
import { CODE_LISTS, FREE_LISTS, isPlausible, type Location, MOST_IN_REPORT, MOST_SOURCE, NUMBERS, TEXT_LISTS } from '../domain/location.ts'
import { isFreeForm } from '../http/validation.ts'
import { forms, type LocationsBody } from './forms.ts'

/*
 * A thousand locations take zod 30 times as long as this reader, and longer than the database. It either takes a report
 * whole or gives up; then the contract reads it, finds what is wrong, or takes what this reader does not know.
 */

const DATE_TIME = z.regexes.datetime({ offset: true, precision: null })

type Check = (value: unknown) => boolean
const CHECKS: Record<string, Check> = Object.create(null)

for (const [name, { least, most }] of Object.entries(NUMBERS)) {
  CHECKS[name] = (value) => typeof value === 'number' && value >= least && value <= most
}
for (const name of TEXT_LISTS)
  CHECKS[name] = (list) => Array.isArray(list) && list.every((item) => typeof item === 'string') && isFreeForm(list)
for (const name of CODE_LISTS)
  CHECKS[name] = (list) => Array.isArray(list) && list.every((item) => typeof item === 'string') && isFreeForm(list)
for (const name of FREE_LISTS) CHECKS[name] = (list) => Array.isArray(list) && isFreeForm(list)
CHECKS.attributes = (value) => isObject(value) && isFreeForm(value)
CHECKS.hasCriticalAlert = (value) => typeof value === 'boolean'
CHECKS.source = (value) => typeof value === 'string' && value.length >= 1 && value.length <= MOST_SOURCE

const readLocation = (sent: unknown, now: number): Location | null => {
  if (!isObject(sent)) return null
  const { dateTime, latitude, longitude } = sent
  if (typeof dateTime !== 'string' || latitude === undefined || longitude === undefined || !DATE_TIME.test(dateTime)) return null
  const at = Date.parse(dateTime)
  if (!isPlausible(at, now)) return null
  const location: JsonObject = { dateTime: at }
  for (const name in sent) {
    if (name === 'dateTime' || name === 'receivedAt') continue
    const value = sent[name]
    if (!CHECKS[name]?.(value)) return null
    // Adding zero makes −0 a 0.
    location[name] = typeof value === 'number' ? value + 0 : value
  }
  return location as unknown as Location
}

const readAll = (sent: readonly unknown[], now: number): LocationsBody | null => {
  if (sent.length === 0 || sent.length > MOST_IN_REPORT) return null
  const locations: Location[] = []
  for (const one of sent) {
    const location = readLocation(one, now)
    if (location === null) return null
    locations.push(location)
  }
  return { kind: 'report', locations }
}

const onlyMember = (body: JsonObject): string | undefined => {
  const names = Object.keys(body)
  return names.length === 1 ? names[0] : undefined
}

export const quickReport = (body: unknown, now: number): LocationsBody | null => {
  if (Array.isArray(body)) return readAll(body, now)
  if (!isObject(body)) return null
  const only = onlyMember(body)
  if (only === 'locations') return Array.isArray(body.locations) ? readAll(body.locations, now) : null
  return readAll([only === 'location' ? body.location : body], now)
}

const formOf = (body: unknown) => {
  if (Array.isArray(body)) return forms.bareList
  if (!isObject(body)) return forms.bare
  if (Object.hasOwn(body, 'location')) return forms.one
  if (Object.hasOwn(body, 'locations')) return forms.several
  return Object.hasOwn(body, 'from') || Object.hasOwn(body, 'to') ? forms.query : forms.bare
}

export const readBody = (body: unknown): z.ZodSafeParseResult<LocationsBody> => {
  const report = quickReport(body, Date.now())
  return report ? { success: true, data: report } : (formOf(body).safeParse(body) as z.ZodSafeParseResult<LocationsBody>)
}
