import type { Map as MapLibre, StyleSpecification } from 'maplibre-gl'
import type { Zone } from '../../../api/types.ts'
import { middleOf, type Shape, zoneFeature } from '../../zones/shape.ts'
import { FONT, PALETTES } from '../base/style.ts'
import { addSources, pointAt, setData } from './sources.ts'

/* Zones in their colours. */

type Layer = StyleSpecification['layers'][number]

const isChosen = ['boolean', ['get', 'isChosen'], false]

const LAYERS = [
  {
    id: 'zone-areas',
    type: 'fill',
    source: 'zones',
    filter: ['has', 'color'],
    paint: {
      'fill-color': ['get', 'color'],
      'fill-opacity': ['case', isChosen, 0.32, 0.18],
      'fill-antialias': false,
    },
  },
  {
    id: 'zone-borders',
    type: 'line',
    source: 'zones',
    filter: ['has', 'color'],
    layout: { 'line-join': 'round' },
    paint: { 'line-color': ['get', 'color'], 'line-width': ['case', isChosen, 3.5, 2] },
  },
  {
    id: 'zone-names',
    type: 'symbol',
    source: 'zones',
    filter: ['!', ['has', 'color']],
    layout: {
      'text-field': ['step', ['zoom'], '', 3, ['get', 'name']],
      'text-font': FONT,
      'text-size': 12,
      'text-max-width': 9,
      'text-optional': true,
    },
    paint: { 'text-halo-width': 1.6 },
  },
] as unknown as Layer[]

/** The name stands once in a zone, not once in each tile of it. */
const nameFeature = ({ name, shape }: Zone): GeoJSON.Feature =>
  pointAt(middleOf(shape as Shape), { name })

export const addZoneLayers = (map: MapLibre): void => {
  addSources(map, 'zones')
  for (const layer of LAYERS) map.addLayer(layer)
}

export const paintZoneLayers = (map: MapLibre, theme: 'light' | 'dark'): void => {
  map.setPaintProperty('zone-names', 'text-color', theme === 'dark' ? '#e9edfb' : '#0f1730')
  map.setPaintProperty('zone-names', 'text-halo-color', PALETTES[theme].halo)
}

export const setZones = (
  map: MapLibre,
  zones: readonly Zone[],
  chosenId: string | null = null,
): void => {
  setData(map, 'zones', [
    ...zones.map(({ id, color, shape }) =>
      zoneFeature(shape as Shape, { id, color, isChosen: id === chosenId }),
    ),
    ...zones.map(nameFeature),
  ])
  map.getContainer().dataset.zones = String(zones.length)
}
