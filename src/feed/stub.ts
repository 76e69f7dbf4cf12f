import { hasSubscribers } from '../db/events.ts'
import { openCell } from '../db/open.ts'
import { BoundedCache } from '../domain/boundedCache.ts'
import type { Env } from '../env.ts'
import type { AccountFeed } from './feed.ts'
import type { Subscriber } from './subscriber.ts'

/** What may be asked of a feed: its methods, without the platform's wrapping of their types. */
export type Feed = Pick<
  AccountFeed,
  | 'fetch'
  | 'poke'
  | 'secretOf'
  | 'rotate'
  | 'tryOut'
  | 'deliveries'
  | 'redeliver'
  | 'forgetWebhook'
  | 'forget'
>

/** Whose feed it is, and where that account's log lies. */
export interface FeedOwner {
  accountId: string
  cell: number
}

/** Who asks for a stream, as the Worker has checked it, and what for. It goes in a header of the request, which nobody else can send. */
export interface StreamRequest extends FeedOwner, Pick<Subscriber, 'claims' | 'filter'> {
  after: number | null
}
export const STREAM_REQUEST_HEADER = 'X-Perigee-Entrance'

/** The only door to an account's feed. */
export const feedOf = (env: Env, accountId: string): Feed =>
  env.FEED.get(env.FEED.idFromName(accountId)) as unknown as Feed

/** When this isolate last poked each account's feed. */
const lastPoke = new BoundedCache<number>(10_000)
const POKE_INTERVAL_MS = 100

/**
 * Tells the feed that there is something new in the log. A burst makes one poke in a tenth of a second: who comes during the pause
 * waits for its end, and is spoken for by whoever pokes then. A poke that is lost loses nothing, so its failure is nobody's.
 */
export const pokeFeed = async (env: Env, { accountId, cell }: FeedOwner): Promise<void> => {
  const asked = Date.now()
  const wait = (lastPoke.get(accountId) ?? 0) + POKE_INTERVAL_MS - asked
  if (wait > 0 && wait <= POKE_INTERVAL_MS) {
    await scheduler.wait(wait)
    if ((lastPoke.get(accountId) ?? 0) > asked) return
  }
  lastPoke.set(accountId, Date.now())
  await feedOf(env, accountId)
    .poke({ accountId, cell })
    .catch(() => {})
}

/** For rare writes whose batch does not tell whether someone listens: asked afterwards, beside the answer. */
export const pokeIfSubscribed = async (env: Env, owner: FeedOwner): Promise<void> => {
  const heard = await hasSubscribers(openCell(env, owner.cell), owner.accountId, Date.now()).catch(
    () => false,
  )
  if (heard) await pokeFeed(env, owner)
}
