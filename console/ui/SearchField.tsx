import { useEffect, useState } from 'preact/hooks'
import { text } from '../text/text.ts'
import { Icon } from './Icon.tsx'

const DELAY_MS = 250

/** A search field that reports what was typed once its user pauses. */
export const SearchField = ({
  label,
  value,
  onSearch,
}: {
  label: string
  value: string
  onSearch: (value: string) => void
}) => {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => onSearch(typed), DELAY_MS)
    return () => clearTimeout(timer)
  }, [typed, value, onSearch])
  return (
    <div class="search">
      <Icon name="search" size={16} />
      <input
        class="input"
        type="search"
        aria-label={label}
        title={label}
        placeholder={text.common.search}
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </div>
  )
}
