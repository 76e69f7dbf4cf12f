import type { AccountStatus } from '../admin/status.ts'
import type { EmergencySettings } from '../message/emergency.ts'
import { type MessageOverrides, NO_MESSAGE_OVERRIDES } from '../message/messageBudget.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { Day } from '../time/day.ts'
import { type BudgetOverrides, NO_OVERRIDES } from './budget.ts'
import type { Resource } from './resource.ts'

/** What the operator has set for an account; null for the default. */
export interface AccountBudgets extends BudgetOverrides {
  /** How many users it may have; null for `DEFAULT_MAX_USERS`. */
  maxUsers: number | null
  /** How many requests it may make in a minute. */
  requestsPerMinute: number | null
  /** How many days it may keep locations and alerts. */
  maxRetentionDays: number | null
  maxZones: number | null
  messagesPerDay: MessageOverrides
}

export const NO_LIMITS: AccountBudgets = {
  ...NO_OVERRIDES,
  maxUsers: null,
  requestsPerMinute: null,
  maxRetentionDays: null,
  maxZones: null,
  messagesPerDay: NO_MESSAGE_OVERRIDES,
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
  status: AccountStatus
  /** What the operator says about the status. */
  statusMessage: string
  /** When the operator deleted it; null while it exists. */
  deletedAt: number | null
  /** Whether the operator's support may change something. */
  supportMayWrite: boolean
  /** Null for an account that is none. */
  sandbox: Sandbox | null
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
