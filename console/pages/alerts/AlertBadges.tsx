import type { Alert } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { Badge } from '../../ui/Page.tsx'

const KINDS = { acknowledged: 'info', resolved: 'good', cancelled: 'plain' } as const

export const AlertState = ({ alert: { state, emergency } }: { alert: Alert }) => {
  if (state !== 'open') return <Badge kind={KINDS[state]}>{text.alerts.states[state]}</Badge>
  return emergency ? (
    <Badge kind="bad">{text.alerts.openEmergency}</Badge>
  ) : (
    <Badge kind="warn">{text.alerts.states.open}</Badge>
  )
}

/** How many messages went out and how many did not. */
export const Sent = ({ alert }: { alert: Alert }) => {
  const count = (...statuses: string[]) =>
    alert.deliveries.filter(({ status }) => statuses.includes(status)).length
  const [out, waiting, suppressed, failed] = [
    count('sent', 'delivered'),
    count('queued'),
    count('suppressed'),
    count('failed'),
  ]
  if (alert.deliveries.length === 0) return <span class="muted">{text.alerts.sentToNobody}</span>
  return (
    <span class="counts">
      {out > 0 && <span>{text.alerts.sent(out)}</span>}
      {waiting > 0 && <span>{text.alerts.waiting(waiting)}</span>}
      {suppressed > 0 && <span class="warn-text">{text.alerts.suppressed(suppressed)}</span>}
      {failed > 0 && <span class="bad-text">{text.alerts.failed(failed)}</span>}
    </span>
  )
}
