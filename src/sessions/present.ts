import { iso } from '../domain/time/iso.ts'
import type { Session } from './store.ts'

/** `currentId` is the session of the token that asks. */
export const presentSession = (
  { id, userAgent, agent, creation, lastUsed, expires }: Session,
  currentId: string,
) => ({
  id,
  current: id === currentId,
  userAgent,
  agent: agent && { name: agent.name, scopes: agent.scopes },
  creation: iso(creation),
  lastUsed: iso(lastUsed),
  expires: iso(expires),
})
