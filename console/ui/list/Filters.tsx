import type { ComponentChildren } from 'preact'
import { text } from '../../text/text.ts'
import { Icon } from '../Icon.tsx'

/** The choices above a list. */
export const Filters = ({ children }: { children: ComponentChildren }) => (
  <section class="toolbar" aria-label={text.common.filter}>
    {children}
  </section>
)

/** A filter that the address of the page has set. A click removes it. */
export const FilterChip = ({
  onClear,
  children,
}: {
  onClear: () => void
  children: ComponentChildren
}) => (
  <button type="button" class="chip" onClick={onClear}>
    {children}
    <Icon name="close" size={14} />
    <span class="visually-hidden">{text.common.clear}</span>
  </button>
)
