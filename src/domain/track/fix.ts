import { type Location, NUMBER_FIELDS } from './location.ts'

/*
 * A location as rules evaluate it: the numbers that its row has, not the finer ones that were sent, so
 * that a report and a later reader of the row come to the same decision.
 */

export interface Fix {
  time: number
  latitude: number
  longitude: number
  altitude: number | null
  speed: number | null
  course: number | null
  accuracy: number | null
  battery: number | null
  /** The numbers that rules compare and that have no column, by their names; null without any. */
  rest: Record<string, number> | null
}

const COLUMNS = ['altitude', 'speed', 'course', 'accuracy', 'battery'] as const
export type FixColumn = 'latitude' | 'longitude' | (typeof COLUMNS)[number]
const isColumn = (name: string): name is (typeof COLUMNS)[number] =>
  (COLUMNS as readonly string[]).includes(name)

/** A row's numbers, in the integers that it stores. */
export interface FixRow extends Record<FixColumn, number | null> {
  time: number
  /** As `Fix` has it, as JSON. */
  rest?: string | null
}

const unscale = (value: number | null, scale: number): number | null =>
  value === null ? null : value / scale

export const toFix = (row: FixRow): Fix => ({
  time: row.time,
  latitude: (row.latitude ?? 0) / NUMBER_FIELDS.latitude.scale,
  longitude: (row.longitude ?? 0) / NUMBER_FIELDS.longitude.scale,
  altitude: unscale(row.altitude, NUMBER_FIELDS.altitude.scale),
  speed: unscale(row.speed, NUMBER_FIELDS.speed.scale),
  course: unscale(row.course, NUMBER_FIELDS.course.scale),
  accuracy: unscale(row.accuracy, NUMBER_FIELDS.accuracy.scale),
  battery: unscale(row.battery, NUMBER_FIELDS.battery.scale),
  rest: row.rest ? (JSON.parse(row.rest) as Fix['rest']) : null,
})

/** The members of a location that a rule may compare. */
export const VALUE_MEMBERS = Object.keys(NUMBER_FIELDS).filter(
  (name) => name !== 'latitude' && name !== 'longitude',
) as Exclude<keyof typeof NUMBER_FIELDS, 'latitude' | 'longitude'>[]

/** Whether the member has no column of its own, so that the rest of the row must be read. */
export const isInRest = (member: string): boolean => !isColumn(member)

const isAttribute = (member: string): boolean => !(VALUE_MEMBERS as string[]).includes(member)

/** Where the rest of a row has a numeric member or, under any other name, an attribute. */
export const placeInRest = (member: string): string =>
  `${isAttribute(member) ? '$.attributes' : '$'}.${member}`

/** The compared members of the whole rest of a location. Attributes may be long: they are left. */
export const pickCompared = (rest: string | null, members: readonly string[]): Fix['rest'] => {
  if (rest === null || members.length === 0) return null
  const all = JSON.parse(rest) as Partial<Location>
  const found = members.flatMap((member): [string, number][] => {
    const from: Record<string, unknown> = isAttribute(member) ? (all.attributes ?? {}) : all
    const value = Object.hasOwn(from, member) ? from[member] : null
    return typeof value === 'number' ? [[member, value]] : []
  })
  return found.length > 0 ? Object.fromEntries(found) : null
}

/** A numeric member or attribute; null without one. */
export const readValue = (fix: Fix, member: string): number | null => {
  if (isColumn(member)) return fix[member]
  const { rest } = fix
  return rest && Object.hasOwn(rest, member) ? (rest[member] ?? null) : null
}

/** The index of the first fix at or after an instant, among some in order of time. */
export const firstFrom = (fixes: readonly Fix[], time: number): number => {
  let [low, high] = [0, fixes.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((fixes[middle] as Fix).time < time) low = middle + 1
    else high = middle
  }
  return low
}
