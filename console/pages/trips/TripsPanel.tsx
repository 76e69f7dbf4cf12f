import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useResource } from '../../api/resource.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { Choices } from '../../ui/form/Choices.tsx'
import { SpanField } from '../../ui/form/SpanField.tsx'
import { type ChosenSpan, lastSpan, spanFault } from '../../ui/form/span.ts'
import { Card } from '../../ui/Page.tsx'
import { Empty, Failed, Skeleton } from '../../ui/states.tsx'
import { MapFrame } from '../map/MapFrame.tsx'
import type { Interval } from '../map/track/track.ts'
import type { Place } from '../map/track/trackMath.ts'
import { usePlainMap } from '../map/useMap.ts'
import { Days } from './Days.tsx'
import { partOf, readTrips, type Trips } from './readTrips.ts'
import { StopTable, TripTable } from './TripTables.tsx'
import './trips.css'

const SHOWS = ['trips', 'stops', 'days'] as const
type Show = (typeof SHOWS)[number]

/** The stretch of the track, or the place, that is chosen in the tables. */
export interface ChosenPart extends Interval {
  /** Of a stop. */
  place: Place | null
}

/** True once the element has been almost in sight: what is below may never be looked at. */
const useSeen = () => {
  const element = useRef<HTMLDivElement>(null)
  const [isSeen, setIsSeen] = useState(false)
  useEffect(() => {
    if (!element.current || isSeen) return
    const observer = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting && setIsSeen(true),
      { rootMargin: '300px' },
    )
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [isSeen])
  return { element, isSeen }
}

const TrackMap = ({ track, chosen }: Pick<Trips, 'track'> & { chosen: ChosenPart | null }) => {
  const shown = usePlainMap(text.trips.map)
  const { map } = shown
  useEffect(() => map?.setTrack(track), [map, track])
  useEffect(() => {
    if (!map) return
    const place = chosen?.place
    const part = chosen && !place ? partOf(track, chosen) : []
    map.setPart(part)
    map.setPoints(place ? [place] : [], 0)
    map.fitPlaces(place ? [place] : chosen ? part : track)
  }, [map, track, chosen])
  return (
    <div class="trip-map">
      <MapFrame shown={shown} />
    </div>
  )
}

const Found = ({ found }: { found: Trips }) => {
  const [show, setShow] = useState<Show>('trips')
  const [chosen, setChosen] = useState<ChosenPart | null>(null)
  // Before the paint: later it would undo a choice.
  useLayoutEffect(() => setChosen(null), [found])
  const table = { chosen, onChoose: setChosen }
  return (
    <div class="stack">
      <div class="toolbar">
        <Choices
          label={text.trips.show}
          isLabelHidden
          value={show}
          choices={SHOWS.map((value) => ({
            value,
            label: text.trips.shows[value](found[value].length),
          }))}
          onChange={setShow}
        />
        {chosen && (
          <Button size="small" kind="quiet" icon="fit" onClick={() => setChosen(null)}>
            {text.trips.showAll}
          </Button>
        )}
      </div>
      <TrackMap track={found.track} chosen={chosen} />
      <div class="trip-tables">
        {show === 'trips' && <TripTable trips={found.trips} {...table} />}
        {show === 'stops' && <StopTable stops={found.stops} {...table} />}
        {show === 'days' && <Days days={found.days} />}
      </div>
    </div>
  )
}

/** Trips, stops and days of a device, with the track. */
export const TripsPanel = ({ deviceId }: { deviceId: string }) => {
  const { element, isSeen } = useSeen()
  const [span, setSpan] = useState<ChosenSpan>(() => lastSpan('7d', Date.now()))
  const isWanted = isSeen && !spanFault(span)
  const { data, error, isPending, reload } = useResource(
    async (signal) => (isWanted ? readTrips(deviceId, span, signal) : null),
    [deviceId, span.from, span.to, isWanted],
  )
  return (
    <Card title={text.trips.title}>
      <div ref={element} class="stack">
        <p class="hint">{text.trips.lead}</p>
        <SpanField value={span} onChange={setSpan} />
        {error && !isPending && error.code === 'span-too-large' && (
          <Empty icon="clock" title={text.trips.tooLarge} />
        )}
        {error && !isPending && error.code !== 'span-too-large' && (
          <Failed error={error} onRetry={reload} />
        )}
        {isPending && !data && <Skeleton rows={4} />}
        {data && data.track.length === 0 && <Empty icon="track" title={text.trips.noDays} />}
        {data && data.track.length > 0 && <Found found={data} />}
      </div>
    </Card>
  )
}
