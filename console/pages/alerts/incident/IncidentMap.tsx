import { useEffect, useRef } from 'preact/hooks'
import type { Device, Zone } from '../../../api/types.ts'
import type { Place as TimedPlace } from '../../../app/newestPlace.ts'
import { navigate } from '../../../router/router.ts'
import { later } from '../../../text/later.ts'
import { IconButton } from '../../../ui/Button.tsx'
import type { FleetMap } from '../../map/FleetMap.ts'
import { STATE_COLOURS } from '../../map/fleet/deviceState.ts'
import type { Member } from '../../map/fleet/fleet.ts'
import { MapFrame } from '../../map/MapFrame.tsx'
import { type Place, unwrapTrack } from '../../map/track/trackMath.ts'
import { useFleetMap } from '../../map/useMap.ts'
import type { Neighbour } from './nearest.ts'

const PLACE_ZOOM = 10

interface IncidentMapProps {
  name: string
  deviceId: string
  place: TimedPlace
  /** In metres; null where it is not known. */
  accuracy: number | null
  isOver: boolean
  track: readonly Place[]
  nearest: readonly Neighbour<Member>[]
}

/** The device at the newest place, which the map draws like any other. */
const memberAt = ({ name, deviceId, place, isOver }: IncidentMapProps): Member => ({
  device: { id: deviceId, name, lastLocation: place } as unknown as Device,
  state: isOver ? 'fresh' : 'emergency',
})

/** How exact the position is, as a circle. */
const circleOf = ({ place, accuracy }: IncidentMapProps): Zone[] =>
  accuracy === null || accuracy <= 0
    ? []
    : [
        {
          id: 'accuracy',
          name: '',
          color: STATE_COLOURS.emergency,
          shape: { type: 'Circle', center: [place.longitude, place.latitude], radius: accuracy },
        } as unknown as Zone,
      ]

const fitIncident = (map: FleetMap, { place, track }: IncidentMapProps, isAnimated = true) =>
  map.fit(unwrapTrack([...track, place]), PLACE_ZOOM, isAnimated)

/** Where the device is and was, and who is near. It follows the device until it is moved by hand. */
export const IncidentMap = (props: IncidentMapProps) => {
  const shown = useFleetMap(later.incident.mapLabel)
  const { map, failure } = shown
  const { deviceId, place, track, nearest } = props
  const isFollowed = useRef(true)
  const newest = useRef(props)
  newest.current = props
  useEffect(() => {
    if (!map) return
    map.onSelect = (id) => id && id !== deviceId && navigate(`/devices/${id}`)
    map.map.on('dragstart', () => {
      isFollowed.current = false
    })
  }, [map])
  useEffect(() => map?.select(memberAt(props)), [map, place, props.isOver, props.name])
  useEffect(() => map?.setFleet(nearest.map(({ member }) => member)), [map, nearest])
  useEffect(() => map?.setZones(circleOf(props)), [map, place, props.accuracy])
  useEffect(() => map?.setTrack(track, false), [map, track])
  useEffect(() => {
    if (map && isFollowed.current) fitIncident(map, newest.current, false)
  }, [map, place, track])
  if (failure) return null
  const refit = () => {
    isFollowed.current = true
    if (map) fitIncident(map, newest.current)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms.
    <div
      class="incident-map"
      role="group"
      aria-label={later.incident.mapLabel}
      // The wheel scrolls the page; the buttons zoom.
      onWheelCapture={(event) => event.stopPropagation()}
    >
      <MapFrame
        shown={shown}
        tools={<IconButton icon="fit" label={later.incident.fit} onClick={refit} />}
      />
    </div>
  )
}
