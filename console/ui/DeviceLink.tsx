import { deviceName } from '../api/names.ts'
import { text } from '../text/text.ts'

/** A device by its name, with a link to its page. */
export const DeviceLink = ({ id }: { id: string }) => {
  const name = deviceName(id)
  if (name === null) return <span class="muted">{text.names.deletedDevice}</span>
  return <a href={`/devices/${encodeURIComponent(id)}`}>{name ?? id}</a>
}
