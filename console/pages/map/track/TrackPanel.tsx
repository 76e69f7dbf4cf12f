import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { callForResponse } from '../../../api/client.ts'
import { toError } from '../../../api/errors.ts'
import { useResource } from '../../../api/resource.ts'
import type { Location } from '../../../api/types.ts'
import { formatExact, formatUtc, toLocalInput } from '../../../format/time.ts'
import { formatDistance, formatSpeed, heightUnit, speedUnit } from '../../../format/units.ts'
import { useGathered, useLiveEvents } from '../../../live/useLive.ts'
import { navigate, place, setQuery } from '../../../router/router.ts'
import { text } from '../../../text/text.ts'
import { Button, IconButton } from '../../../ui/Button.tsx'
import { saveFile } from '../../../ui/download.ts'
import { Choices } from '../../../ui/form/Choices.tsx'
import { TextField } from '../../../ui/form/fields.tsx'
import { Failed, Pending } from '../../../ui/states.tsx'
import { toast } from '../../../ui/toast.tsx'
import { mapHref } from '../mapHref.ts'
import { Chart, type Series } from './Chart.tsx'
import { type Interval, intervalOf, isSpan, readTrack, SPANS, type Span } from './track.ts'
import { extendTrack, indexAt, lengthOf, type Place, positionAt, type Report } from './trackMath.ts'

interface TrackPanelProps {
  deviceId: string
  name: string
  onTrack: (track: readonly Location[] | null) => void
  onPlayhead: (at: Place | null) => void
}

const FORMATS = ['gpx', 'kml', 'geojson', 'csv'] as const
const PLAY_MS = 24_000
const CHOICES = SPANS.map((value) => ({ value, label: text.map.spans[value] }))

const exportTrack = async (
  deviceId: string,
  { from, to }: Interval,
  format: string,
): Promise<void> => {
  const response = await callForResponse('GET /api/devices/{deviceId}/locations', {
    params: { deviceId },
    query: { from, to, format },
  })
  await saveFile(response, `${deviceId}.${format}`)
}

const seriesOf = (track: readonly Location[]): Series[] => {
  const make = (
    label: string,
    { symbol, factor }: { symbol: string; factor: number },
    colour: string,
    read: (location: Location) => number | undefined,
  ): Series[] => {
    const values = track.map((location) => {
      const value = read(location)
      return value === undefined ? null : value * factor
    })
    return values.some((value) => value !== null) ? [{ label, unit: symbol, values, colour }] : []
  }
  return [
    ...make(text.map.speed, speedUnit(), '#4f68f0', ({ speed }) => speed),
    ...make(text.map.altitude, heightUnit(), '#12a37a', ({ altitude }) => altitude),
    ...make(text.map.battery, { symbol: '%', factor: 1 }, '#d98a10', ({ battery }) => battery),
  ]
}

/** A track that changes all the time is read again this often at most. */
const RELOAD_MS = 5000

/** The track of a span, with what the device reports while it is shown. */
const useLiveTrack = (deviceId: string, search: string) => {
  /** The last hours end now: when the track is read, and when more is reported. */
  const readInterval = () => intervalOf(new URLSearchParams(search), Date.now())
  const track = useResource(
    (signal) => readTrack(deviceId, readInterval(), signal),
    [deviceId, search],
  )
  const { data, set } = track
  const reload = useGathered(track.reload, RELOAD_MS)
  useLiveEvents(
    ['location.reported'],
    ({ data: reported }) => {
      if (reported.deviceId !== deviceId) return
      const extend = (before: Location[]) =>
        extendTrack(before, reported as unknown as Report, readInterval())
      if (data && extend(data)) set((before) => extend(before) ?? before)
      else reload()
    },
    reload,
  )
  return { ...track, readInterval }
}

/** Advances the time while playing; the whole span takes `PLAY_MS`. */
const usePlayback = (times: readonly number[]) => {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0]
  const [at, setAt] = useState(last)
  const [isPlaying, setIsPlaying] = useState(false)
  const end = useRef(last)
  useEffect(() => {
    // Who looks at the end follows it; who looks at an earlier time stays there.
    setAt((current) => (current >= end.current ? last : Math.max(first, current)))
    end.current = last
  }, [first, last])
  useEffect(() => {
    if (!isPlaying) return
    let frame = 0
    let before = performance.now()
    const step = (time: number) => {
      const passed = ((time - before) / PLAY_MS) * (last - first)
      before = time
      setAt((current) => {
        const next = Math.min(last, current + passed)
        if (next >= last) setIsPlaying(false)
        return next
      })
      frame = requestAnimationFrame(step)
    }
    frame = requestAnimationFrame(step)
    return () => cancelAnimationFrame(frame)
  }, [isPlaying, first, last])
  const toggle = () => {
    if (!isPlaying && at >= last) setAt(first)
    setIsPlaying(!isPlaying)
  }
  const seek = (value: number) => {
    setIsPlaying(false)
    setAt(value)
  }
  return { at, seek, isPlaying, toggle, first, last }
}

const Player = ({
  track,
  onPlayhead,
}: Pick<TrackPanelProps, 'onPlayhead'> & { track: readonly Location[] }) => {
  const times = useMemo(() => track.map(({ dateTime }) => Date.parse(dateTime)), [track])
  const speedSymbol = speedUnit().symbol
  const series = useMemo(() => seriesOf(track), [track, speedSymbol])
  const { at, seek, isPlaying, toggle, first, last } = usePlayback(times)
  // At the end of the track the device itself is shown.
  const isAtEnd = at >= last && !isPlaying
  useEffect(
    () => onPlayhead(isAtEnd ? null : positionAt(track, times, at)),
    [track, times, at, isAtEnd, onPlayhead],
  )
  const here = track[indexAt(times, at)]
  return (
    <>
      <div class="player">
        <IconButton
          icon={isPlaying ? 'pause' : 'play'}
          label={isPlaying ? text.map.pause : text.map.play}
          onClick={toggle}
        />
        <input
          type="range"
          aria-label={text.map.slider}
          aria-valuetext={formatExact(at)}
          min={first}
          max={last}
          step={Math.max(1000, Math.round((last - first) / 1000))}
          value={at}
          onInput={({ currentTarget }) => seek(Number(currentTarget.value))}
        />
        <output title={formatUtc(at)}>
          {formatExact(at)}
          {here?.speed !== undefined && <span class="muted"> · {formatSpeed(here.speed)}</span>}
        </output>
      </div>
      {series.length > 0 ? (
        <div class="charts">
          {series.map((one) => (
            <Chart
              key={one.label}
              times={times}
              series={one}
              playhead={at}
              onPick={seek}
              label={text.map.chartOf(one.label)}
            />
          ))}
        </div>
      ) : (
        <p class="muted">{text.map.noCharts}</p>
      )}
    </>
  )
}

/** The fields keep what is typed; only a span that ends after it begins is shown. */
const CustomSpan = (shown: Interval) => {
  const [typed, setTyped] = useState(shown)
  // Before the first paint: later it would replace what has been typed meanwhile.
  useLayoutEffect(() => setTyped(shown), [shown.from, shown.to])
  const set = (name: keyof Interval) => (value: string) => {
    if (!value) return
    const next = { ...typed, [name]: new Date(value).toISOString() }
    setTyped(next)
    if (isSpan(next)) setQuery({ ...next, span: 'custom' })
  }
  return (
    <div class="row">
      <TextField
        label={text.map.from}
        type="datetime-local"
        value={toLocalInput(Date.parse(typed.from))}
        onInput={set('from')}
      />
      <TextField
        label={text.map.to}
        type="datetime-local"
        value={toLocalInput(Date.parse(typed.to))}
        onInput={set('to')}
        invalid={isSpan(typed) ? null : text.trips.notAfter}
      />
    </div>
  )
}

/** The track of a device: span, exports, charts and playback. */
export const TrackPanel = ({ deviceId, name, onTrack, onPlayhead }: TrackPanelProps) => {
  const search = place.value.query.toString()
  const span = (place.value.query.get('span') ?? '24h') as Span
  const { data, error, isPending, reload, readInterval } = useLiveTrack(deviceId, search)
  const interval = useMemo(readInterval, [search])
  useEffect(() => onTrack(data), [data, onTrack])
  const exportAs = (format: string) =>
    exportTrack(deviceId, readInterval(), format).catch((error) =>
      toast(toError(error).message, 'failed'),
    )
  return (
    <section class="track" aria-label={text.map.track}>
      <header>
        <h2>{name}</h2>
        <Choices
          label={text.map.span}
          isLabelHidden
          value={span}
          choices={CHOICES}
          onChange={(value) =>
            setQuery({
              from: null,
              to: null,
              ...(value === 'custom' && readInterval()),
              span: value,
            })
          }
        />
        {data && data.length > 0 && (
          <p class="muted">{text.map.trackSummary(data.length, formatDistance(lengthOf(data)))}</p>
        )}
        <fieldset class="exports">
          <legend class="visually-hidden">{text.map.exportAs}</legend>
          {FORMATS.map((format) => (
            <Button
              key={format}
              size="small"
              kind="quiet"
              icon="download"
              disabled={!data || data.length === 0}
              onClick={() => exportAs(format)}
            >
              {text.map.formats[format]}
            </Button>
          ))}
        </fieldset>
        <IconButton
          icon="close"
          label={text.map.closeTrack}
          onClick={() => navigate(mapHref(`/map/${deviceId}`))}
        />
      </header>
      {span === 'custom' && <CustomSpan {...interval} />}
      {error && <Failed error={error} onRetry={reload} />}
      {isPending && !data && <Pending />}
      {data && data.length === 0 && <p class="track-empty">{text.map.emptyTrack}</p>}
      {data && data.length > 0 && <Player track={data} onPlayhead={onPlayhead} />}
    </section>
  )
}
