import { iso } from '../domain/time/iso.ts'
import type { StoredCommand } from './store.ts'

/** Commands from before a daily limit refused them may have an SMS that was suppressed. */
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
