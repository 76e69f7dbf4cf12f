import { LngLatBounds, type Map as MapLibre, type StyleSpecification } from 'maplibre-gl'
import type { Location, Zone } from '../../api/types.ts'
import { prefersReducedMotion } from '../../format/preferences.ts'
import { boundsOf, type Shape } from '../zones/shape.ts'
import { PALETTES, type Theme } from './base/style.ts'
import { setData } from './layers/fleetLayers.ts'
import { addZoneLayers, paintZoneLayers, setZones } from './layers/zoneLayers.ts'
import { type MapOptions, type OpenedMap, openMap } from './openMap.ts'
import { unwrapTrack } from './track/trackMath.ts'

/* A map with zones, a track and points on it, for the pages of zones, rules and trips. */

export interface Place {
  latitude: number
  longitude: number
}

const EDGE_PX = 64
/** A zone may be small; positions need their surroundings. */
const MAX_SHAPE_ZOOM = 14
const MAX_TRACK_ZOOM = 11
const PLACE_ZOOM = 8
const NOTHING: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] }

const LAYERS: StyleSpecification['layers'] = [
  ...['track', 'part'].flatMap((id): StyleSpecification['layers'] => [
    {
      id: `${id}-casing`,
      type: 'line',
      source: id,
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: { 'line-width': id === 'part' ? 9 : 5, 'line-opacity': 0.85 },
    },
    {
      id,
      type: 'line',
      source: id,
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: { 'line-width': id === 'part' ? 5 : 2.5 },
    },
  ]),
  {
    id: 'points',
    type: 'circle',
    source: 'points',
    paint: {
      'circle-radius': ['case', ['get', 'isChosen'], 10, 6],
      'circle-color': ['case', ['get', 'isChosen'], '#ff9a2e', '#c0222d'],
      'circle-stroke-color': '#ffffff',
      'circle-stroke-width': 2.5,
    },
  },
]

const lineOf = (places: readonly Place[]): GeoJSON.Feature | null => {
  const coordinates = unwrapTrack(places)
  if (coordinates.length < 2) return null
  return { type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates } }
}

export class PlainMap {
  readonly #opened: OpenedMap
  readonly map: MapLibre

  private constructor(opened: OpenedMap) {
    this.#opened = opened
    this.map = opened.map
  }

  /** Whom the base map credits. */
  get attribution(): string {
    return this.#opened.attribution
  }

  static async open(options: MapOptions): Promise<PlainMap> {
    const opened = await openMap(options)
    const { map } = opened
    addZoneLayers(map)
    for (const id of ['track', 'part', 'points'])
      map.addSource(id, { type: 'geojson', data: NOTHING })
    for (const layer of LAYERS) map.addLayer(layer)
    const self = new PlainMap(opened)
    self.setTheme(options.theme)
    return self
  }

  setTheme(theme: Theme): void {
    this.#opened.paintBase(theme)
    paintZoneLayers(this.map, theme)
    const { track, casing } = PALETTES[theme]
    this.map.setPaintProperty('track', 'line-color', track)
    this.map.setPaintProperty('part', 'line-color', '#ff9a2e')
    for (const id of ['track', 'part'])
      this.map.setPaintProperty(`${id}-casing`, 'line-color', casing)
  }

  setZones(zones: readonly Zone[], chosenId: string | null = null): void {
    setZones(this.map, zones, chosenId)
  }

  setTrack(track: readonly Location[]): void {
    setData(this.map, 'track', lineOf(track))
    this.map.getContainer().dataset.track = String(track.length)
  }

  /** A stretch of the track that stands out. */
  setPart(part: readonly Place[]): void {
    setData(this.map, 'part', lineOf(part))
    this.map.getContainer().dataset.part = String(part.length)
  }

  setPoints(points: readonly Place[], chosen: number | null): void {
    setData(this.map, 'points', {
      type: 'FeatureCollection',
      features: points.map(({ longitude, latitude }, at) => ({
        type: 'Feature',
        properties: { isChosen: at === chosen },
        geometry: { type: 'Point', coordinates: [longitude, latitude] },
      })),
    })
    this.map.getContainer().dataset.points = String(points.length)
  }

  fitPlaces(places: readonly Place[]): void {
    const bounds = new LngLatBounds()
    for (const place of unwrapTrack(places)) bounds.extend(place)
    this.#fit(bounds, MAX_TRACK_ZOOM)
  }

  showPlace({ longitude, latitude }: Place): void {
    this.map.easeTo({
      center: [longitude, latitude],
      zoom: Math.max(this.map.getZoom(), PLACE_ZOOM),
      animate: !prefersReducedMotion(),
    })
  }

  fitShapes(shapes: readonly Shape[]): void {
    const bounds = new LngLatBounds()
    for (const shape of shapes) {
      const [west, south, east, north] = boundsOf(shape)
      bounds.extend([west, Math.max(-85, south)]).extend([east, Math.min(85, north)])
    }
    this.#fit(bounds, MAX_SHAPE_ZOOM)
  }

  #fit(bounds: LngLatBounds, maxZoom: number): void {
    if (bounds.isEmpty()) return
    this.map.fitBounds(bounds, {
      padding: EDGE_PX,
      maxZoom,
      animate: !prefersReducedMotion(),
      duration: 600,
    })
  }

  zoomBy(steps: number): void {
    this.map.zoomTo(this.map.getZoom() + steps, { duration: prefersReducedMotion() ? 0 : 250 })
  }

  close(): void {
    this.map.remove()
  }
}
