import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { useAction } from '../../api/resource.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { Button, type ButtonProps } from '../Button.tsx'
import type { FormAction } from '../form/Form.tsx'
import { TextField } from '../form/fields.tsx'
import { toast } from '../toast.tsx'
import { FormDialog } from './Dialog.tsx'

interface ConfirmProps {
  title: string
  question: string
  confirmLabel: string
  /** For the worst actions: the text that must be typed first. */
  name?: string
  /** Fields below the question. */
  children?: ComponentChildren
  action: FormAction
  onClose: () => void
  /** Takes the place of question and refusal where it returns something. */
  explain?: ((error: PerigeeError) => ComponentChildren) | undefined
}

/** Asks before a destructive action. */
export const Confirm = ({
  question,
  confirmLabel,
  name,
  children,
  explain,
  ...dialog
}: ConfirmProps) => {
  const [typed, setTyped] = useState('')
  const { error } = dialog.action
  const explanation = error && explain?.(error)
  return (
    <FormDialog
      {...dialog}
      kind="danger"
      submitLabel={confirmLabel}
      canSubmit={name === undefined || typed.trim() === name.trim()}
      {...(explanation && { refusal: explanation })}
    >
      {!explanation && <p>{question}</p>}
      {children}
      {name !== undefined && (
        <TextField
          label={text.confirm.typeName(name)}
          value={typed}
          onInput={setTyped}
          autocomplete="off"
          autofocus
        />
      )}
    </FormDialog>
  )
}

type ConfirmButtonProps = Omit<ConfirmProps, 'action' | 'onClose'> &
  Pick<ButtonProps, 'icon' | 'kind' | 'size' | 'disabled'> & {
    label: string
    onConfirm: () => Promise<unknown>
  }

/** A button that asks before it acts. */
export const ConfirmButton = ({
  label,
  icon,
  kind,
  size,
  disabled,
  onConfirm,
  ...confirm
}: ConfirmButtonProps) => {
  const [isAsking, setIsAsking] = useState(false)
  const action = useAction(async () => {
    await onConfirm()
    setIsAsking(false)
  })
  const close = () => {
    setIsAsking(false)
    action.clear()
  }
  return (
    <>
      <Button {...{ icon, kind, size, disabled }} onClick={() => setIsAsking(true)}>
        {label}
      </Button>
      {isAsking && <Confirm {...confirm} action={action} onClose={close} />}
    </>
  )
}

type DeleteButtonProps = Omit<ConfirmButtonProps, 'label' | 'icon' | 'onConfirm'> & {
  label?: string
  onDelete: () => Promise<unknown>
  onDeleted?: () => void
  /** What is said afterwards, and the page to go to. */
  deleted: string
  href: string
}

/** Asks, deletes what a page shows, and leaves the page. */
export const DeleteButton = ({
  onDelete,
  onDeleted,
  deleted,
  href,
  ...confirm
}: DeleteButtonProps) => (
  <ConfirmButton
    kind="danger"
    label={text.common.delete}
    {...confirm}
    icon="trash"
    onConfirm={async () => {
      await onDelete()
      setLeaveGuard(null)
      toast(deleted)
      navigate(href, { replace: true })
      onDeleted?.()
    }}
  />
)
