import { call } from '../../api/client.ts'
import type { Alert } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { ConfirmButton } from '../../ui/dialog/ConfirmButton.tsx'
import { toast } from '../../ui/toast.tsx'

interface ActionProps {
  alert: Alert
  onDone: (alert: Alert) => void
  size?: 'small' | 'normal'
}

export const Acknowledge = ({ alert, onDone, size = 'normal' }: ActionProps) => (
  <ActionButton
    kind={size === 'normal' ? 'primary' : 'plain'}
    size={size}
    icon="check"
    onAct={async () => {
      const params = { alertId: alert.id }
      onDone((await call('POST /api/alerts/{alertId}/acknowledge', { params })).alert)
      toast(text.alerts.acknowledgedToast)
    }}
  >
    {text.alerts.acknowledge}
  </ActionButton>
)

/** Calls off a false alarm. Everybody who was notified is notified again, so it asks first. */
export const CancelAlert = ({ alert, onDone }: ActionProps) => (
  <ConfirmButton
    icon="close"
    label={text.alerts.cancel}
    title={text.alerts.cancelTitle}
    question={text.alerts.cancelQuestion}
    confirmLabel={text.alerts.cancelConfirm}
    onConfirm={async () => {
      const params = { alertId: alert.id }
      onDone((await call('POST /api/alerts/{alertId}/cancel', { params })).alert)
      toast(text.alerts.cancelledToast)
    }}
  />
)
