import { quarantineVersion } from '../../../api/devices.ts'
import { useList } from '../../../api/list.ts'
import type { Device } from '../../../api/types.ts'
import { formatPosition } from '../../../format/units.ts'
import { text } from '../../../text/text.ts'
import { Icon } from '../../../ui/Icon.tsx'
import { Time } from '../../../ui/Time.tsx'
import { quarantinedText } from '../../../ui/Waiting.tsx'

/** The newest position in quarantine, which may be where the device really is. */
export const QuarantineNote = ({ device }: { device: Device }) => {
  const { items } = useList('GET /api/devices/{deviceId}/quarantine', 'quarantine', {
    params: { deviceId: device.id },
    query: { limit: 1 },
    version: quarantineVersion(device),
  })
  const [newest] = items
  return (
    <div class="card-quarantine">
      <Icon name="warning" size={15} />
      <div>
        <p>
          <a href={`/devices/${device.id}`}>{text.quarantine.note(quarantinedText(device))}</a>
        </p>
        {newest && (
          <p>
            {text.quarantine.newest}{' '}
            {formatPosition(newest.location.latitude, newest.location.longitude)},{' '}
            {text.quarantine.arrived} <Time value={newest.receivedAt} isRelative />.{' '}
            {text.quarantine.reasons[newest.reason]}.
          </p>
        )}
      </div>
    </div>
  )
}
