import type { Signal } from './signals.ts'

/*
 * Since when a device has been in or out of the zones of rules about minutes, so that a report need
 * not read the whole stay. A stay is known for as long as the rule is for the device: all its
 * locations are evaluated then.
 */

/** Since when the condition has been fulfilled up to the newest fix, by `Signal.stay`. */
export type Stays = ReadonlyMap<string, number>

export const NO_STAYS: Stays = new Map()

/** A device that has more is evaluated by the windows alone. */
const MAX_STAYS = 256

export const parseStays = (record: string | null): Stays =>
  record === null ? NO_STAYS : new Map(JSON.parse(record) as [string, number][])

const packStays = (stays: Stays): string =>
  JSON.stringify([...stays].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MAX_STAYS))

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
const sinceAtEnd = (end: StayEnd, known: number | undefined): number | null => {
  const { since, isSure, isEnd, isSettled, isLongest, last } = end
  // A beginning that was not found is later than the true one: then the alert is late, but true.
  if (isEnd) return isSure || isLongest || since === known ? since : null
  if (known === undefined || !isSettled) return null
  if (known > last) return known
  return isSure ? since : null
}

/** The stays after a report, as they are stored; null for none that were never stored. */
export const nextStays = (record: string | null, ends: StayEnd[]): string | null => {
  const before = parseStays(record)
  const after = new Map<string, number>()
  for (const end of ends)
    for (const name of end.names) {
      const since = sinceAtEnd(end, before.get(name))
      if (since !== null) after.set(name, since)
    }
  return record === null && after.size === 0 ? null : packStays(after)
}
