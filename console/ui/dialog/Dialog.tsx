import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { ApiError } from '../../api/problem.ts'
import { text } from '../../text/text.ts'
import { Button, IconButton } from '../Button.tsx'
import { TextField } from '../form/fields.tsx'
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
  canClose?: boolean
}

/** A modal dialog: the browser keeps the focus inside it and returns it afterwards. */
export const Dialog = ({
  title,
  onClose,
  children,
  actions,
  size = 'small',
  onSubmit,
  canClose = true,
}: DialogProps) => {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const isShown = useRef(false)
  useEffect(() => {
    const element = dialog.current
    isShown.current = true
    element?.showModal()
    // The browser moves the focus to the first control; a field that asked for it comes first.
    element?.querySelector<HTMLElement>('[data-focused]')?.focus()
    return () => {
      isShown.current = false
      element?.close()
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

export interface ConfirmProps {
  title: string
  children: ComponentChildren
  confirmLabel: string
  onConfirm: () => void
  onClose: () => void
  isPending?: boolean
  error?: ApiError | null
  /** For the worst actions: the text that must be typed first. */
  name?: string
}

/** Asks before a destructive action. */
export const Confirm = ({
  title,
  children,
  confirmLabel,
  onConfirm,
  onClose,
  isPending = false,
  error,
  name,
}: ConfirmProps) => {
  const [typed, setTyped] = useState('')
  const isReady = name === undefined || typed.trim() === name.trim()
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => isReady && !isPending && onConfirm()}
      actions={
        <>
          <Button onClick={onClose}>{text.common.cancel}</Button>
          <Button type="submit" kind="danger" disabled={!isReady} isPending={isPending}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      <div class="stack">
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
        {error && <Refusal error={error} />}
      </div>
    </Dialog>
  )
}
