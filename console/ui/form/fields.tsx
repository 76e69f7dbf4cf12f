import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { errorAt } from '../../api/errors.ts'
import { text } from '../../text/text.ts'
import { IconButton } from '../Button.tsx'

/*
 * Form fields. `pointer` is the JSON Pointer of the member in the request's body; the field shows what
 * the service says about it.
 */

interface FieldProps {
  label: string
  hint?: ComponentChildren
  pointer?: string
  error?: PerigeeError | null
  /** A message of the page itself, before anything is sent. */
  invalid?: string | null
  isOptional?: boolean
}

interface FormFieldProps extends FieldProps {
  children: (attributes: {
    id: string
    'aria-describedby'?: string | undefined
    'aria-invalid'?: true | undefined
  }) => ComponentChildren
}

const hasRefusal = ({ pointer, error }: FieldProps): boolean =>
  Boolean(pointer && error && errorAt(error, pointer))

/** A field with its label, its hint and what is wrong with it. */
export const FormField = ({
  label,
  hint,
  pointer,
  error,
  invalid,
  isOptional,
  children,
}: FormFieldProps) => {
  const id = useId()
  const refusal = invalid ?? (pointer && error ? errorAt(error, pointer) : null)
  const described = [hint && `${id}-hint`, refusal && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isOptional && <span class="optional"> {text.common.optional}</span>}
      </label>
      {children({
        id,
        'aria-describedby': described || undefined,
        'aria-invalid': refusal ? true : undefined,
      })}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {refusal && (
        <p class="field-error" id={`${id}-error`}>
          {label} {refusal}
        </p>
      )}
    </div>
  )
}

interface TextFieldProps extends FieldProps {
  value: string
  onInput: (value: string) => void
  type?: 'text' | 'email' | 'tel' | 'url' | 'date' | 'datetime-local' | 'number' | 'time' | 'color'
  autocomplete?: string
  required?: boolean
  disabled?: boolean
  maxLength?: number
  min?: string | number
  max?: string | number
  placeholder?: string
  autofocus?: boolean
  isCode?: boolean
  onBlur?: () => void
}

/** Without it, browsers let a year have six digits, which no date has that can be sent. */
const LATEST = { date: '9999-12-31', 'datetime-local': '9999-12-31T23:59' } as const

/** When the field appears. */
const focusOnce = (element: HTMLInputElement | null) => {
  if (!element || element.dataset.focused) return
  element.dataset.focused = 'true'
  element.focus()
}

export const TextField = ({
  value,
  onInput,
  type = 'text',
  isCode,
  autofocus,
  ...props
}: TextFieldProps) => {
  const { label, hint, pointer, error, invalid, isOptional, ...input } = props
  return (
    <FormField {...({ label, hint, pointer, error, invalid, isOptional } as FieldProps)}>
      {(attributes) => (
        <input
          {...attributes}
          {...(type in LATEST && { max: LATEST[type as keyof typeof LATEST] })}
          {...input}
          type={type as 'text'}
          value={value}
          class={isCode ? 'input code' : 'input'}
          ref={autofocus ? focusOnce : null}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </FormField>
  )
}

/** A password or another secret, hidden until its owner wants to see it. */
export const SecretField = ({
  value,
  onInput,
  autocomplete = 'off',
  required,
  placeholder,
  autofocus = false,
  ...props
}: FieldProps & {
  value: string
  onInput: (value: string) => void
  autocomplete?: string
  required?: boolean
  placeholder?: string
  autofocus?: boolean
}) => {
  const [isShown, setIsShown] = useState(false)
  return (
    <FormField {...props}>
      {(attributes) => (
        <div class="secret">
          <input
            {...attributes}
            type={(isShown ? 'text' : 'password') as 'text'}
            class="input"
            value={value}
            required={required}
            autocomplete={autocomplete as 'off'}
            placeholder={placeholder}
            spellcheck={false}
            ref={autofocus ? focusOnce : null}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
          />
          <IconButton
            icon="eye"
            label={isShown ? text.signIn.hidePassword : text.signIn.showPassword}
            isPressed={isShown}
            onClick={() => setIsShown(!isShown)}
          />
        </div>
      )}
    </FormField>
  )
}

export const TextArea = ({
  value,
  onInput,
  rows = 3,
  maxLength,
  disabled,
  ...props
}: FieldProps & {
  value: string
  onInput: (value: string) => void
  rows?: number
  disabled?: boolean
  maxLength?: number
}) => (
  <FormField {...props}>
    {(attributes) => (
      <textarea
        {...attributes}
        class="input"
        rows={rows}
        maxLength={maxLength}
        disabled={disabled}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    )}
  </FormField>
)

export interface Choice<T extends string = string> {
  value: T
  label: string
}

/** Each value with its text. */
export const choicesOf = <T extends string>(
  values: readonly T[],
  labels: Readonly<Record<T, string>>,
): Choice<T>[] => values.map((value) => ({ value, label: labels[value] }))

export const SelectField = <T extends string>({
  value,
  onChange,
  choices,
  disabled,
  ...props
}: FieldProps & {
  value: T
  onChange: (value: T) => void
  choices: readonly Choice<T>[]
  disabled?: boolean
}) => (
  <FormField
    {...props}
    // What the service says of values that can be typed does not help who has chosen none.
    {...(value === '' && hasRefusal(props) && { invalid: text.common.mustBeChosen })}
  >
    {(attributes) => (
      <select
        {...attributes}
        class="input"
        value={value}
        disabled={disabled}
        onChange={({ currentTarget }) => onChange(currentTarget.value as T)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    )}
  </FormField>
)

export const CheckField = ({
  label,
  hint,
  isChecked,
  onChange,
  disabled,
}: {
  label: string
  hint?: ComponentChildren
  isChecked: boolean
  onChange: (isChecked: boolean) => void
  disabled?: boolean
}) => {
  const id = useId()
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <div>
        <label for={id}>{label}</label>
        {hint && (
          <p class="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}
