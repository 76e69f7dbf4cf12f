import { iso } from '../domain/time/iso.ts'
import type { CommandRow } from './store.ts'

/** An SMS that the daily limit suppressed was not sent, and will not be. */
const statusOf = ({ status, sms_status }: CommandRow): CommandRow['status'] => {
  if (sms_status === null) return status
  return sms_status === 'suppressed' ? 'failed' : (sms_status as CommandRow['status'])
}

export const presentCommand = (row: CommandRow) => ({
  id: row.id,
  received: row.is_received === 1,
  status: statusOf(row),
  format: row.format,
  command: row.command,
  sms: row.sms === 1,
  creation: iso(row.creation),
  answer: row.answer ?? row.sms_reason,
})
