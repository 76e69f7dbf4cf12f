import type { Alert } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { Badge } from '../../ui/Page.tsx'

export const AlertState = ({ alert }: { alert: Alert }) => {
  if (alert.cancelled) return <Badge kind="plain">{text.alerts.cancelled}</Badge>
  if (alert.acknowledged) return <Badge kind="good">{text.alerts.acknowledged}</Badge>
  return alert.emergency ? (
    <Badge kind="bad">{text.alerts.openEmergency}</Badge>
  ) : (
    <Badge kind="warn">{text.alerts.open}</Badge>
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
