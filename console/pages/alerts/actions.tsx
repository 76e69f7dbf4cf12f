import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Alert } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { Confirm } from '../../ui/dialog/Dialog.tsx'
import { Refusal } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'

interface ActionProps {
  alert: Alert
  onDone: (alert: Alert) => void
  size?: 'small' | 'normal'
}

export const Acknowledge = ({ alert, onDone, size = 'normal' }: ActionProps) => {
  const acknowledge = useAction(async () => {
    const reply = await call('POST /api/alerts/{alertId}/acknowledge', {
      params: { alertId: alert.id },
    })
    onDone(reply.alert)
    toast(text.alerts.acknowledgedToast)
  })
  return (
    <>
      <Button
        kind={size === 'normal' ? 'primary' : 'plain'}
        size={size}
        icon="check"
        isPending={acknowledge.isPending}
        onClick={() => acknowledge.run()}
      >
        {text.alerts.acknowledge}
      </Button>
      {acknowledge.error && <Refusal error={acknowledge.error} />}
    </>
  )
}

/** Calls off a false alarm; everybody who was told is told again, so it asks first. */
export const CancelAlert = ({ alert, onDone }: ActionProps) => {
  const [isAsking, setIsAsking] = useState(false)
  const cancel = useAction(async () => {
    const params = { alertId: alert.id }
    onDone((await call('POST /api/alerts/{alertId}/cancel', { params })).alert)
    setIsAsking(false)
    toast(text.alerts.cancelledToast)
  })
  return (
    <>
      <Button icon="close" onClick={() => setIsAsking(true)}>
        {text.alerts.cancel}
      </Button>
      {isAsking && (
        <Confirm
          title={text.alerts.cancelTitle}
          confirmLabel={text.alerts.cancelConfirm}
          onConfirm={() => cancel.run()}
          onClose={() => setIsAsking(false)}
          isPending={cancel.isPending}
          error={cancel.error}
        >
          <p>{text.alerts.cancelQuestion}</p>
        </Confirm>
      )}
    </>
  )
}
