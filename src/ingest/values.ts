import { sql } from 'drizzle-orm'
import { accounts, devices } from '../db/schema.ts'
import { placeholders } from '../db/statement.ts'
import type { GuardValues } from './guard.ts'

/* The values of the statements that store arrivals. */

export interface Values extends GuardValues {
  /** Of a batch of one device. */
  deviceId: string | null
  /** `[deviceId, identifierKey, eventId, contact]` of each device. */
  refs: string
  /** The packed locations; of many devices, each with its arrival and its device's position. */
  rows: string
  /** The earliest time of the locations. */
  oldest: number
  /** The time of a batch's only location; else null. */
  time: number | null
  /** 1 when the state must tell whether the batch is current: the INSERT will not show it. */
  isProbed: 0 | 1
  /** 1 when the zone need not be right for a device without an end. */
  anyZone: 0 | 1
  raises: string
  hits: string
}

export const p = placeholders(
  'accountId',
  'groupId',
  'now',
  'timeZone',
  'today',
  'hasSubscribers',
  'mayRaise',
  'emergency',
  'rulesVersion',
  'expected',
  'found',
  'tracks',
  'retentionDays',
  'refs',
  'rows',
  'oldest',
  'time',
  'anyZone',
  'isProbed',
  'raises',
  'hits',
)

export const IS_ZONE_ASSUMED = sql`(${accounts.timeZone} = ${p.timeZone}
  OR (${p.anyZone} = 1 AND ${devices.ends} IS NULL))`
/** The same as `keptSince`. */
export const KEPT_SINCE = sql`(${p.now} - ${accounts.retentionDays} * 86400000)`
