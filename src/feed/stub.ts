import type { DurableObject } from 'cloudflare:workers'
import { openCell } from '../db/open.ts'
import { hasSubscribers } from '../db/queries/events.ts'
import { BoundedCache } from '../domain/cache/boundedCache.ts'
import { type Env, stubOf } from '../env.ts'
import type { AccountFeed } from './feed.ts'
import type { Subscriber } from './streams/subscriber.ts'

/** The feed's methods, without the types that the platform wraps around them. */
export type Feed = Omit<AccountFeed, Exclude<keyof DurableObject, 'fetch'>>

/** The account that a feed belongs to, and the cell of its event log. */
export interface FeedOwner {
  accountId: string
  cell: number
}

/** A request for a stream that the Worker has authorized. Nobody else can reach a feed. */
export interface StreamRequest extends FeedOwner, Pick<Subscriber, 'claims' | 'filter'> {
  /** Start after this event; null to start with the next one. */
  after: number | null
}
export const STREAM_REQUEST_HEADER = 'X-Perigee-Stream-Request'

export const feedOf = (env: Env, accountId: string): Feed =>
  stubOf(env, env.FEED, accountId) as unknown as Feed

/** When this isolate last poked each account's feed. */
const lastPoke = new BoundedCache<number>(10_000)
const POKE_INTERVAL_MS = 100

/**
 * Tells the feed that there are new events. At most one poke per account and isolate every 100 ms;
 * waiting callers share it. A lost poke is harmless: the alarm polls.
 */
export const pokeFeed = async (env: Env, { accountId, cell }: FeedOwner): Promise<void> => {
  const requestedAt = Date.now()
  const waitMs = (lastPoke.get(accountId) ?? 0) + POKE_INTERVAL_MS - requestedAt
  if (waitMs > 0 && waitMs <= POKE_INTERVAL_MS) {
    await scheduler.wait(waitMs)
    if ((lastPoke.get(accountId) ?? 0) > requestedAt) return
  }
  lastPoke.set(accountId, Date.now())
  await feedOf(env, accountId)
    .poke({ accountId, cell })
    .catch(() => {})
}

/** For rare writes whose own batch does not tell whether the account has subscribers. */
export const pokeIfSubscribed = async (env: Env, owner: FeedOwner): Promise<void> => {
  const db = openCell(env, owner.cell)
  const isSubscribed = await hasSubscribers(db, owner.accountId, Date.now()).catch(() => false)
  if (isSubscribed) await pokeFeed(env, owner)
}
