import type { ComponentChildren } from 'preact'
import type { Stop, Trip } from '../../api/types.ts'
import { formatDateTime } from '../../format/time.ts'
import { formatDistance, formatPosition, formatSpeed } from '../../format/units.ts'
import { text } from '../../text/text.ts'
import { Time } from '../../ui/Time.tsx'
import type { ChosenPart } from './TripsPanel.tsx'

interface ChoiceProps {
  chosen: ChosenPart | null
  onChoose: (part: ChosenPart) => void
}

export const formatDuration = (seconds: number): string => {
  const minutes = Math.round(seconds / 60)
  return text.trips.hoursMinutes(Math.floor(minutes / 60), minutes % 60)
}

export const speedOrNone = (kmh: number | null): string => (kmh === null ? '–' : formatSpeed(kmh))

interface Row {
  key: string
  cells: readonly ComponentChildren[]
  isChosen?: boolean
}

interface PlainTableProps {
  caption: string
  heads: readonly string[]
  rows: readonly Row[]
}

export const PlainTable = ({ caption, heads, rows }: PlainTableProps) => (
  <div class="table-frame">
    <table class="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells, isChosen }) => (
          <tr key={key} class={isChosen ? 'chosen' : ''}>
            {cells.map((cell, at) => (
              <td key={heads[at]} data-label={heads[at]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

interface PartButtonProps extends ChoiceProps {
  part: ChosenPart
  label: string
}

/** The beginning of a trip or stop. A click shows it on the map. */
const PartButton = ({ part, label, chosen, onChoose }: PartButtonProps) => (
  <button
    type="button"
    class="link-button"
    aria-pressed={chosen?.from === part.from}
    aria-label={label}
    onClick={() => onChoose(part)}
  >
    <Time value={part.from} />
  </button>
)

const TRIP_HEADS = [
  text.trips.start,
  text.trips.end,
  text.trips.distance,
  text.trips.duration,
  text.trips.topSpeed,
  text.trips.meanSpeed,
]

export const TripTable = ({ trips, ...choice }: ChoiceProps & { trips: readonly Trip[] }) => {
  if (trips.length === 0) return <p class="muted">{text.trips.noTrips}</p>
  const rows = trips.map(({ start: { dateTime: from }, end: { dateTime: to }, ...trip }) => ({
    key: from,
    isChosen: choice.chosen?.from === from,
    cells: [
      <PartButton
        key="start"
        part={{ from, to, place: null }}
        label={text.trips.showTrip(formatDateTime(from))}
        {...choice}
      />,
      <Time key="end" value={to} />,
      formatDistance(trip.distance),
      formatDuration(trip.duration),
      speedOrNone(trip.topSpeed),
      speedOrNone(trip.meanSpeed),
    ],
  }))
  return <PlainTable caption={text.trips.tripCount} heads={TRIP_HEADS} rows={rows} />
}

const STOP_HEADS = [text.trips.start, text.trips.end, text.trips.duration, text.trips.place]

export const StopTable = ({ stops, ...choice }: ChoiceProps & { stops: readonly Stop[] }) => {
  if (stops.length === 0) return <p class="muted">{text.trips.noStops}</p>
  const rows = stops.map(({ start: from, end: to, duration, latitude, longitude }) => ({
    key: from,
    isChosen: choice.chosen?.from === from,
    cells: [
      <PartButton
        key="start"
        part={{ from, to, place: { latitude, longitude } }}
        label={text.trips.showStop(formatDateTime(from))}
        {...choice}
      />,
      <Time key="end" value={to} />,
      formatDuration(duration),
      formatPosition(latitude, longitude),
    ],
  }))
  return <PlainTable caption={text.trips.title} heads={STOP_HEADS} rows={rows} />
}
