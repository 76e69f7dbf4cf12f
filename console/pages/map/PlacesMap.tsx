import { useEffect, useRef, useState } from 'preact/hooks'
import { isDark } from '../../format/preferences.ts'
import { text } from '../../text/text.ts'
import { IconButton } from '../../ui/Button.tsx'
import type { FleetMap } from './FleetMap.ts'
import type { Mapped } from './fleetLayers.ts'
import './map.css'

interface PlacesMapProps {
  label: string
  places: readonly Mapped[]
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
      const container = element.current
      const options = { container, theme: themeName(), label, isEmbedded: true } as const
      opened = await FleetMap.open({ ...options, onSelect: () => undefined })
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
  useEffect(() => map?.setFleet(places), [map, places])
  if (hasFailed) return null
  return (
    <div class="map-frame places-map">
      <div ref={element} class="map-canvas" />
      {map && (
        <div class="map-tools">
          <IconButton icon="plus" label={text.map.zoomIn} onClick={() => map.zoomBy(1)} />
          <IconButton icon="minus" label={text.map.zoomOut} onClick={() => map.zoomBy(-1)} />
        </div>
      )}
      <p class="attribution">{MAP_URL ? MAP_ATTRIBUTION : text.map.attribution}</p>
    </div>
  )
}
