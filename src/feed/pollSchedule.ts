import type { AccountStatus } from '../webhooks/store.ts'

/** With open streams the feed polls this often, so that a revoked key takes effect within 30 s. */
export const POLL_INTERVAL_MS = 20_000
/** Without open streams the interval grows with the time since the last event, up to this. */
const MAX_POLL_INTERVAL_MS = 300_000

interface Schedule {
  now: number
  status: AccountStatus
  lastPollAt: number
  lastEventAt: number
  /** The earliest deadline of an open stream; null without open streams. */
  streamDeadline: number | null
  hasWebhooks: boolean
  /** When the next attempt of a webhook delivery is due. */
  nextAttempt: number | null
  nextNotice: number | null
  /** Whether entries of the audit are still to be stored in the cell. */
  hasAudit: boolean
}

const AUDIT_RETRY_MS = 2000

/** When the feed must poll next; null while there is nothing to poll for. */
export const nextPollAt = (schedule: Schedule): number | null => {
  const { now, status, lastPollAt, lastEventAt, streamDeadline, nextAttempt } = schedule
  const times = [schedule.nextNotice]
  if (streamDeadline !== null) times.push(streamDeadline, lastPollAt + POLL_INTERVAL_MS)
  if (schedule.hasWebhooks) {
    const quietMs = Math.max(now - lastEventAt, POLL_INTERVAL_MS)
    times.push(nextAttempt, lastPollAt + Math.min(quietMs, MAX_POLL_INTERVAL_MS))
  }
  if (schedule.hasAudit) times.push(now + AUDIT_RETRY_MS)
  if (status === 'disabled') times.push(lastPollAt + MAX_POLL_INTERVAL_MS)
  const due = times.filter((time) => time !== null)
  return due.length === 0 ? null : Math.min(...due)
}
