import { useEffect } from 'preact/hooks'
import type { Location } from '../../../api/types.ts'
import { formatCourse, formatHeight, formatPosition, formatSpeed } from '../../../format/units.ts'
import { usePolling } from '../../../live/usePolling.ts'
import { navigate } from '../../../router/router.ts'
import { text } from '../../../text/text.ts'
import { IconButton, LinkButton } from '../../../ui/Button.tsx'
import { CopyButton } from '../../../ui/CopyButton.tsx'
import { Icon, type IconName } from '../../../ui/Icon.tsx'
import { PlaceWords } from '../../../ui/PlaceWords.tsx'
import { Time } from '../../../ui/Time.tsx'
import { mapHref } from '../mapHref.ts'
import { type Member, refreshDevice } from './fleet.ts'
import { QuarantineNote } from './QuarantineNote.tsx'
import { StateDot } from './StateDot.tsx'

const figuresOf = ({ speed, altitude, course, battery }: Location) =>
  [
    speed !== undefined && (['speed', text.map.speed, formatSpeed(speed)] as const),
    altitude !== undefined && (['height', text.map.altitude, formatHeight(altitude)] as const),
    course !== undefined && (['compass', text.map.course, formatCourse(course)] as const),
    battery !== undefined && (['battery', text.map.battery, `${Math.round(battery)} %`] as const),
  ].filter((one) => one !== false)

const Figure = ({ icon, label, value }: { icon: IconName; label: string; value: string }) => (
  <div class="figure">
    <dt>
      <Icon name={icon} size={15} />
      {label}
    </dt>
    <dd>{value}</dd>
  </div>
)

/** What a position says besides the place. */
export const Figures = ({ location }: { location: Location }) => (
  <dl class="figures">
    {figuresOf(location).map(([icon, label, value]) => (
      <Figure key={label} icon={icon} label={label} value={value} />
    ))}
  </dl>
)

/** What is known about the selected device now. */
export const DeviceCard = ({ member: { device, state } }: { member: Member }) => {
  const { lastLocation } = device
  useEffect(() => refreshDevice(device.id), [device.id])
  usePolling(async () => refreshDevice(device.id))
  return (
    <section class="device-card" aria-label={device.name}>
      <header>
        <div>
          <h2>{device.name}</h2>
          <p class="card-state">
            <StateDot state={state} />
            {text.deviceStates[state]}
          </p>
        </div>
        <IconButton
          icon="close"
          label={text.map.closeCard}
          onClick={() => navigate(mapHref('/'))}
        />
      </header>
      {state === 'expired' && <p class="card-note">{text.map.expiredCard}</p>}
      {lastLocation ? (
        <>
          <Figures location={lastLocation} />
          <p class="card-line">
            <Icon name="pin" size={15} />
            <span>
              <PlaceWords id={device.id} position={lastLocation} />
              {formatPosition(lastLocation.latitude, lastLocation.longitude)}
            </span>
            <CopyButton value={`${lastLocation.latitude}, ${lastLocation.longitude}`} isSmall />
          </p>
          <p class="card-line">
            <Icon name="clock" size={15} />
            <span>
              {text.map.reported} <Time value={lastLocation.dateTime} isRelative />
            </span>
          </p>
        </>
      ) : (
        <p class="card-note">{text.map.noPosition}</p>
      )}
      {device.quarantined > 0 && <QuarantineNote key={device.id} device={device} />}
      <div class="actions">
        <LinkButton
          kind="primary"
          size="small"
          icon="track"
          href={mapHref(`/map/${device.id}/track`)}
        >
          {text.map.track}
        </LinkButton>
        <LinkButton size="small" icon="device" href={`/devices/${device.id}`}>
          {text.map.openDevice}
        </LinkButton>
      </div>
    </section>
  )
}
