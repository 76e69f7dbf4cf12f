import type { Map as MapLibre } from 'maplibre-gl'
import { PALETTES, type Theme } from '../base/style.ts'
import { type Place, unwrapTrack } from '../track/trackMath.ts'
import { addSources } from './sources.ts'

/* Lines with a casing, such as a track. */

export const addLine = (map: MapLibre, id: string, widthPx: number): void => {
  addSources(map, id)
  const layout = { 'line-cap': 'round', 'line-join': 'round' } as const
  const casing = { 'line-width': widthPx * 2, 'line-opacity': 0.8 }
  map.addLayer({ id: `${id}-casing`, type: 'line', source: id, layout, paint: casing })
  map.addLayer({ id, type: 'line', source: id, layout, paint: { 'line-width': widthPx } })
}

export const paintLine = (
  map: MapLibre,
  id: string,
  theme: Theme,
  colour = PALETTES[theme].track,
): void => {
  map.setPaintProperty(id, 'line-color', colour)
  map.setPaintProperty(`${id}-casing`, 'line-color', PALETTES[theme].casing)
}

export const lineOf = (places: readonly Place[]): GeoJSON.Feature | null => {
  const coordinates = unwrapTrack(places)
  if (coordinates.length < 2) return null
  return { type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates } }
}
