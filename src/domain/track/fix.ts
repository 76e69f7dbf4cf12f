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
  /** Members without a column; null where no rule asks for them. */
  rest: Record<string, unknown> | null
}

const COLUMNS = ['altitude', 'speed', 'course', 'accuracy', 'battery'] as const
export type FixColumn = 'latitude' | 'longitude' | (typeof COLUMNS)[number]
const isColumn = (name: string): name is (typeof COLUMNS)[number] =>
  (COLUMNS as readonly string[]).includes(name)

/** A row's numbers, in the integers that it stores. */
export interface FixRow extends Record<FixColumn, number | null> {
  time: number
  rest?: string | null
}

const unscale = (value: number | null, scale: number): number | null =>
  value === null ? null : value / scale

export const toFix = (row: FixRow, wantsRest: boolean): Fix => ({
  time: row.time,
  latitude: (row.latitude ?? 0) / NUMBER_FIELDS.latitude.scale,
  longitude: (row.longitude ?? 0) / NUMBER_FIELDS.longitude.scale,
  altitude: unscale(row.altitude, NUMBER_FIELDS.altitude.scale),
  speed: unscale(row.speed, NUMBER_FIELDS.speed.scale),
  course: unscale(row.course, NUMBER_FIELDS.course.scale),
  accuracy: unscale(row.accuracy, NUMBER_FIELDS.accuracy.scale),
  battery: unscale(row.battery, NUMBER_FIELDS.battery.scale),
  rest: wantsRest && row.rest ? (JSON.parse(row.rest) as Record<string, unknown>) : null,
})

/** The members of a location that a rule may compare. */
export const VALUE_MEMBERS = Object.keys(NUMBER_FIELDS).filter(
  (name) => name !== 'latitude' && name !== 'longitude',
) as Exclude<keyof typeof NUMBER_FIELDS, 'latitude' | 'longitude'>[]

/** Whether the member has no column of its own, so that the rest of the row must be read. */
export const isInRest = (member: string): boolean => !isColumn(member)

const numberOr = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** A numeric member or, under any other name, a numeric attribute; null without one. */
export const readValue = (fix: Fix, member: string): number | null => {
  if (isColumn(member)) return fix[member]
  if ((VALUE_MEMBERS as string[]).includes(member)) return numberOr(fix.rest?.[member])
  const attributes = fix.rest?.attributes as Location['attributes']
  return attributes && Object.hasOwn(attributes, member) ? numberOr(attributes[member]) : null
}
