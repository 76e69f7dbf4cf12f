import { useEffect, useRef, useState } from 'preact/hooks'
import type { Device } from '../../api/types.ts'
import { isDark } from '../../format/preferences.ts'
import { text } from '../../text/text.ts'
import { IconButton } from '../../ui/Button.tsx'
import type { FleetMap } from './FleetMap.ts'
import type { DeviceState } from './fleet/deviceState.ts'
import type { Member } from './fleet/fleet.ts'
import './map.css'

/** Something that has a name and a place. */
export interface Place {
  id: string
  name: string
  latitude: number
  longitude: number
  state: DeviceState
}

/** The map reads no more of a device than this. */
const memberOf = ({ id, name, latitude, longitude, state }: Place): Member => ({
  device: { id, name, lastLocation: { latitude, longitude } } as Device,
  state,
})

interface PlacesMapProps {
  label: string
  places: readonly Place[]
}

const themeName = () => (isDark() ? 'dark' : 'light')

/** A small map of a few places as a part of a page. Its page also shows them as text. */
export const PlacesMap = ({ label, places }: PlacesMapProps) => {
  const element = useRef<HTMLDivElement>(null)
  const [map, setMap] = useState<FleetMap | null>(null)
  const [hasFailed, setHasFailed] = useState(false)
  useEffect(() => {
    let opened: FleetMap | null = null
    let isGone = false
    const open = async () => {
      const { FleetMap } = await import('./FleetMap.ts')
      if (isGone || !element.current) return
      opened = await FleetMap.open({
        container: element.current,
        theme: themeName(),
        onSelect: () => undefined,
      })
      if (isGone) opened.close()
      else setMap(opened)
    }
    open().catch(() => setHasFailed(true))
    return () => {
      isGone = true
      opened?.close()
    }
  }, [])
  const theme = themeName()
  useEffect(() => map?.setTheme(theme), [map, theme])
  useEffect(() => map?.setFleet(places.map(memberOf)), [map, places])
  if (hasFailed) return null
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms.
    <div
      class="map-frame places-map"
      role="group"
      aria-label={label}
      // The wheel scrolls the page; the buttons zoom.
      onWheelCapture={(event) => event.stopPropagation()}
    >
      <div ref={element} class="map-canvas" />
      {map && (
        <div class="map-tools">
          <IconButton icon="plus" label={text.map.zoomIn} onClick={() => map.zoomBy(1)} />
          <IconButton icon="minus" label={text.map.zoomOut} onClick={() => map.zoomBy(-1)} />
        </div>
      )}
      <p class="attribution">{map?.attribution}</p>
    </div>
  )
}
