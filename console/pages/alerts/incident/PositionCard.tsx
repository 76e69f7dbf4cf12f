import { usePlaceWords } from '../../../api/placeWords.ts'
import type { Alert, Location } from '../../../api/types.ts'
import type { Place } from '../../../app/newestPlace.ts'
import { notationsOf } from '../../../format/notations.ts'
import { formatHeight, formatPosition } from '../../../format/units.ts'
import { later } from '../../../text/later.ts'
import { text } from '../../../text/text.ts'
import { CopyButton } from '../../../ui/CopyButton.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Card } from '../../../ui/Page.tsx'
import { Time } from '../../../ui/Time.tsx'
import { Figures } from '../../map/fleet/DeviceCard.tsx'

const OSM_ZOOM = 12

const coordinates = ({ latitude, longitude }: Place) =>
  [latitude.toFixed(6), longitude.toFixed(6)] as const

const geoHref = (place: Place): string => `geo:${coordinates(place).join()}`

const osmHref = (place: Place): string => {
  const [latitude, longitude] = coordinates(place)
  const marker = new URLSearchParams({ mlat: latitude, mlon: longitude })
  return `https://www.openstreetmap.org/?${marker}#map=${OSM_ZOOM}/${latitude}/${longitude}`
}

const Notations = ({ place }: { place: Place }) => (
  <dl class="notations">
    {notationsOf(place).map(({ kind, value }) => (
      <div key={kind}>
        <dt title={later.incident.notationHints[kind]}>{later.incident.notations[kind]}</dt>
        <dd>
          {value === null ? (
            <span class="muted">{later.incident.notDefined}</span>
          ) : (
            <>
              <code>{value}</code>
              <CopyButton value={value} label={later.incident.copy[kind]} isSmall />
            </>
          )}
        </dd>
      </div>
    ))}
  </dl>
)

/** Of where it was raised, the words are stored with the alert. */
const Words = ({ alert, place }: { alert: Alert; place: Place }) => {
  const isFirst = alert.latitude === place.latitude && alert.longitude === place.longitude
  const stored = isFirst ? alert.place : null
  const found = usePlaceWords(alert.id, stored === null ? place : null)
  const words = stored ?? found
  return words ? (
    <p class="position-age">
      <Icon name="pin" size={16} />
      <b>{words}</b>
    </p>
  ) : null
}

/** Where the emergency came from, if the device has moved since. */
const FirstPlace = ({ alert, place }: { alert: Alert; place: Place }) => {
  const { latitude, longitude, place: words, positionSource, positionTime, dateTime } = alert
  if (latitude === null || longitude === null)
    return <p class="hint">{later.incident.raisedWithout}</p>
  const isSame = latitude === place.latitude && longitude === place.longitude
  if (isSame && positionSource !== 'last-known') return null
  return (
    <p class={positionSource === 'last-known' ? 'hint warn-text' : 'hint'}>
      {positionSource === 'last-known' ? later.incident.firstLastKnown : later.incident.first}{' '}
      {words && `${words}, `}
      {formatPosition(latitude, longitude)}, <Time value={positionTime ?? dateTime} />
    </p>
  )
}

interface PositionCardProps {
  alert: Alert
  place: Place | null
  location: Location | null
  accuracy: number | null
}

export const PositionCard = ({ alert, place, location, accuracy }: PositionCardProps) => {
  if (!place)
    return (
      <Card title={later.incident.position}>
        <p class="bad-text">{later.incident.noPosition}</p>
      </Card>
    )
  return (
    <Card title={later.incident.position}>
      <div class="stack">
        <p class="position-age">
          <Icon name="clock" size={16} />
          <b>
            <Time value={place.dateTime} isRelative />
          </b>
          <span class="muted">
            <Time value={place.dateTime} />
            {' · '}
            {accuracy === null
              ? later.incident.accuracyUnknown
              : later.incident.accuracy(formatHeight(accuracy))}
          </span>
        </p>
        <Words alert={alert} place={place} />
        <Notations place={place} />
        <p class="position-links">
          <a class="button small" href={geoHref(place)}>
            <Icon name="pin" size={16} />
            <span>{later.incident.geo}</span>
          </a>
          <a class="button small" href={osmHref(place)} target="_blank" rel="noreferrer">
            <Icon name="map" size={16} />
            <span>{later.incident.osm}</span>
          </a>
          <a class="button small" href={`/map/${alert.deviceId}?alert=${alert.id}`}>
            <Icon name="track" size={16} />
            <span>{text.alerts.onMap}</span>
          </a>
        </p>
        <FirstPlace alert={alert} place={place} />
        {location && <Figures location={location} />}
        {location && location.battery === undefined && (
          <p class="hint">{later.incident.noBattery}</p>
        )}
      </div>
    </Card>
  )
}
