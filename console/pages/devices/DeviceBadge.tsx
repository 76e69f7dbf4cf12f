import type { Device } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { Badge } from '../../ui/Page.tsx'

export const DeviceBadge = ({ device }: { device: Device }) =>
  device.state === 'active' ? (
    <Badge kind="good">{text.devices.active}</Badge>
  ) : (
    <Badge kind="warn">{text.devices.expired}</Badge>
  )
