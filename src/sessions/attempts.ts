import { eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { SignInName } from '../auth/browserCookie.ts'
import type { Database } from '../db/open.ts'
import { insertSelect, select } from '../db/query.ts'
import { signInAttempts } from '../db/schema.ts'
import { names, type Runnable, runBatch } from '../db/statement.ts'
import { sha256 } from '../domain/text/sha256.ts'

/*
 * Limits how fast passwords can be guessed, from however many addresses. Attempts of a known browser
 * count for that browser alone, so that nobody else can make its user wait. All others count for the
 * user and for the account, whether these exist or not.
 */

interface Counter {
  id: string
  /** As many attempts are free, and become free again within an hour. */
  free: number
  /** Each further one doubles the wait, up to this. */
  maxWaitMs: number
}

const HOUR_MS = 3_600_000
const FIRST_WAIT_MS = 1000
/** From the first wait to the longest. */
const MAX_DOUBLINGS = 6

const PER_USER = { free: 10, maxWaitMs: 60_000 }
/** A short wait: an attacker who invents addresses must not keep the others of the account out. */
const PER_ACCOUNT = { free: 100, maxWaitMs: 10_000 }

const idOf = async (...parts: string[]): Promise<string> =>
  (await sha256(JSON.stringify(parts))).toHex()

/** What an attempt counts for. */
export const countersOf = async (
  { userNameKey, emailKey }: SignInName,
  browserId: string | null,
): Promise<Counter[]> =>
  browserId === null
    ? [
        { id: await idOf('user', userNameKey, emailKey), ...PER_USER },
        { id: await idOf('account', userNameKey), ...PER_ACCOUNT },
      ]
    : [{ id: await idOf('browser', browserId), ...PER_USER }]

const { id: counterId, level, at, nextAt } = signInAttempts

const countAttempt = ({ id, free, maxWaitMs }: Counter, now: number, condition: SQL) => {
  const sunk = sql`max(0, ${level} - max(0, ${now} - ${at}) * ${free / HOUR_MS})`
  const raised = sql`min(${free + MAX_DOUBLINGS}, 1 + ${sunk})`
  const doublings = sql`CAST(round(${raised} - ${free}) AS INTEGER)`
  // Zero without a wait: of attempts at the same time, some have an earlier `now`.
  const next = sql`CASE WHEN ${doublings} >= 0
    THEN ${now} + min(${maxWaitMs}, ${FIRST_WAIT_MS} << ${doublings}) ELSE 0 END`
  return insertSelect(
    signInAttempts,
    { id, level: 1, at: now, nextAt: 0 },
    sql`WHERE ${condition} ON CONFLICT (id) DO UPDATE SET ${names(level)} = ${raised},
      ${names(at)} = ${now}, ${names(nextAt)} = ${next}`,
  )
}

/**
 * Counts an attempt before its password is checked, so that many at once cannot pass together. The
 * time when the next one may be made, if this one may not.
 */
export const takeAttempt = async (
  db: Database,
  counters: Counter[],
  now: number,
): Promise<number | null> => {
  const own = inArray(
    counterId,
    counters.map(({ id }) => id),
  )
  const isOpen = sql`NOT EXISTS (SELECT 1 FROM ${signInAttempts} WHERE ${own} AND ${nextAt} > ${now})`
  const { counted, next } = await runBatch(db, {
    counted: counters.map((counter, index) =>
      countAttempt(counter, now, index === 0 ? isOpen : sql`changes() = 1`),
    ),
    next: select(
      { at: sql<number>`ifnull(max(${nextAt}), 0)` },
      sql`FROM ${signInAttempts} WHERE ${own}`,
    ),
  })
  return counted[0]?.meta.changes === 1 ? null : (next.results[0]?.at ?? now)
}

/** The password was right: the first counter starts again, and the others lose this attempt. */
export const forgiveAttempt = (db: Database, [first, ...others]: Counter[]): Runnable[] => [
  ...(first ? [db.delete(signInAttempts).where(eq(counterId, first.id))] : []),
  ...others.map(({ id }) =>
    db
      .update(signInAttempts)
      .set({ level: sql`max(0, ${level} - 1)` })
      .where(eq(counterId, id)),
  ),
]
