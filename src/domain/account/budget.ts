import type { Day } from '../time/day.ts'

/* How much an account may report and store. Budgets are soft: isolates count by themselves. */

export interface Budgets {
  locationsPerDay: number
  storageBytes: number
}

/** What the operator has set for an account; null for the default. */
export type BudgetOverrides = { [N in keyof Budgets]: number | null }

export const NO_OVERRIDES: BudgetOverrides = { locationsPerDay: null, storageBytes: null }

/** Users of an account, unless the operator has set another number. */
export const DEFAULT_MAX_USERS = 500
export const MAX_MAX_USERS = 100_000
/** Enough for an emergency to come in: whoever reports it tries again after a 429. */
export const MIN_REQUESTS_PER_MINUTE = 60
export const MAX_REQUESTS_PER_MINUTE = 1_000_000
export const MAX_LOCATIONS_PER_DAY = 1_000_000_000
export const MAX_STORAGE_BYTES = 1_000_000_000_000

/**
 * An emergency is stored whatever the account stores; beyond this share of the budget, without the
 * messages that are not sent.
 */
export const MAX_STORAGE_SHARE = 1.2

/** An account without licenses has the budgets of one license. */
export const effectiveBudgets = (
  overrides: BudgetOverrides,
  perLicense: Budgets,
  licenses: number,
): Budgets => {
  const shares = Math.max(1, licenses)
  return {
    locationsPerDay: overrides.locationsPerDay ?? perLicense.locationsPerDay * shares,
    storageBytes: overrides.storageBytes ?? perLicense.storageBytes * shares,
  }
}

/** What an account has used: locations on `day`, and bytes in all. */
export interface Usage {
  day: Day
  locations: number
  storageBytes: number
}

/** What an isolate has counted. */
export interface CountedUsage extends Usage {
  requests: number
}

/** The usage as of `today`. A later day stays: a change of zone gives no second allowance. */
export const usageAsOf = (usage: Usage | null, today: Day): Usage => {
  if (usage && usage.day >= today) return usage
  return { day: today, locations: 0, storageBytes: usage?.storageBytes ?? 0 }
}

/** The estimated size of a stored location, without its `rest`; `npm run bench` measures it. */
export const LOCATION_BYTES = 64
