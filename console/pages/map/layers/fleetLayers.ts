import type { GeoJSONSource, Map as MapLibre } from 'maplibre-gl'
import { FONT, type Layer, PALETTES } from '../base/style.ts'
import { STATE_COLOURS, STATES } from '../fleet/deviceState.ts'
import type { Member } from '../fleet/fleet.ts'
import type { FleetChange } from './drawnFleet.ts'
import { addSources, pointAt } from './sources.ts'

/* The layers of devices, clusters and the playhead on top of any base map. */

const MOVING_KMH = 2
export const CLUSTER_MAX_ZOOM = 9

const isMoving = ({ device: { lastLocation } }: Member): boolean =>
  (lastLocation?.speed ?? 0) > MOVING_KMH && lastLocation?.course !== undefined

export const featureOf = (member: Member): GeoJSON.Feature | null => {
  const { device, state } = member
  const { lastLocation } = device
  if (!lastLocation || state === 'none') return null
  const moving = isMoving(member)
  return pointAt([lastLocation.longitude, lastLocation.latitude], {
    id: device.id,
    name: device.name,
    icon: moving ? `${state}-moving` : state,
    course: moving ? lastLocation.course : 0,
    rank: STATES.indexOf(state),
    state,
  })
}

const deviceLayer = (id: string, source: string): Layer => ({
  id,
  type: 'symbol',
  source,
  ...(source === 'devices' && { filter: ['!', ['has', 'point_count']] }),
  layout: {
    'icon-image': ['get', 'icon'],
    'icon-rotate': ['get', 'course'],
    'icon-rotation-alignment': 'map',
    'icon-allow-overlap': true,
    'icon-ignore-placement': true,
    'symbol-sort-key': ['get', 'rank'],
    'text-field': ['step', ['zoom'], '', 4.5, ['get', 'name']],
    'text-font': FONT,
    'text-size': 12,
    'text-offset': [0, 1.25],
    'text-anchor': 'top',
    'text-optional': true,
  },
  paint: { 'text-halo-width': 1.6 },
})

const LAYERS: Layer[] = [
  {
    id: 'clusters',
    type: 'circle',
    source: 'devices',
    filter: ['has', 'point_count'],
    paint: {
      'circle-color': [
        'case',
        ['>', ['get', 'emergencies'], 0],
        STATE_COLOURS.emergency,
        '#3a51da',
      ],
      'circle-radius': ['step', ['get', 'point_count'], 15, 10, 18, 100, 23, 1000, 29],
      'circle-stroke-color': '#ffffff',
      'circle-stroke-width': 3,
      'circle-opacity': 0.92,
    },
  },
  {
    id: 'cluster-counts',
    type: 'symbol',
    source: 'devices',
    filter: ['has', 'point_count'],
    layout: {
      'text-field': ['get', 'point_count_abbreviated'],
      'text-font': FONT,
      'text-size': 13,
      'text-allow-overlap': true,
      'text-ignore-placement': true,
    },
    paint: { 'text-color': '#ffffff' },
  },
  {
    id: 'emergency-ring',
    type: 'circle',
    source: 'devices',
    filter: ['==', ['get', 'state'], 'emergency'],
    paint: {
      'circle-radius': 20,
      'circle-color': STATE_COLOURS.emergency,
      'circle-opacity': 0.22,
      'circle-stroke-color': STATE_COLOURS.emergency,
      'circle-stroke-width': 2,
    },
  },
  deviceLayer('devices', 'devices'),
  {
    id: 'selected-ring',
    type: 'circle',
    source: 'selected',
    paint: {
      'circle-radius': 17,
      'circle-color': 'rgba(0, 0, 0, 0)',
      'circle-stroke-color': '#3a51da',
      'circle-stroke-width': 3,
    },
  },
  deviceLayer('selected', 'selected'),
  {
    id: 'event',
    type: 'circle',
    source: 'event',
    paint: {
      'circle-radius': 9,
      'circle-color': STATE_COLOURS.emergency,
      'circle-stroke-color': '#ffffff',
      'circle-stroke-width': 3,
    },
  },
  {
    id: 'event-name',
    type: 'symbol',
    source: 'event',
    layout: {
      'text-field': ['get', 'name'],
      'text-font': FONT,
      'text-size': 13,
      'text-offset': [0, -1.1],
      'text-anchor': 'bottom',
      'text-allow-overlap': true,
    },
    paint: { 'text-halo-width': 1.6 },
  },
  {
    id: 'playhead',
    type: 'circle',
    source: 'playhead',
    paint: {
      'circle-radius': 8,
      'circle-color': '#ff9a2e',
      'circle-stroke-color': '#ffffff',
      'circle-stroke-width': 3,
    },
  },
]

export const addFleetLayers = (map: MapLibre): void => {
  map.addSource('devices', {
    type: 'geojson',
    data: { type: 'FeatureCollection', features: [] },
    promoteId: 'id',
    cluster: true,
    clusterRadius: 42,
    clusterMaxZoom: CLUSTER_MAX_ZOOM,
    clusterProperties: {
      emergencies: ['+', ['case', ['==', ['get', 'state'], 'emergency'], 1, 0]],
    },
  })
  addSources(map, 'selected', 'event', 'playhead')
  for (const layer of LAYERS) map.addLayer(layer)
}

/** Colours that depend on the theme. */
export const paintFleetLayers = (map: MapLibre, theme: 'light' | 'dark'): void => {
  const { track, halo } = PALETTES[theme]
  map.setPaintProperty('selected-ring', 'circle-stroke-color', track)
  for (const layer of ['devices', 'selected', 'event-name']) {
    map.setPaintProperty(layer, 'text-color', theme === 'dark' ? '#e9edfb' : '#0f1730')
    map.setPaintProperty(layer, 'text-halo-color', halo)
  }
}

export const drawFleet = (map: MapLibre, change: FleetChange): void => {
  const source = map.getSource<GeoJSONSource>('devices')
  if (change.kind === 'all')
    void source?.setData({ type: 'FeatureCollection', features: change.features })
  if (change.kind === 'some') void source?.updateData(change.diff)
}
