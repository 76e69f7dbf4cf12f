import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'

export const feedStub = ({ id }: { id: string }) => env.FEED.get(env.FEED.idFromName(id))

/** Moves the clock forward and runs the feed's alarm. */
export const passTime = async (account: { id: string }, ms: number): Promise<void> => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  await runDurableObjectAlarm(feedStub(account))
}
