import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import { isSubscribedToLocations } from '../db/queries/events.ts'
import { devicesNamedIn } from '../db/queries/namedDevices.ts'
import type { Viewer } from '../db/queries/visibility.ts'
import { accounts, devices, locations, stays } from '../db/schema.ts'
import type { Day } from '../domain/time/day.ts'

/*
 * What a batch assumes. Its statements check it, since a batch cannot branch; each condition is given
 * the batch's values, or placeholders for them.
 */

export interface GuardValues extends Viewer {
  now: number
  timeZone: string
  /** The day in `timeZone`. */
  today: Day
  hasSubscribers: 0 | 1
  /** Whether alerts come with it, and the settings that decide which are emergencies. */
  mayRaise: 0 | 1
  emergency: string | null
  /** The token of the account's rules; null for none. */
  rulesVersion: string | null
  /** What the arrivals were evaluated by, see `Evaluation`; null when they were not. */
  expected: string | null
  found: number
  tracks: string | null
  stays: string | null
  /** One more than the longest part of the tracks has. */
  maxCounted: number
  retentionDays: number | null
}

type Given = { [Name in keyof GuardValues]: GuardValues[Name] | Placeholder<Name> }

export const hasSubscribers = (p: Given): SQL =>
  isSubscribedToLocations(sql`${p.accountId}`, sql`${p.now}`)

/** A device without an end is active in any zone; else `today` must be of the account's zone. */
export const isActive = (p: Given): SQL => sql`(${devices.ends} IS NULL
  OR (${devices.ends} > ${accounts.day} AND ${devices.ends} > ${p.today}))`

/** True while each name is of the same device as then, or of none, and each device as active. */
const hasSameDevices = (p: Given): SQL => sql`ifnull((SELECT
    sum(CASE WHEN ${devices.key} IS sent.value ->> 2 AND ${isActive(p)} = sent.value ->> 3
      AND ${devices.maxSpeed} = sent.value ->> 4 THEN 1 ELSE 1000000 END)
  FROM ${accounts} CROSS JOIN ${devicesNamedIn(sql`${p.expected}`, p as never)}
  WHERE ${accounts.id} = ${p.accountId}), 0) = ${p.found}`

/**
 * True while each part of the tracks has as many locations as then. Stored ones never change, so the
 * number suffices. Where very many came since, not all are counted.
 */
const hasSameTracks = (p: Given): SQL => sql`NOT EXISTS (SELECT 1 FROM json_each(${p.tracks}) part
  WHERE part.value ->> 3 <> (SELECT count(*) FROM (SELECT 1 FROM ${locations}
    WHERE ${locations.deviceKey} = part.value ->> 0
      AND ${locations.time} BETWEEN part.value ->> 1 AND part.value ->> 2
    LIMIT ${p.maxCounted})))`

/** True while the stays of each device are those that were seen: they depend on its whole track. */
const hasSameStays = (p: Given): SQL => sql`NOT EXISTS (SELECT 1 FROM json_each(${p.stays}) seen
  WHERE seen.value ->> 1 IS NOT (SELECT ${stays.record} FROM ${stays}
    WHERE ${stays.deviceKey} = seen.value ->> 0))`

/** False when a wrong state of the account is assumed. */
export const isAssumed = (p: Given, isTimeZoneAssumed?: SQL): SQL =>
  sql`(${isTimeZoneAssumed ?? sql`${accounts.timeZone} = ${p.timeZone}`}
  AND ${accounts.rulesVersion} IS ${p.rulesVersion}
  AND ${hasSubscribers(p)} = ${p.hasSubscribers}
  AND (${p.mayRaise} = 0 OR ${accounts.emergency} IS ${p.emergency}))`

/**
 * False when devices or tracks are no longer those that the arrivals were evaluated by. One device
 * that is named by its id is always the same.
 */
export const isAsEvaluated = (p: Given, isOne = false): SQL => sql`((${p.retentionDays} IS NULL
    OR ${accounts.retentionDays} = ${p.retentionDays})
  AND ${isOne ? sql`true` : sql`(${p.expected} IS NULL OR ${hasSameDevices(p)})`}
  AND (${p.tracks} IS NULL OR ${hasSameTracks(p)})
  AND (${p.stays} IS NULL OR ${hasSameStays(p)}))`

/**
 * False when the batch must run again: then it writes nothing but `lastContact`. About the whole
 * batch, so it is computed once.
 */
export const isCurrent = (p: Given, isOne?: boolean): SQL =>
  sql`(${isAssumed(p)} AND ${isAsEvaluated(p, isOne)})`

/** The same for a statement that has no row of `accounts`. */
export const isBatchCurrent = (p: Given): SQL => sql`EXISTS (SELECT 1 FROM ${accounts}
  WHERE ${accounts.id} = ${p.accountId} AND ${isCurrent(p)})`
