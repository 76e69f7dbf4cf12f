import { iso } from '../domain/time/iso.ts'
import type { Subscription } from './store.ts'

/** `currentId` is the session of the token that asks. */
export const presentSubscription = (
  { id, endpoint, userAgent, creation, sessionId }: Subscription,
  currentId: string,
) => ({
  id,
  endpoint: new URL(endpoint).host,
  userAgent,
  creation: iso(creation),
  current: sessionId === currentId,
})
