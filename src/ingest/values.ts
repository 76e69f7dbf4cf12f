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
  /** The packed locations; of many devices, each with its device's position. */
  rows: string
  /** The earliest time of the locations. */
  oldest: number
  /** The time of a batch's only location; else null. */
  time: number | null
  /** 1 when the time zone need not be right for a device without an end. */
  anyTimeZone: 0 | 1
  /** `[deviceKey, record]` of each device whose stays change. */
  nextStays: string
  raises: string
  hits: string
}

export const p = placeholders<keyof Values>()

export const IS_TIME_ZONE_ASSUMED = sql`(${accounts.timeZone} = ${p.timeZone}
  OR (${p.anyTimeZone} = 1 AND ${devices.ends} IS NULL))`
/** The same as `keptSince`. */
export const KEPT_SINCE = sql`(${p.now} - ${accounts.retentionDays} * 86400000)`
