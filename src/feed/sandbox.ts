import { openCell } from '../db/open.ts'
import type { Env } from '../env.ts'
import { isSandbox } from '../sandbox/store.ts'
import type { FeedOwner } from './stub.ts'

/** A sandbox stays one, so each object reads it once. */
const known = new WeakMap<DurableObjectStorage, Promise<boolean>>()

interface Feed {
  env: Env
  storage: DurableObjectStorage
  owner: FeedOwner
}

const read = async ({ env, owner }: Feed): Promise<boolean> => {
  const is = await isSandbox(openCell(env, owner.cell), owner.accountId)
  if (is === null) throw new Error('the account of a feed is missing in its cell')
  return is
}

/** Whether the account of the feed is a sandbox: what it sends must say so. */
export const isSandboxFeed = (feed: Feed): Promise<boolean> => {
  const { storage } = feed
  const reading = known.get(storage) ?? read(feed)
  known.set(storage, reading)
  reading.catch(() => known.delete(storage))
  return reading
}
