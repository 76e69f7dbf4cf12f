import { Map as MapLibre, setWorkerUrl } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url'
import 'maplibre-gl/dist/maplibre-gl.css'
import baseMapUrl from 'virtual:base-map'
import type { StyleSpecification } from 'maplibre-gl'
import { prefersReducedMotion } from '../../format/preferences.ts'
import { makeStyle, PALETTES } from './style.ts'

/* A map without devices. This file and MapLibre are loaded with the first map. */

setWorkerUrl(workerUrl)

export type MapTheme = 'light' | 'dark'

export interface BaseMapOptions {
  container: HTMLElement
  theme: MapTheme
  /** What the map shows, for screen readers. */
  label: string
}

const rasterStyle: StyleSpecification = {
  version: 8,
  sources: { tiles: { type: 'raster', tiles: [MAP_URL], tileSize: 256, maxzoom: 19 } },
  layers: [{ id: 'tiles', type: 'raster', source: 'tiles' }],
}

const loadStyle = async (theme: MapTheme): Promise<StyleSpecification | string> => {
  if (MAP_URL.includes('{z}')) return rasterStyle
  if (MAP_URL) return MAP_URL
  const response = await fetch(baseMapUrl)
  return makeStyle(await response.json(), theme)
}

/** Throws if the browser has no WebGL. */
export const openBaseMap = async ({
  container,
  theme,
  label,
}: BaseMapOptions): Promise<MapLibre> => {
  const map = new MapLibre({
    container,
    style: await loadStyle(theme),
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
  return map
}

export const paintBaseMap = (map: MapLibre, theme: MapTheme): void => {
  if (MAP_URL) return
  const { sea, land, shore, border, label, halo } = PALETTES[theme]
  map.setPaintProperty('sea', 'background-color', sea)
  map.setPaintProperty('land', 'fill-color', land)
  map.setPaintProperty('shore', 'line-color', shore)
  map.setPaintProperty('borders', 'line-color', border)
  map.setPaintProperty('labels', 'text-color', label)
  map.setPaintProperty('labels', 'text-halo-color', halo)
}
