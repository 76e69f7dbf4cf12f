import type { ComponentChildren } from 'preact'
import type { Action } from '../../api/resource.ts'
import { text } from '../../text/text.ts'
import { Button, LinkButton } from '../Button.tsx'
import { Refusal } from '../states.tsx'
import { useWrongField } from './useWrongField.ts'

/** What a form needs to know of the action that it runs. */
export type FormAction = Pick<Action<[]>, 'run' | 'isPending' | 'error'>

interface FormProps {
  submitLabel: string
  action: FormAction
  /** Where something is checked before the action runs. */
  onSubmit?: () => void
  children: ComponentChildren
  /** Shows the error; without it, its sentence. */
  refusal?: ComponentChildren
  /** False while there is nothing to send. */
  canSubmit?: boolean
  /** True for who may read but not change. */
  isReadOnly?: boolean
  cancelHref?: string
  /** Further buttons. */
  actions?: ComponentChildren
  isNarrow?: boolean
}

/** A form with its refusal and its buttons. It is sent once at a time. */
export const Form = ({
  submitLabel,
  action: { run, isPending, error },
  onSubmit = run,
  children,
  refusal,
  canSubmit = true,
  isReadOnly = false,
  cancelHref,
  actions,
  isNarrow = false,
}: FormProps) => {
  const { form, onSubmitted } = useWrongField({ isPending, error })
  return (
    <form
      ref={form}
      class={isNarrow ? 'stack form' : 'stack'}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (isPending || !canSubmit || isReadOnly) return
        onSubmit()
        onSubmitted()
      }}
    >
      {children}
      {error && (refusal ?? <Refusal error={error} />)}
      {!isReadOnly && (
        <div class="form-actions">
          <Button type="submit" kind="primary" disabled={!canSubmit} isPending={isPending}>
            {submitLabel}
          </Button>
          {cancelHref && <LinkButton href={cancelHref}>{text.common.cancel}</LinkButton>}
          {actions}
        </div>
      )}
    </form>
  )
}
