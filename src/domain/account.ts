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

export const DEFAULT_RETENTION_DAYS = 365
export const MOST_RETENTION_DAYS = 3650
