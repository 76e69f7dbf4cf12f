import { formatCourse, formatRange, formatSpeed } from '../../../format/units.ts'
import { later } from '../../../text/later.ts'
import { Icon } from '../../../ui/Icon.tsx'
import { Card } from '../../../ui/Page.tsx'
import { Time } from '../../../ui/Time.tsx'
import type { Member } from '../../map/fleet/fleet.ts'
import { StateDot } from '../../map/fleet/StateDot.tsx'
import type { Neighbour } from './nearest.ts'

const Direction = ({ degrees }: { degrees: number }) => (
  <span class="direction">
    <span class="direction-arrow" style={{ transform: `rotate(${degrees - 90}deg)` }}>
      <Icon name="arrow" size={16} />
    </span>
    {formatCourse(degrees)}
  </span>
)

/** The nearest other devices, and where to look for them from the emergency. */
export const Nearest = ({ nearest }: { nearest: readonly Neighbour<Member>[] }) => (
  <Card title={later.incident.nearest}>
    {nearest.length === 0 ? (
      <p class="muted">{later.incident.nobodyNear}</p>
    ) : (
      <>
        <ol class="nearest">
          {nearest.map(({ member, device, metres, bearing }) => (
            <li key={device.id}>
              <StateDot state={member.state} />
              <div>
                <a href={`/devices/${device.id}`}>{device.name}</a>
                <span class="muted">
                  <Time value={device.lastLocation.dateTime} isRelative />
                  {device.lastLocation.speed !== undefined &&
                    ` · ${formatSpeed(device.lastLocation.speed)}`}
                </span>
              </div>
              <div class="nearest-way">
                <b>{formatRange(metres)}</b>
                <Direction degrees={bearing} />
              </div>
            </li>
          ))}
        </ol>
        <p class="hint">{later.incident.nearestHint}</p>
      </>
    )}
  </Card>
)
