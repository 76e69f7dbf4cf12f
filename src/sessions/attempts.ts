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
 * user and for the account, whether these exist or not. While one of these makes attempts wait, each
 * network has a few of its own, so that an attacker does not take the turns of the others.
 */

export interface Counter {
  id: string
  /** As many attempts are free, and become free again within `refillMs`. */
  free: number
  refillMs: number
  /** The wait after the free ones. Each further attempt doubles it, up to the longest. */
  firstWaitMs: number
  maxWaitMs: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
/** From a wait of a second to the longest. */
const MAX_DOUBLINGS = 6

const PER_USER = { free: 10, refillMs: HOUR_MS, firstWaitMs: 1000, maxWaitMs: MINUTE_MS }
/** A short wait: an attacker who invents addresses must not keep the others of the account out. */
const PER_ACCOUNT = { free: 100, refillMs: HOUR_MS, firstWaitMs: 1000, maxWaitMs: 10_000 }

/** So many attempts in a period, without a backoff. */
const atMost = (free: number, refillMs: number) => {
  const waitMs = refillMs / free
  return { free, refillMs, firstWaitMs: waitMs, maxWaitMs: waitMs }
}

/** What a network has of its own; of an account more, since many users can share a network. */
const PER_USER_AND_NETWORK = atMost(3, HOUR_MS)
const PER_ACCOUNT_AND_NETWORK = atMost(10, HOUR_MS)
/** What all networks have together: guessing from many of them stays slow. */
const PER_USER_OF_NETWORKS = atMost(6, MINUTE_MS)
const PER_ACCOUNT_OF_NETWORKS = atMost(30, MINUTE_MS)

const idOf = async (...parts: string[]): Promise<string> =>
  (await sha256(JSON.stringify(parts))).toHex()

/** What an attempt counts for: the first list that has no wait. */
export const countersOf = async (
  { userNameKey, emailKey }: SignInName,
  browserId: string | null,
  network: string,
): Promise<Counter[][]> => {
  if (browserId !== null) return [[{ id: await idOf('browser', browserId), ...PER_USER }]]
  const user = ['user', userNameKey, emailKey]
  const account = ['account', userNameKey]
  return [
    [
      { id: await idOf(...user), ...PER_USER },
      { id: await idOf(...account), ...PER_ACCOUNT },
    ],
    [
      { id: await idOf('network', network, ...user), ...PER_USER_AND_NETWORK },
      { id: await idOf('network', network, ...account), ...PER_ACCOUNT_AND_NETWORK },
      { id: await idOf('networks', ...user), ...PER_USER_OF_NETWORKS },
      { id: await idOf('networks', ...account), ...PER_ACCOUNT_OF_NETWORKS },
    ],
  ]
}

/** What an attempt at the password of a share counts for. */
export const countersOfShare = async (hash: string, network: string): Promise<Counter[][]> => [
  [{ id: await idOf('share', hash), ...PER_USER }],
  [
    { id: await idOf('network', network, 'share', hash), ...PER_USER_AND_NETWORK },
    { id: await idOf('networks', 'share', hash), ...PER_USER_OF_NETWORKS },
  ],
]

/** What letting a program in counts for: each stores rows in the directory of all accounts. */
export const countersOfConsent = async (
  accountId: string,
  userId: string,
): Promise<Counter[][]> => [
  [
    { id: await idOf('consent', accountId, userId), ...atMost(30, HOUR_MS) },
    { id: await idOf('consent', accountId), ...atMost(300, 24 * HOUR_MS) },
  ],
]

/** What the registration of a program counts for: no network takes the places of all others. */
export const countersOfRegistration = async (network: string): Promise<Counter[][]> => [
  [{ id: await idOf('registration', network), ...atMost(100, 24 * HOUR_MS) }],
]

const { id: counterId, level, at, nextAt } = signInAttempts

const countAttempt = (counter: Counter, now: number, condition: SQL) => {
  const { id, free, refillMs, firstWaitMs, maxWaitMs } = counter
  const levelNow = sql`max(0, ${level} - max(0, ${now} - ${at}) * ${free / refillMs})`
  const nextLevel = sql`min(${free + MAX_DOUBLINGS}, 1 + ${levelNow})`
  const doublings = sql`CAST(round(${nextLevel} - ${free}) AS INTEGER)`
  // Zero without a wait: of attempts at the same time, some have an earlier `now`.
  const next = sql`CASE WHEN ${doublings} >= 0
    THEN ${now} + min(${maxWaitMs}, ${firstWaitMs} << ${doublings}) ELSE 0 END`
  return insertSelect(
    signInAttempts,
    { id, level: 1, at: now, nextAt: 0 },
    sql`WHERE ${condition} ON CONFLICT (id) DO UPDATE SET ${names(level)} = ${nextLevel},
      ${names(at)} = ${now}, ${names(nextAt)} = ${next}`,
  )
}

/** Counts an attempt for all of the counters; the time of the next one if it has to wait. */
const tryCount = async (db: Database, counters: Counter[], now: number): Promise<number | null> => {
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

/**
 * Counts an attempt before its password is checked, so that many at once cannot pass together. What
 * it was counted for, or the time when the next one may be made.
 */
export const takeAttempt = async (
  db: Database,
  alternatives: Counter[][],
  now: number,
): Promise<Counter[] | number> => {
  const nextTimes: number[] = []
  for (const counters of alternatives) {
    const nextAt = await tryCount(db, counters, now)
    if (nextAt === null) return counters
    nextTimes.push(nextAt)
  }
  return Math.min(...nextTimes)
}

/**
 * The password was right, and all counters lose this attempt. None starts again: many know the
 * password of a share, and each right one would give others their guesses back.
 */
export const giveBackAttempt = (db: Database, counters: Counter[]): Runnable[] =>
  counters.map(({ id }) =>
    db
      .update(signInAttempts)
      .set({ level: sql`max(0, ${level} - 1)` })
      .where(eq(counterId, id)),
  )

/** The password was right: the first counter starts again, and the others lose this attempt. */
export const uncountAttempt = (db: Database, [first, ...others]: Counter[]): Runnable[] => [
  ...(first ? [db.delete(signInAttempts).where(eq(counterId, first.id))] : []),
  ...giveBackAttempt(db, others),
]
