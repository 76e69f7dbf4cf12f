import type { DaySummary } from '../../api/types.ts'
import { formatDay } from '../../format/time.ts'
import { formatDistance } from '../../format/units.ts'
import { text } from '../../text/text.ts'
import { formatDuration, PlainTable, speedOrNone } from './TripTables.tsx'

const HEIGHT = 90
const STEP = 20
const BAR = 14

const DistanceChart = ({ days }: { days: readonly DaySummary[] }) => {
  const max = Math.max(1, ...days.map(({ distance }) => distance))
  const all = days.reduce((sum, { distance }) => sum + distance, 0)
  return (
    <svg
      class="day-chart"
      viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={text.trips.chart(formatDistance(all))}
    >
      {days.map(({ date, distance }, at) => (
        <rect
          key={date}
          x={at * STEP + (STEP - BAR) / 2}
          y={HEIGHT - (distance / max) * HEIGHT}
          width={BAR}
          height={(distance / max) * HEIGHT}
        >
          <title>{text.trips.bar(formatDay(date), formatDistance(distance))}</title>
        </rect>
      ))}
    </svg>
  )
}

const HEADS = [
  text.trips.day,
  text.trips.tripCount,
  text.trips.distance,
  text.trips.moving,
  text.trips.topSpeed,
  text.trips.meanSpeed,
]

/** Distance, time and speed for each calendar day of the account's zone. */
export const Days = ({ days }: { days: readonly DaySummary[] }) => {
  if (days.length === 0) return <p class="muted">{text.trips.noDays}</p>
  const rows = days.map((day) => ({
    key: day.date,
    cells: [
      formatDay(day.date),
      day.trips,
      formatDistance(day.distance),
      formatDuration(day.movingSeconds),
      speedOrNone(day.topSpeed),
      speedOrNone(day.meanSpeed),
    ],
  }))
  return (
    <div class="stack">
      <DistanceChart days={days} />
      <PlainTable caption={text.trips.day} heads={HEADS} rows={rows} />
    </div>
  )
}
