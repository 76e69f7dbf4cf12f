import { useId } from 'preact/hooks'
import { Icon } from '../Icon.tsx'
import { useDelayedInput } from './delayedInput.ts'

interface SearchInputProps {
  label: string
  value: string
  /** Called once the reader pauses. */
  onInput: (value: string) => void
}

export const SearchInput = ({ label, value, onInput }: SearchInputProps) => {
  const id = useId()
  const { typed, type } = useDelayedInput(value, onInput)
  return (
    <div class="search grow">
      <label class="visually-hidden" for={id}>
        {label}
      </label>
      <Icon name="search" size={16} />
      <input
        id={id}
        type="search"
        class="input"
        placeholder={label}
        value={typed}
        onInput={({ currentTarget }) => type(currentTarget.value)}
      />
    </div>
  )
}
