import { formatNumber } from '../format/units.ts'
import { Badge } from './Page.tsx'

/** The service counts no further. */
const MAX_COUNTED = 100

export const countText = (count: number): string =>
  `${formatNumber(count)}${count >= MAX_COUNTED ? '+' : ''}`

/** How much waits for somebody, which stands out unless it is nothing. */
export const Waiting = ({ count }: { count: number }) =>
  count > 0 ? <Badge kind="warn">{countText(count)}</Badge> : <span class="muted">0</span>
