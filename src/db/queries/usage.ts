import { eq, sql } from 'drizzle-orm'
import type { BudgetOverrides, CountedUsage, Usage } from '../../domain/account/budget.ts'
import { parseEmergencySettings } from '../../domain/message/emergency.ts'
import type { Day } from '../../domain/time/day.ts'
import type { Database } from '../open.ts'
import { insertSelect, nullable, select } from '../query.ts'
import { accounts, accountUsage, usageDays } from '../schema.ts'
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

type NewUsage = CountedUsage & { accountId: string }

/** Keeps what was counted on the day before, when the first count of a new day comes. */
const insertDayOver = compile((p: Placeholders<NewUsage>) =>
  insertSelect(
    usageDays,
    {
      accountId: accountUsage.accountId,
      day: accountUsage.day,
      locations: accountUsage.locations,
      requests: accountUsage.requests,
      storageBytes: accountUsage.storageBytes,
    },
    sql`FROM ${accountUsage} JOIN ${accounts} ON ${accounts.id} = ${accountUsage.accountId}
      WHERE ${accountUsage.accountId} = ${p.accountId} AND ${accountUsage.day} < ${p.day}
      ON CONFLICT (account_id, day) DO UPDATE SET storage_bytes = excluded.storage_bytes,
        locations = locations + excluded.locations, requests = requests + excluded.requests`,
  ),
)

/** Adds the count of a day that another isolate knows to be over. */
const upsertLate = compile((p: Placeholders<NewUsage>) =>
  insertSelect(
    usageDays,
    {
      accountId: accountUsage.accountId,
      day: p.day,
      locations: sql`max(0, ${p.locations})`,
      requests: p.requests,
      storageBytes: accountUsage.storageBytes,
    },
    sql`FROM ${accountUsage} JOIN ${accounts} ON ${accounts.id} = ${accountUsage.accountId}
      WHERE ${accountUsage.accountId} = ${p.accountId} AND ${accountUsage.day} > ${p.day}
      ON CONFLICT (account_id, day) DO UPDATE SET
        locations = max(0, locations + ${p.locations}), requests = requests + excluded.requests`,
  ),
)

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
      requests: p.requests,
    },
    sql`FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}
      ON CONFLICT (account_id) DO UPDATE SET
        locations = max(0, iif(excluded.day > day, 0, locations)
          + iif(excluded.day < day, 0, ${p.locations})),
        requests = iif(excluded.day > day, 0, requests) + iif(excluded.day < day, 0, ${p.requests}),
        day = max(day, excluded.day), storage_bytes = max(0, storage_bytes + ${p.storageBytes})`,
  ),
)

/** Adds what an isolate has counted, and returns what all of them have. */
export const addUsage = async (db: Database, usage: NewUsage): Promise<BudgetState | null> => {
  const { states } = await runBatch(db, {
    over: insertDayOver(db, usage),
    late: upsertLate(db, usage),
    added: upsertUsage(db, usage),
    states: selectState(db, { accountId: usage.accountId }),
  })
  const [row] = states.results
  return row ? toState(row) : null
}
