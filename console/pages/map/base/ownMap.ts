import { baseMapUrl, borderDetailsUrl, landDetailsUrl } from 'virtual:base-map'
import type { GeoJSONSource, Map as MapLibre, StyleSpecification } from 'maplibre-gl'
import { text } from '../../../text/text.ts'
import { type BaseMap, FONT, type Layer, PALETTES, type Theme } from './style.ts'

/* Our own base map, made by the build from Natural Earth. */

interface Data {
  land: GeoJSON.FeatureCollection
  borders: GeoJSON.Feature
  labels: GeoJSON.FeatureCollection
}

const geometryOptions = { tolerance: 0.8, buffer: 32, maxzoom: 8 }

const sourcesOf = ({ land, borders, labels }: Data): StyleSpecification['sources'] => ({
  land: { type: 'geojson', data: land, ...geometryOptions },
  borders: { type: 'geojson', data: borders, ...geometryOptions },
  labels: { type: 'geojson', data: labels, maxzoom: 8 },
})

const layersOf = (theme: Theme): Layer[] => {
  const { sea, land, shore, border, label, halo } = PALETTES[theme]
  return [
    { id: 'sea', type: 'background', paint: { 'background-color': sea } },
    {
      id: 'land',
      type: 'fill',
      source: 'land',
      filter: ['!=', ['get', 'kind'], 'coast'],
      paint: { 'fill-color': land, 'fill-antialias': false },
    },
    {
      id: 'shore',
      type: 'line',
      source: 'land',
      filter: ['!=', ['get', 'kind'], 'polar'],
      paint: {
        'line-color': shore,
        'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.5, 7, 1.4],
      },
    },
    {
      id: 'borders',
      type: 'line',
      source: 'borders',
      paint: {
        'line-color': border,
        'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.6, 7, 1.6],
      },
    },
    {
      id: 'labels',
      type: 'symbol',
      source: 'labels',
      // Small countries are named once the map is close enough.
      filter: ['>=', ['get', 'area'], ['step', ['zoom'], 90, 2.4, 30, 3.4, 8, 4.4, 1, 5.4, 0]],
      layout: {
        'text-field': ['get', 'name'],
        'text-font': FONT,
        'text-size': ['interpolate', ['linear'], ['zoom'], 1, 10.5, 6, 14],
        'text-max-width': 7,
        'symbol-sort-key': ['-', 0, ['get', 'area']],
      },
      paint: { 'text-color': label, 'text-halo-color': halo, 'text-halo-width': 1.2 },
    },
  ]
}

const DETAIL_ZOOM = 5

const savesData = (): boolean =>
  (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true

/** The details are more than the base map itself, so they are loaded with the first closer look. */
const loadDetails = (map: MapLibre): void => {
  const load = () => {
    if (map.getZoom() < DETAIL_ZOOM || savesData()) return
    map.off('zoomend', load)
    // MapLibre's worker loads them, so that the page does not stand still meanwhile.
    const set = (source: string, url: string) =>
      void map.getSource<GeoJSONSource>(source)?.setData(new URL(url, location.href).href)
    set('land', landDetailsUrl)
    set('borders', borderDetailsUrl)
  }
  map.on('zoomend', load)
  load()
}

export const openOwnMap = async (theme: Theme): Promise<BaseMap> => {
  const response = await fetch(baseMapUrl)
  return {
    style: { version: 8, sources: sourcesOf(await response.json()), layers: layersOf(theme) },
    layersOf,
    attribution: text.map.attribution,
    attach: loadDetails,
  }
}
