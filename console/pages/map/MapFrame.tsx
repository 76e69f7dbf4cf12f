import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Device } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { IconButton } from '../../ui/Button.tsx'
import type { DeviceState } from './fleet/deviceState.ts'
import type { Member } from './fleet/fleet.ts'
import './map.css'
import { type ShownMap, useFleetMap } from './useMap.ts'

interface MapFrameProps {
  shown: ShownMap
  /** Further buttons beside those that zoom. */
  tools?: ComponentChildren
  children?: ComponentChildren
}

/** A map with its tools, and whom its base map credits. */
export const MapFrame = ({ shown: { element, map, failure }, tools, children }: MapFrameProps) => (
  <div class="map-frame">
    <div ref={element} class="map-canvas" />
    {failure && (
      <p class="map-note">{failure === 'noWebgl' ? text.map.noWebgl : text.errors.offline}</p>
    )}
    {map && (
      <div class="map-tools">
        <IconButton icon="plus" label={text.map.zoomIn} onClick={() => map.zoomBy(1)} />
        <IconButton icon="minus" label={text.map.zoomOut} onClick={() => map.zoomBy(-1)} />
        {tools}
      </div>
    )}
    {children}
    <p class="attribution">{map?.attribution}</p>
  </div>
)

/** Something that has a name and a place. */
export interface NamedPlace {
  id: string
  name: string
  latitude: number
  longitude: number
  state: DeviceState
}

/** The map reads no more of a device than this. */
const memberOf = ({ id, name, latitude, longitude, state }: NamedPlace): Member => ({
  device: { id, name, lastLocation: { latitude, longitude } } as Device,
  state,
})

interface PlacesMapProps {
  label: string
  places: readonly NamedPlace[]
}

/** A small map of a few places as a part of a page. Its page also shows them as text. */
export const PlacesMap = ({ label, places }: PlacesMapProps) => {
  const shown = useFleetMap(text.map.label)
  const { map, failure } = shown
  useEffect(() => map?.setFleet(places.map(memberOf)), [map, places])
  if (failure) return null
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms.
    <div
      class="places-map"
      role="group"
      aria-label={label}
      // The wheel scrolls the page; the buttons zoom.
      onWheelCapture={(event) => event.stopPropagation()}
    >
      <MapFrame shown={shown} />
    </div>
  )
}
