import type { ComponentChildren } from 'preact'
import { text } from '../../text/text.ts'

/** The choices above a list. */
export const Filters = ({ children }: { children: ComponentChildren }) => (
  <section class="toolbar" aria-label={text.common.filter}>
    {children}
  </section>
)
