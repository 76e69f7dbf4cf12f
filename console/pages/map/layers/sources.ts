import type { GeoJSONSource, Map as MapLibre } from 'maplibre-gl'

/* Sources of GeoJSON on a map. */

const EMPTY: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] }

export const addSources = (map: MapLibre, ...ids: string[]): void => {
  for (const id of ids) map.addSource(id, { type: 'geojson', data: EMPTY })
}

export const setData = (
  map: MapLibre,
  source: string,
  data: GeoJSON.FeatureCollection | GeoJSON.Feature | GeoJSON.Feature[] | null,
): void => {
  const shown = Array.isArray(data)
    ? { type: 'FeatureCollection' as const, features: data }
    : (data ?? EMPTY)
  void map.getSource<GeoJSONSource>(source)?.setData(shown)
}

export const pointAt = (
  coordinates: GeoJSON.Position,
  properties: GeoJSON.GeoJsonProperties = {},
): GeoJSON.Feature => ({ type: 'Feature', properties, geometry: { type: 'Point', coordinates } })
