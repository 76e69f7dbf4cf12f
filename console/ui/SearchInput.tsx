import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Icon } from './Icon.tsx'

const PAUSE_MS = 300

interface SearchInputProps {
  label: string
  value: string
  /** Called once the reader pauses. */
  onInput: (value: string) => void
}

export const SearchInput = ({ label, value, onInput }: SearchInputProps) => {
  const id = useId()
  const [typed, setTyped] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => setTyped(value), [value])
  useEffect(() => () => clearTimeout(timer.current), [])
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
        onInput={({ currentTarget }) => {
          const next = currentTarget.value
          setTyped(next)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => onInput(next.trim()), PAUSE_MS)
        }}
      />
    </div>
  )
}
