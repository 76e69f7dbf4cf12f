import { iso } from '../http/wire.ts'
import type { LoggedEvent } from './store.ts'

/** The one envelope: in lists, webhooks and streams alike. */
export const presentEvent = ({ id, type, time, sequence, accountId, deviceId, data }: LoggedEvent) => ({
  id,
  type,
  time: iso(time),
  sequence,
  accountId,
  data: deviceId === null ? data : { deviceId, ...data },
})
