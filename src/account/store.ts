import { eq, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts, accountUsage } from '../db/schema.ts'
import { compile, names, placeholders, readFirst, runBatch } from '../db/statement.ts'
import type { BudgetOverrides, Usage } from '../domain/account/budget.ts'
import { parseEmergencySettings } from '../domain/message/emergency.ts'
import type { Day } from '../domain/time/day.ts'

/* What accounts have used of their budgets. */

export const readUsage = async (db: Database, accountId: string): Promise<Usage | null> => {
  const [row] = await db.select().from(accountUsage).where(eq(accountUsage.accountId, accountId))
  return row ?? null
}

/** What decides whether an account may report. */
export interface BudgetState {
  timeZone: string
  /** The latest day that the ledger has seen. */
  day: Day
  licenses: number
  overrides: BudgetOverrides
  usage: Usage | null
  /** Alerts with these names are stored whatever the budgets are. */
  emergencyAlerts: readonly string[]
}

interface StateRow {
  time_zone: string
  day: Day
  licenses: number
  locations_per_day: number | null
  storage_bytes: number | null
  emergency: string | null
  usage_day: Day | null
  locations: number
  stored_bytes: number
}

const p = placeholders('accountId', 'day', 'locations', 'storageBytes')

const selectState = compile<{ accountId: string }, StateRow>(
  sql`SELECT ${accounts.timeZone}, ${accounts.day}, ${accounts.licenses},
      ${accounts.locationsPerDay}, ${accounts.storageBytes}, ${accounts.emergency},
      ${accountUsage.day} AS usage_day,
      ${accountUsage.locations}, ${accountUsage.storageBytes} AS stored_bytes
    FROM ${accounts} LEFT JOIN ${accountUsage} ON ${accountUsage.accountId} = ${accounts.id}
    WHERE ${accounts.id} = ${p.accountId}`,
)

const toState = (row: StateRow): BudgetState => ({
  timeZone: row.time_zone,
  day: row.day,
  licenses: row.licenses,
  overrides: { locationsPerDay: row.locations_per_day, storageBytes: row.storage_bytes },
  usage:
    row.usage_day === null
      ? null
      : { day: row.usage_day, locations: row.locations, storageBytes: row.stored_bytes },
  emergencyAlerts: parseEmergencySettings(row.emergency).emergencyAlerts,
})

/** Null when the cell does not have the account. */
export const readBudgetState = async (
  db: Database,
  accountId: string,
): Promise<BudgetState | null> => {
  const row = await readFirst(selectState(db, { accountId }))
  return row && toState(row)
}

type NewUsage = Usage & { accountId: string }

const COLUMNS = names(
  accountUsage.accountId,
  accountUsage.day,
  accountUsage.locations,
  accountUsage.storageBytes,
)

/**
 * Adds nothing for an erased account. The day never goes back (see `usageAsOf`). A correction may be
 * less than 0.
 */
const upsertUsage = compile<NewUsage>(
  sql`INSERT INTO ${accountUsage} (${COLUMNS})
    SELECT ${accounts.id}, ${p.day}, max(0, ${p.locations}), max(0, ${p.storageBytes})
    FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}
    ON CONFLICT (${names(accountUsage.accountId)}) DO UPDATE SET
      locations = max(0, iif(excluded.day > day, 0, locations) + ${p.locations}),
      day = max(day, excluded.day), storage_bytes = max(0, storage_bytes + ${p.storageBytes})`,
)

/** Adds what an isolate has counted, and returns what all of them have. */
export const addUsage = async (db: Database, usage: NewUsage): Promise<BudgetState | null> => {
  const [, { results }] = await runBatch(db, [
    upsertUsage(db, usage),
    selectState(db, { accountId: usage.accountId }),
  ])
  const [row] = results
  return row ? toState(row) : null
}
