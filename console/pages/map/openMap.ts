import { Map as MapLibre, setWorkerUrl } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url'
import 'maplibre-gl/dist/maplibre-gl.css'
import { prefersReducedMotion } from '../../format/preferences.ts'
import { loadBaseMap } from './base/baseMap.ts'
import type { Theme } from './base/style.ts'

/* A map with nothing on it. This file and MapLibre are loaded with the first map. */

setWorkerUrl(workerUrl)

export interface MapOptions {
  container: HTMLElement
  theme: Theme
  /** What the map shows, for screen readers. */
  label: string
}

export interface OpenedMap {
  map: MapLibre
  /** Whom the base map credits. */
  attribution: string
  /** Paints the base map in the colours of a theme. */
  paintBase: (theme: Theme) => void
}

/** Throws if the browser has no WebGL. */
export const openMap = async ({ container, theme, label }: MapOptions): Promise<OpenedMap> => {
  const base = await loadBaseMap(theme)
  const map = new MapLibre({
    container,
    style: base.style,
    center: [0, 25],
    zoom: 1.4,
    minZoom: 0,
    maxZoom: 17,
    attributionControl: false,
    fadeDuration: prefersReducedMotion() ? 0 : 200,
    dragRotate: false,
    pitchWithRotate: false,
    locale: { 'Map.Title': label },
  })
  map.touchZoomRotate.disableRotation()
  await map.once('load')
  base.attach?.(map)
  const paintBase = (next: Theme) => {
    for (const { id, paint } of base.layersOf(next))
      for (const [name, value] of Object.entries(paint ?? {}))
        map.setPaintProperty(id, name as 'fill-color', value as string)
  }
  return { map, attribution: base.attribution, paintBase }
}
