import { eq, sql } from 'drizzle-orm'
import type { BudgetOverrides, Usage } from '../../domain/account/budget.ts'
import { parseEmergencySettings } from '../../domain/message/emergency.ts'
import type { Day } from '../../domain/time/day.ts'
import type { Database } from '../open.ts'
import { insertSelect, nullable, select } from '../query.ts'
import { accounts, accountUsage } from '../schema.ts'
import { compile, type Placeholders, type RowOf, readFirst, runBatch } from '../statement.ts'

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

const selectState = compile((p: Placeholders<{ accountId: string }>) =>
  select(
    {
      timeZone: accounts.timeZone,
      day: accounts.day,
      licenses: accounts.licenses,
      locationsPerDay: accounts.locationsPerDay,
      storageBytes: accounts.storageBytes,
      emergency: accounts.emergency,
      usageDay: nullable(accountUsage.day),
      locations: accountUsage.locations,
      storedBytes: accountUsage.storageBytes,
    },
    sql`FROM ${accounts} LEFT JOIN ${accountUsage} ON ${accountUsage.accountId} = ${accounts.id}
      WHERE ${accounts.id} = ${p.accountId}`,
  ),
)

const toState = (row: RowOf<typeof selectState>): BudgetState => {
  const { timeZone, day, licenses, locationsPerDay, storageBytes } = row
  const { usageDay, locations, storedBytes } = row
  return {
    timeZone,
    day,
    licenses,
    overrides: { locationsPerDay, storageBytes },
    usage: usageDay === null ? null : { day: usageDay, locations, storageBytes: storedBytes },
    emergencyAlerts: parseEmergencySettings(row.emergency).emergencyAlerts,
  }
}

/** Null when the cell does not have the account. */
export const readBudgetState = async (
  db: Database,
  accountId: string,
): Promise<BudgetState | null> => {
  const row = await readFirst(selectState(db, { accountId }))
  return row && toState(row)
}

type NewUsage = Usage & { accountId: string }

/**
 * Adds nothing for an erased account. The day never goes back (see `usageAsOf`). A correction may be
 * less than 0.
 */
const upsertUsage = compile((p: Placeholders<NewUsage>) =>
  insertSelect(
    accountUsage,
    {
      accountId: accounts.id,
      day: p.day,
      locations: sql`max(0, ${p.locations})`,
      storageBytes: sql`max(0, ${p.storageBytes})`,
    },
    sql`FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}
      ON CONFLICT (account_id) DO UPDATE SET
        locations = max(0, iif(excluded.day > day, 0, locations) + ${p.locations}),
        day = max(day, excluded.day), storage_bytes = max(0, storage_bytes + ${p.storageBytes})`,
  ),
)

/** Adds what an isolate has counted, and returns what all of them have. */
export const addUsage = async (db: Database, usage: NewUsage): Promise<BudgetState | null> => {
  const { states } = await runBatch(db, {
    added: upsertUsage(db, usage),
    states: selectState(db, { accountId: usage.accountId }),
  })
  const [row] = states.results
  return row ? toState(row) : null
}
