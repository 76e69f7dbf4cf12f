import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Alert } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { Button, type ButtonProps } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/dialog/Dialog.tsx'
import { TextArea } from '../../ui/form/fields.tsx'
import { toast } from '../../ui/toast.tsx'

export const MAX_NOTE_LENGTH = 2000

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

type StepProps = ActionProps & {
  step: 'cancel' | 'resolve' | 'reopen'
} & Pick<ButtonProps, 'icon' | 'kind'>

/** Says what a step does and whom it notifies, takes a note for the log, and then acts. */
export const StepButton = ({ step, alert, onDone, icon, kind }: StepProps) => {
  const [isAsking, setIsAsking] = useState(false)
  const [note, setNote] = useState('')
  const words = text.alerts.steps[step]
  const action = useAction(async () => {
    const { alert: next } = await call(`POST /api/alerts/{alertId}/${step}`, {
      params: { alertId: alert.id },
      body: note.trim() ? { note: note.trim() } : {},
    })
    setIsAsking(false)
    setNote('')
    toast(words.done)
    onDone(next)
  })
  const close = () => {
    setIsAsking(false)
    action.clear()
  }
  return (
    <>
      <Button icon={icon} kind={kind} onClick={() => setIsAsking(true)}>
        {words.label}
      </Button>
      {isAsking && (
        <FormDialog
          title={words.title}
          submitLabel={words.confirm}
          kind={step === 'cancel' ? 'danger' : 'primary'}
          closeLabel={text.alerts.back}
          action={action}
          onClose={close}
        >
          <p>{words.question}</p>
          <TextArea
            label={text.alerts.stepNote}
            value={note}
            onInput={setNote}
            rows={3}
            maxLength={MAX_NOTE_LENGTH}
          />
        </FormDialog>
      )}
    </>
  )
}

/** Calls off a false alarm. */
export const CancelAlert = (props: ActionProps) => (
  <StepButton {...props} step="cancel" icon="close" />
)
