import type { ExpressionSpecification } from 'maplibre-gl'
import { FONT, type Layer, PALETTES, type Theme } from './style.ts'

/*
 * How vector tiles look: water, land, roads, borders and names. It knows the layers of Protomaps,
 * OpenMapTiles and Shortbread, and draws those that the tiles have. The browser draws the letters.
 */

/** Each schema has another name for what a feature is. */
const KIND: ExpressionSpecification = [
  'coalesce',
  ['get', 'kind'],
  ['get', 'pmap:kind'],
  ['get', 'class'],
  '',
]

const ROADS = {
  highway: ['highway', 'motorway', 'trunk'],
  major: ['major_road', 'primary', 'secondary', 'tertiary', 'medium_road'],
}

/** Paths, rails and ferries are left out. */
const NO_ROADS = ['path', 'rail', 'ferry', 'aerialway', 'track', 'pier', 'other', 'transit']

const byRoad = (highway: number, major: number, minor: number): ExpressionSpecification => [
  'match',
  KIND,
  ROADS.highway,
  highway,
  ROADS.major,
  major,
  minor,
]

const STATES = ['country', 'state', 'region', 'province']
const IS_TOWN: ExpressionSpecification = ['!', ['in', KIND, ['literal', STATES]]]
const NAME: ExpressionSpecification = [
  'coalesce',
  ['get', 'name:en'],
  ['get', 'name_en'],
  ['get', 'name'],
  '',
]

type Palette = (typeof PALETTES)[Theme]
type Make = (id: string, source: string, layer: string, palette: Palette) => Layer

const fill =
  (colour: 'sea' | 'land'): Make =>
  (id, source, layer, palette) => ({
    id,
    type: 'fill',
    source,
    'source-layer': layer,
    filter: ['==', ['geometry-type'], 'Polygon'],
    paint: { 'fill-color': palette[colour], 'fill-antialias': false },
  })

const rivers: Make = (id, source, layer, { sea }) => ({
  id,
  type: 'line',
  source,
  'source-layer': layer,
  filter: ['==', ['geometry-type'], 'LineString'],
  minzoom: 7,
  paint: { 'line-color': sea, 'line-width': 1.2 },
})

const roads: Make = (id, source, layer, { road }) => ({
  id,
  type: 'line',
  source,
  'source-layer': layer,
  filter: [
    'all',
    ['==', ['geometry-type'], 'LineString'],
    ['!', ['in', KIND, ['literal', NO_ROADS]]],
  ],
  layout: { 'line-cap': 'round', 'line-join': 'round' },
  paint: {
    'line-color': road,
    'line-width': [
      'interpolate',
      ['exponential', 1.5],
      ['zoom'],
      5,
      byRoad(0.8, 0.3, 0),
      10,
      byRoad(2, 1.2, 0.4),
      16,
      byRoad(11, 8, 5),
    ],
  },
})

const borders: Make = (id, source, layer, { border }) => ({
  id,
  type: 'line',
  source,
  'source-layer': layer,
  // Countries, and what is directly below them.
  filter: ['<=', ['coalesce', ['get', 'admin_level'], ['get', 'kind_detail'], 2], 4],
  paint: {
    'line-color': border,
    'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.6, 7, 1.6],
  },
})

const names: Make = (id, source, layer, { label, halo }) => ({
  id,
  type: 'symbol',
  source,
  'source-layer': layer,
  layout: {
    'text-field': NAME,
    'text-font': FONT,
    'text-size': ['case', IS_TOWN, 12, 13.5],
    'text-max-width': 7,
  },
  paint: { 'text-color': label, 'text-halo-color': halo, 'text-halo-width': 1.2 },
})

/** In the order of drawing; the names of one role are those of different schemas. */
const ROLES: readonly { role: string; layers: readonly string[]; make: Make }[] = [
  { role: 'land', layers: ['earth'], make: fill('land') },
  { role: 'water', layers: ['ocean', 'water', 'water_polygons'], make: fill('sea') },
  { role: 'rivers', layers: ['water', 'waterway', 'water_lines'], make: rivers },
  { role: 'roads', layers: ['roads', 'transportation', 'streets'], make: roads },
  { role: 'borders', layers: ['boundaries', 'boundary'], make: borders },
  { role: 'names', layers: ['places', 'place', 'place_labels'], make: names },
]

/** `present` are the layers that the tiles say they have; null if they do not say. */
export const vectorLayers = (
  source: string,
  present: readonly string[] | null,
  theme: Theme,
): Layer[] => {
  const palette = PALETTES[theme]
  const isPresent = (layer: string) => present === null || present.includes(layer)
  // Where the land is a layer, everything else is sea.
  const background = isPresent('earth') ? palette.sea : palette.land
  return [
    { id: 'background', type: 'background', paint: { 'background-color': background } },
    ...ROLES.flatMap(({ role, layers, make }) =>
      layers.filter(isPresent).map((layer) => make(`${role}-${layer}`, source, layer, palette)),
    ),
  ]
}
