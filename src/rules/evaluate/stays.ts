import type { Signal } from './signals.ts'
import type { Block, PreciseFix } from './standstill.ts'

/*
 * Since when a device has been in or out of the zones of rules about minutes, or stands with very
 * many locations, so that a report need not read the whole stay. A stay is known for as long as the
 * rule is for the device: all its locations are evaluated then.
 */

/**
 * Where all precise fixes are that the track has since then, up to its newest, beside those that may
 * be anywhere in the box.
 */
export interface Stand extends Block {
  /** The time of the first of them. */
  since: number
  /** The precise fix before that; null where the track begins. */
  previous: PreciseFix | null
}

/** Since when the condition has been fulfilled up to the newest fix, or where the device stands. */
export type Stay = number | Stand

/** By `Signal.stay`. */
export type Stays = ReadonlyMap<string, Stay>

export const NO_STAYS: Stays = new Map()

/** A device that has more is evaluated by the windows alone. */
const MAX_STAYS = 256

type PackedFix = [time: number, latitude: number, longitude: number, accuracy: number | null]

/** What is stored of a stay: its name, since when and, where the device stands, its place. */
type PackedStay =
  | [string, number]
  | [string, number, number, number, number, number, PackedFix | null]

const unpackStay = ([name, since, ...place]: PackedStay): [string, Stay] => {
  const [south, north, west, east, fix] = place
  if (south === undefined) return [name, since]
  const [time, latitude, longitude, accuracy] = fix ?? []
  const previous = fix ? { time, latitude, longitude, accuracy } : null
  return [name, { since, south, north, west, east, previous } as Stand]
}

const packStay = ([name, stay]: [string, Stay]): PackedStay => {
  if (typeof stay === 'number') return [name, stay]
  const { since, south, north, west, east, previous } = stay
  const fix: PackedFix | null = previous && [
    ...([previous.time, previous.latitude, previous.longitude] as const),
    previous.accuracy,
  ]
  return [name, since, south, north, west, east, fix]
}

export const parseStays = (record: string | null): Stays =>
  record === null ? NO_STAYS : new Map((JSON.parse(record) as PackedStay[]).map(unpackStay))

const packStays = (stays: Stays): string =>
  JSON.stringify(
    [...stays]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, MAX_STAYS)
      .map(packStay),
  )

const HASH_PRIMES = [0x01000193, 0x85ebca6b]

/** A short name for a text. Those of one device are few, so that no two are alike. */
const hash = (text: string): string =>
  HASH_PRIMES.map((prime) => {
    let sum = 0x811c9dc5
    for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), prime)
    return ((sum ^ (sum >>> 15)) >>> 0).toString(36)
  }).join('')

interface Zone {
  id: string
  lastModified: number
}

/** Names a stay by all that changes it, or since when all locations were evaluated for it. */
export const stayName = ({ rule, startsAt }: Pick<Signal, 'rule' | 'startsAt'>, zones: Zone[]) =>
  hash(
    JSON.stringify([
      ...[rule.id, rule.when.type, startsAt, rule.targetsChanged ?? null, rule.hysteresis],
      ...zones.map(({ id, lastModified }) => [id, lastModified]),
    ]),
  )

/** What a part of the track says of the stay at its end. */
export interface StayEnd {
  /** `Signal.stay` of all signals with these values. */
  names: string[]
  /** Null when the condition is not fulfilled there. */
  since: number | null
  /** Whether nothing before the part changes it, or nothing more may be read. */
  isSure: boolean
  isLongest: boolean
  /** Whether the track ends with the part or, if not, what follows stays as it was. */
  isEnd: boolean
  isSettled: boolean
  /** The time of the last fix. */
  last: number
}

/** Since when the stay lasts at the end of the track; null without one, or when it is not known. */
const sinceAtEnd = (end: StayEnd, known: Stay | undefined): number | null => {
  const { since, isSure, isEnd, isSettled, isLongest, last } = end
  // A beginning that was not found is later than the true one: then the alert is late, but true.
  if (isEnd) return isSure || isLongest || since === known ? since : null
  if (typeof known !== 'number' || !isSettled) return null
  if (known > last) return known
  return isSure ? since : null
}

/**
 * The known beginning of a stay that begins earlier by new fixes, where it reaches its minutes only
 * after `last`: what follows is not read, and may have raised its alert. Null otherwise.
 */
export const keepSince = (
  { derivation }: Signal,
  known: Stay | undefined,
  { now, before, last }: { now: number | null; before: number | null; last: number },
): number | null => {
  if (typeof known !== 'number' || derivation.type !== 'dwell') return null
  const isEarlier = now !== null && now < known && before !== null && before <= known
  return isEarlier && last < known + derivation.ms ? known : null
}

/** The stays after a report, as they are stored; null for none that were never stored. */
export const nextStays = (
  record: string | null,
  ends: StayEnd[],
  stands: [string, Stand][],
): string | null => {
  const before = parseStays(record)
  const after = new Map<string, Stay>(stands)
  for (const end of ends)
    for (const name of end.names) {
      const since = sinceAtEnd(end, before.get(name))
      if (since !== null) after.set(name, since)
    }
  return record === null && after.size === 0 ? null : packStays(after)
}
