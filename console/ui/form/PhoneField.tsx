import { useLayoutEffect, useState } from 'preact/hooks'
import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { text } from '../../text/text.ts'
import { TextField } from './fields.tsx'
import { isPhone, tidyPhone } from './phone.ts'

interface PhoneFieldProps {
  label: string
  hint?: string
  value: string
  onInput: (value: string) => void
  pointer?: string
  error?: PerigeeError | null
  disabled?: boolean
}

/** A phone number that may be left out. It is typed as people write it, and sent as E.164. */
export const PhoneField = ({ value, onInput, ...props }: PhoneFieldProps) => {
  const [typed, setTyped] = useState(value)
  const [isLeft, setIsLeft] = useState(false)
  // Only a change from elsewhere replaces what is typed.
  useLayoutEffect(() => {
    if (tidyPhone(typed) !== value) setTyped(value)
  }, [value])
  return (
    <TextField
      {...props}
      type="tel"
      placeholder="+351912345678"
      value={typed}
      onInput={(next) => {
        setTyped(next)
        onInput(tidyPhone(next))
      }}
      onBlur={() => {
        setTyped(tidyPhone(typed))
        setIsLeft(true)
      }}
      invalid={isLeft && value !== '' && !isPhone(value) ? text.common.notAPhone : null}
      isOptional
    />
  )
}
