import { useId } from 'preact/hooks'
import type { Choice } from './fields.tsx'

interface ChoicesProps<T extends string> {
  label: string
  value: T
  choices: readonly Choice<T>[]
  onChange: (value: T) => void
  isLabelHidden?: boolean
}

/** A few choices side by side, one of them taken: radio buttons in a row. */
export const Choices = <T extends string>({
  label,
  value,
  choices,
  onChange,
  isLabelHidden = false,
}: ChoicesProps<T>) => {
  const name = useId()
  return (
    <fieldset class="choices">
      <legend class={isLabelHidden ? 'visually-hidden' : ''}>{label}</legend>
      <div class="choices-row">
        {choices.map((choice) => (
          <label key={choice.value} class={choice.value === value ? 'chosen' : ''}>
            <input
              type="radio"
              class="visually-hidden"
              name={name}
              value={choice.value}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
            />
            {choice.label}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
