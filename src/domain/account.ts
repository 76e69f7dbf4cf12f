import type { Day } from './day.ts'

/** An account as its ledger knows it. */
export interface Account {
  id: string
  number: number
  cell: number
  userName: string
  name: string
  timeZone: string
  /** The highest day seen; set back only by a change of zone that was granted. */
  day: Day
  total: number
  /** Licenses in use on `day`. */
  used: number
  disabled: boolean
  /** How many days locations are kept. */
  retentionDays: number
  creation: number
  lastModified: number
  version: number
}

const FIRST_NUMBER = Date.UTC(2026, 10, 1)
const NUMBER_EVERY = 30_000

/**
 * The least number of an account that is opened now: a directory that was set back has forgotten which it gave out, the clock has
 * not. Device keys are whole numbers up to 2^29 of these, and take six bytes of each location's row up to 2^23, eight years.
 */
export const numberAt = (now: number): number =>
  Math.max(0, Math.floor((now - FIRST_NUMBER) / NUMBER_EVERY))

export const DEFAULT_RETENTION_DAYS = 365
export const MAX_RETENTION_DAYS = 3650
