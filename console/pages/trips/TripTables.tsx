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
  part: ChosenPart
  label: string
  cells: readonly ComponentChildren[]
}

interface RowsProps extends ChoiceProps {
  caption: string
  heads: readonly string[]
  rows: readonly Row[]
}

/** A table whose rows are shown on the map by the button in their first column. */
const Rows = ({ caption, heads, rows, chosen, onChoose }: RowsProps) => (
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
        {rows.map(({ part, label, cells }) => (
          <tr key={part.from} class={chosen?.from === part.from ? 'chosen' : ''}>
            {cells.map((cell, at) => (
              <td key={heads[at]} data-label={heads[at]}>
                {at === 0 ? (
                  <button
                    type="button"
                    class="link-button"
                    aria-pressed={chosen?.from === part.from}
                    aria-label={label}
                    onClick={() => onChoose(part)}
                  >
                    {cell}
                  </button>
                ) : (
                  cell
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
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
  const rows = trips.map(({ start, end, ...trip }) => ({
    part: { from: start.dateTime, to: end.dateTime, place: null },
    label: text.trips.showTrip(formatDateTime(start.dateTime)),
    cells: [
      <Time key="start" value={start.dateTime} />,
      <Time key="end" value={end.dateTime} />,
      formatDistance(trip.distance),
      formatDuration(trip.duration),
      speedOrNone(trip.topSpeed),
      speedOrNone(trip.meanSpeed),
    ],
  }))
  return <Rows {...choice} caption={text.trips.tripCount} heads={TRIP_HEADS} rows={rows} />
}

const STOP_HEADS = [text.trips.start, text.trips.end, text.trips.duration, text.trips.place]

export const StopTable = ({ stops, ...choice }: ChoiceProps & { stops: readonly Stop[] }) => {
  if (stops.length === 0) return <p class="muted">{text.trips.noStops}</p>
  const rows = stops.map(({ start, end, duration, latitude, longitude }) => ({
    part: { from: start, to: end, place: { latitude, longitude } },
    label: text.trips.showStop(formatDateTime(start)),
    cells: [
      <Time key="start" value={start} />,
      <Time key="end" value={end} />,
      formatDuration(duration),
      formatPosition(latitude, longitude),
    ],
  }))
  return <Rows {...choice} caption={text.trips.title} heads={STOP_HEADS} rows={rows} />
}
