import type { Alert } from '../../../api/types.ts'
import { formatPosition } from '../../../format/units.ts'
import { navigate } from '../../../router/router.ts'
import { alertLabel, text } from '../../../text/text.ts'
import { IconButton, LinkButton } from '../../../ui/Button.tsx'
import { CopyButton } from '../../../ui/CopyButton.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { DeviceLink } from '../../../ui/links.tsx'
import { PlaceLine } from '../../../ui/PlaceWords.tsx'
import { Time } from '../../../ui/Time.tsx'
import { mapHref } from '../mapHref.ts'

export type PlacedAlert = Alert & { latitude: number; longitude: number }

export const placedAlert = (alert: Alert): PlacedAlert | null => {
  const { latitude, longitude } = alert
  return latitude === null || longitude === null ? null : { ...alert, latitude, longitude }
}

/** Where and when an alert happened, which is not where its device is now. */
export const AlertCard = ({ alert }: { alert: PlacedAlert }) => {
  const { id, deviceId, latitude, longitude, dateTime, positionSource, positionTime } = alert
  const title = alert.alerts.map(alertLabel).join(', ')
  const deviceHref = mapHref(`/map/${deviceId}`)
  return (
    <section class="device-card" aria-label={title}>
      <header>
        <div>
          <h2>{title}</h2>
          <p class="card-state">
            <DeviceLink id={deviceId} />
          </p>
        </div>
        <IconButton icon="close" label={text.map.closeCard} onClick={() => navigate(deviceHref)} />
      </header>
      {alert.text && <p class="card-note">{alert.text}</p>}
      <p class="card-line">
        <Icon name="pin" size={15} />
        <span>
          <PlaceLine words={alert.place} />
          {formatPosition(latitude, longitude)}
        </span>
        <CopyButton value={`${latitude}, ${longitude}`} isSmall />
      </p>
      <p class="card-line">
        <Icon name="clock" size={15} />
        <span>
          {text.map.happened} <Time value={dateTime} isRelative />
        </span>
      </p>
      {positionSource === 'last-known' && (
        <p class="card-note warn-text">
          {text.alerts.lastKnown} {positionTime && <Time value={positionTime} />}
        </p>
      )}
      <div class="actions">
        <LinkButton kind="primary" size="small" icon="alert" href={`/alerts/${id}`}>
          {text.map.openAlert}
        </LinkButton>
        <LinkButton size="small" icon="device" href={deviceHref}>
          {text.map.newestPosition}
        </LinkButton>
      </div>
    </section>
  )
}
