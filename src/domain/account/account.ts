import type { EmergencySettings } from '../message/emergency.ts'
import type { MessageOverrides } from '../message/messageBudget.ts'
import type { Day } from '../time/day.ts'
import type { BudgetOverrides } from './budget.ts'
import type { Resource } from './resource.ts'

/** What the operator has set for an account; null for the default. */
export interface AccountBudgets extends BudgetOverrides {
  /** How many users it may have; null for `DEFAULT_MAX_USERS`. */
  maxUsers: number | null
  messagesPerDay: MessageOverrides
}

/** An account as its ledger knows it. */
export interface Account extends EmergencySettings, Resource {
  number: number
  cell: number
  userName: string
  name: string
  timeZone: string
  /** The highest day seen. Only an accepted change of time zone sets it back. */
  day: Day
  total: number
  /** Licenses in use on `day`. */
  used: number
  disabled: boolean
  /** How many days locations and alerts are kept. */
  retentionDays: number
  budgets: AccountBudgets
}

const NUMBERING_START_MS = Date.UTC(2026, 10, 1)
const NUMBER_INTERVAL_MS = 30_000

/**
 * The lowest number for an account opened at `now`. It follows the clock, because a restored
 * directory no longer knows which numbers it assigned. Device keys stay safe integers up to number
 * 2^29, and take six bytes per location row up to 2^23 (eight years).
 */
export const minAccountNumber = (now: number): number =>
  Math.max(0, Math.floor((now - NUMBERING_START_MS) / NUMBER_INTERVAL_MS))

const DAY_MS = 86_400_000

/** Locations before this time are not kept. */
export const keptSince = (now: number, retentionDays: number): number =>
  now - retentionDays * DAY_MS

export const DEFAULT_RETENTION_DAYS = 365
export const MAX_RETENTION_DAYS = 3650
