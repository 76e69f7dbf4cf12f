import { iso } from '../domain/time/iso.ts'
import type { StoredCommand } from './store.ts'

/** An SMS that the daily limit suppressed was not sent, and will not be. */
const statusOf = ({ status, smsStatus }: StoredCommand): StoredCommand['status'] => {
  if (smsStatus === null) return status
  return smsStatus === 'suppressed' ? 'failed' : (smsStatus as StoredCommand['status'])
}

export const presentCommand = (row: StoredCommand) => ({
  id: row.id,
  received: row.isReceived,
  status: statusOf(row),
  format: row.format,
  command: row.command,
  sms: row.sms,
  creation: iso(row.creation),
  answer: row.answer ?? row.smsReason,
})
