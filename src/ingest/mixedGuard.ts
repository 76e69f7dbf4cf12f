import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import { isSubscribedToLocations } from '../db/queries/events.ts'
import { accounts, devices, locations } from '../db/schema.ts'
import { devicesOf } from './mixedDevices.ts'
import type { MixedValues } from './mixedStatements.ts'

/*
 * What a report of many devices assumes. Its statements check it, since a batch cannot branch; each
 * condition is given the report's values, or placeholders for them.
 */

type Given = { [Name in keyof MixedValues]: MixedValues[Name] | Placeholder<Name> }

/** False when the report assumes a wrong state: then none of its statements writes. */
export const isAsAssumed = (p: Given): SQL => sql`(${accounts.timeZone} = ${p.timeZone}
  AND ${accounts.rulesVersion} IS ${p.rulesVersion}
  AND ${isSubscribedToLocations(sql`${p.accountId}`, sql`${p.now}`)} = ${p.hasSubscribers}
  AND (${p.mayRaise} = 0 OR ${accounts.emergency} IS ${p.emergency}))`

export const isActive = (p: Given): SQL => sql`(${devices.ends} IS NULL
  OR (${devices.ends} > ${accounts.day} AND ${devices.ends} > ${p.today}))`

/** True while each name is of the same device as then, or of none, and each device as active. */
const hasSameDevices = (p: Given): SQL => sql`ifnull((SELECT
    sum(CASE WHEN ${devices.key} IS sent.value ->> 2 AND ${isActive(p)} = sent.value ->> 3
      THEN 1 ELSE 1000000 END)
  FROM ${accounts} CROSS JOIN ${devicesOf(sql`${p.expected}`, p as never)}
  WHERE ${accounts.id} = ${p.accountId}), 0) = ${p.found}`

/**
 * True while each part of the tracks that was judged has as many locations as then. Stored ones
 * never change, so the number suffices.
 */
const hasSameTracks = (p: Given): SQL => sql`NOT EXISTS (SELECT 1 FROM json_each(${p.window}) part
  WHERE part.value ->> 3 <> (SELECT count(*) FROM ${locations}
    WHERE ${locations.deviceKey} = part.value ->> 0
      AND ${locations.time} BETWEEN part.value ->> 1 AND part.value ->> 2))`

/** The same devices, and the same time for which locations are kept. */
const isSameAccount = (p: Given): SQL => sql`(${accounts.retentionDays} = ${p.retentionDays}
  AND ${hasSameDevices(p)})`

/** About the whole report, so it is computed once. */
export const isAsJudged = (p: Given): SQL => sql`(${isSameAccount(p)} AND ${hasSameTracks(p)})`

/** False when the report lost the race for a track, and runs again. */
export const isNewsStored = (p: Given): SQL => sql`(${p.newTime} IS NULL OR EXISTS (
  SELECT 1 FROM ${locations} WHERE ${locations.deviceKey} = ${p.newKey}
    AND ${locations.time} = ${p.newTime} AND ${locations.receivedAt} = ${p.now}))`

/** True in a statement behind those of the report if the report need not run again. */
export const isReportStored = (p: MixedValues): SQL => sql`EXISTS (SELECT 1 FROM ${accounts}
  WHERE ${accounts.id} = ${p.accountId} AND ${isAsAssumed(p)} AND ${isNewsStored(p)}
    AND ${p.expected === null ? sql`true` : isSameAccount(p)})`
