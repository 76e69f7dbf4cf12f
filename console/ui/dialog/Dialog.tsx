import type { ComponentChildren, Ref } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { text } from '../../text/text.ts'
import { Button, IconButton } from '../Button.tsx'
import type { FormAction } from '../form/Form.tsx'
import { useWrongField } from '../form/useWrongField.ts'
import { Refusal } from '../states.tsx'

interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
  /** Buttons at the bottom. */
  actions?: ComponentChildren
  size?: 'small' | 'large'
  /** Makes the dialog a form: Enter submits it. */
  onSubmit?: () => void
  form?: Ref<HTMLFormElement>
  canClose?: boolean
}

/** A modal dialog: the browser keeps the focus inside it. Afterwards it is where it was before. */
export const Dialog = ({
  title,
  onClose,
  children,
  actions,
  size = 'small',
  onSubmit,
  form = null,
  canClose = true,
}: DialogProps) => {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const isShown = useRef(false)
  useEffect(() => {
    const element = dialog.current
    const opener = document.activeElement as HTMLElement | null
    isShown.current = true
    element?.showModal()
    // The browser moves the focus to the first control; a field that asked for it comes first.
    element?.querySelector<HTMLElement>('[data-focused]')?.focus()
    return () => {
      isShown.current = false
      element?.close()
      // The dialog is removed by now, and browsers return no focus from what is removed.
      opener?.focus()
    }
  }, [])
  /** Browsers close a dialog at the second Escape, whatever the page says to the first. */
  const followBrowser = () => {
    if (!isShown.current) return
    if (canClose) onClose()
    else dialog.current?.showModal()
  }
  const content = (
    <>
      <header class="dialog-header">
        <h2 id={id}>{title}</h2>
        {canClose && <IconButton icon="close" label={text.common.close} onClick={onClose} />}
      </header>
      <div class="dialog-body">{children}</div>
      {actions && <footer class="dialog-footer">{actions}</footer>}
    </>
  )
  return (
    <dialog
      ref={dialog}
      class={`dialog ${size}`}
      aria-labelledby={id}
      onCancel={(event) => {
        // Fields for files have an event of the same name.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        if (canClose) onClose()
      }}
      onClose={followBrowser}
    >
      {onSubmit ? (
        <form
          ref={form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            onSubmit()
          }}
        >
          {content}
        </form>
      ) : (
        content
      )}
    </dialog>
  )
}

interface FormDialogProps extends Pick<DialogProps, 'title' | 'onClose' | 'children'> {
  submitLabel: string
  action: FormAction
  canSubmit?: boolean
  kind?: 'primary' | 'danger'
  closeLabel?: string
  /** Shows the error; without it, its sentence. */
  refusal?: ComponentChildren
}

/** A dialog with a form: fields, why the service refused them, and buttons. */
export const FormDialog = ({
  title,
  onClose,
  children,
  submitLabel,
  action: { run, isPending, error },
  canSubmit = true,
  kind = 'primary',
  closeLabel = text.common.cancel,
  refusal,
}: FormDialogProps) => {
  const { form, onSubmitted } = useWrongField({ isPending, error })
  const submit = () => {
    if (!canSubmit || isPending) return
    void run()
    onSubmitted()
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={submit}
      form={form}
      actions={
        <>
          <Button onClick={onClose}>{closeLabel}</Button>
          <Button type="submit" kind={kind} disabled={!canSubmit} isPending={isPending}>
            {submitLabel}
          </Button>
        </>
      }
    >
      <div class="stack">
        {children}
        {error && (refusal ?? <Refusal error={error} />)}
      </div>
    </Dialog>
  )
}
