import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isDark } from '../../format/preferences.ts'
import { text } from '../../text/text.ts'
import { IconButton } from '../../ui/Button.tsx'
import './map.css'
import type { PlainMap } from './PlainMap.ts'

interface MapFrameProps {
  label: string
  onReady: (map: PlainMap | null) => void
  children?: ComponentChildren
}

/** A map with its tools. MapLibre is loaded when the frame is shown. */
export const MapFrame = ({ label, onReady, children }: MapFrameProps) => {
  const element = useRef<HTMLDivElement>(null)
  const [map, setMap] = useState<PlainMap | null>(null)
  const [hasFailed, setHasFailed] = useState(false)
  const theme = isDark() ? 'dark' : 'light'
  useEffect(() => {
    let opened: PlainMap | null = null
    let isGone = false
    const open = async () => {
      const { PlainMap } = await import('./PlainMap.ts')
      if (isGone || !element.current) return
      opened = await PlainMap.open({ container: element.current, theme, label })
      if (isGone) opened.close()
      else {
        setMap(opened)
        onReady(opened)
      }
    }
    open().catch(() => setHasFailed(true))
    return () => {
      isGone = true
      onReady(null)
      opened?.close()
    }
  }, [])
  useEffect(() => map?.setTheme(theme), [map, theme])
  return (
    <div class="map-frame">
      <div ref={element} class="map-canvas" />
      {hasFailed && <p class="map-note">{text.map.noWebgl}</p>}
      {map && (
        <div class="map-tools">
          <IconButton icon="plus" label={text.map.zoomIn} onClick={() => map.zoomBy(1)} />
          <IconButton icon="minus" label={text.map.zoomOut} onClick={() => map.zoomBy(-1)} />
        </div>
      )}
      {children}
      <p class="attribution">{map?.attribution}</p>
    </div>
  )
}
