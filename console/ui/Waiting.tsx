import { formatNumber } from '../format/units.ts'
import { Badge } from './Page.tsx'

/** The service counts no further in a source, and in a device's quarantine. */
const MAX_COUNTED = 100
const MAX_QUARANTINED = 10

const countText = (count: number, max: number): string =>
  `${formatNumber(count)}${count >= max ? '+' : ''}`

/** How many positions of the device are in quarantine. */
export const quarantinedText = ({ quarantined }: { quarantined: number }): string =>
  countText(quarantined, MAX_QUARANTINED)

/** How much waits for somebody, which stands out unless it is nothing. */
export const Waiting = ({ count }: { count: number }) =>
  count > 0 ? (
    <Badge kind="warn">{countText(count, MAX_COUNTED)}</Badge>
  ) : (
    <span class="muted">0</span>
  )
