import type { Delivery } from '../api/types.ts'
import { later } from '../text/later.ts'
import { text } from '../text/text.ts'
import { Badge } from './Page.tsx'
import { Time } from './Time.tsx'

const KINDS = {
  queued: 'plain',
  sent: 'info',
  delivered: 'good',
  failed: 'bad',
  suppressed: 'warn',
} as const

export const StatusBadge = ({ status }: { status: Delivery['status'] }) => (
  <Badge kind={KINDS[status]}>{text.messages.statuses[status]}</Badge>
)

/** Why the message is sent. */
export const MessageKind = ({ kind }: Pick<Delivery, 'kind'>) => (
  <span title={text.messages.kindHints[kind]}>{text.messages.kinds[kind]}</span>
)

/** A reason of the API in words; one that the console does not know is shown as it is. */
const reasonText = (reason: string): string =>
  (later.messages.reasons as Record<string, string>)[reason] ?? reason

/** What became of a message: the status, since when, and why it was not sent. */
export const MessageStatus = ({
  status,
  reason,
  resetAt,
  since,
}: Pick<Delivery, 'status' | 'reason' | 'resetAt'> & { since?: string | undefined }) => (
  <div class="message-status">
    <StatusBadge status={status} />
    {since && <Time value={since} />}
    {reason && <p class="hint">{reasonText(reason)}</p>}
    {resetAt && (
      <p class="hint">
        {text.messages.resets} <Time value={resetAt} />
      </p>
    )}
  </div>
)
