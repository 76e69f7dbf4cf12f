import { LngLatBounds, Map as MapLibre, setWorkerUrl } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url'
import 'maplibre-gl/dist/maplibre-gl.css'
import baseMapUrl from 'virtual:base-map'
import type { GeoJSONSource, StyleSpecification } from 'maplibre-gl'
import type { Location } from '../../api/types.ts'
import { prefersReducedMotion } from '../../format/preferences.ts'
import { text } from '../../text/text.ts'
import type { Member } from './fleet.ts'
import { addFleetLayers, featuresOf, paintFleetLayers, setData } from './fleetLayers.ts'
import { makeStyle, PALETTES } from './style.ts'
import { addSymbols } from './symbols.ts'

/* The map itself. This file and MapLibre are loaded with the first view of the map. */

setWorkerUrl(workerUrl)

type Theme = 'light' | 'dark'

interface Options {
  container: HTMLElement
  theme: Theme
  onSelect: (deviceId: string | null) => void
}

const MAX_FIT_ZOOM = 7
const EDGE_PX = 70

const rasterStyle: StyleSpecification = {
  version: 8,
  sources: { tiles: { type: 'raster', tiles: [MAP_URL], tileSize: 256, maxzoom: 19 } },
  layers: [{ id: 'tiles', type: 'raster', source: 'tiles' }],
}

const loadStyle = async (theme: Theme): Promise<StyleSpecification | string> => {
  if (MAP_URL.includes('{z}')) return rasterStyle
  if (MAP_URL) return MAP_URL
  const response = await fetch(baseMapUrl)
  return makeStyle(await response.json(), theme)
}

/** Continues longitudes beyond ±180° where a track crosses the antimeridian. */
const unwrapped = (locations: readonly Location[]): [number, number][] => {
  let shift = 0
  return locations.map(({ longitude, latitude }, at) => {
    const step = longitude - (locations[at - 1]?.longitude ?? longitude)
    if (step > 180) shift -= 360
    if (step < -180) shift += 360
    return [longitude + shift, latitude]
  })
}

export class FleetMap {
  readonly #map: MapLibre
  #members: readonly Member[] = []
  #selected: Member | null = null
  #hasFitted = false

  private constructor(map: MapLibre) {
    this.#map = map
  }

  /** Throws if the browser has no WebGL. */
  static async open({ container, theme, onSelect }: Options): Promise<FleetMap> {
    const style = await loadStyle(theme)
    const map = new MapLibre({
      container,
      style,
      center: [0, 25],
      zoom: 1.4,
      minZoom: 0,
      maxZoom: 17,
      attributionControl: false,
      fadeDuration: prefersReducedMotion() ? 0 : 200,
      dragRotate: false,
      pitchWithRotate: false,
      locale: { 'Map.Title': text.map.label },
    })
    map.touchZoomRotate.disableRotation()
    await map.once('load')
    const self = new FleetMap(map)
    addSymbols(map)
    addFleetLayers(map)
    self.setTheme(theme)
    self.#listen(onSelect)
    return self
  }

  #listen(onSelect: Options['onSelect']): void {
    const map = this.#map
    for (const layer of ['devices', 'clusters', 'selected']) {
      map.on('mouseenter', layer, () => {
        map.getCanvas().style.cursor = 'pointer'
      })
      map.on('mouseleave', layer, () => {
        map.getCanvas().style.cursor = ''
      })
    }
    map.on('click', ({ point }) => {
      const [hit] = map.queryRenderedFeatures(point, {
        layers: ['devices', 'selected', 'clusters'],
      })
      if (!hit) return onSelect(null)
      if (hit.properties.cluster) void this.#openCluster(hit)
      else onSelect(String(hit.properties.id))
    })
  }

  async #openCluster({ properties, geometry }: GeoJSON.Feature): Promise<void> {
    const source = this.#map.getSource<GeoJSONSource>('devices')
    const zoom = await source?.getClusterExpansionZoom(properties?.cluster_id)
    const [x = 0, y = 0] = (geometry as GeoJSON.Point).coordinates
    this.#map.easeTo({ center: [x, y], zoom: (zoom ?? this.#map.getZoom() + 2) + 0.2 })
  }

  setTheme(theme: Theme): void {
    const map = this.#map
    paintFleetLayers(map, theme)
    if (MAP_URL) return
    const { sea, land, shore, border, label, halo } = PALETTES[theme]
    map.setPaintProperty('sea', 'background-color', sea)
    map.setPaintProperty('land', 'fill-color', land)
    map.setPaintProperty('shore', 'line-color', shore)
    map.setPaintProperty('borders', 'line-color', border)
    map.setPaintProperty('labels', 'text-color', label)
    map.setPaintProperty('labels', 'text-halo-color', halo)
  }

  setFleet(members: readonly Member[]): void {
    this.#members = members
    const features = featuresOf(members.filter((one) => !this.#isSelected(one)))
    setData(this.#map, 'devices', features)
    this.#map.getContainer().dataset.drawn = String(features.features.length)
    if (!this.#hasFitted && members.some(({ device }) => device.lastLocation)) {
      this.#hasFitted = true
      if (!this.#selected) this.fitAll(false)
    }
  }

  #isSelected({ device }: Member): boolean {
    return device.id === this.#selected?.device.id
  }

  /** The selected device is drawn outside the clusters. */
  select(member: Member | null): void {
    const isOther = member?.device.id !== this.#selected?.device.id
    this.#selected = member
    setData(this.#map, 'selected', featuresOf(member ? [member] : []))
    if (isOther) this.setFleet(this.#members)
  }

  showDevice(): void {
    const location = this.#selected?.device.lastLocation
    if (!location) return
    this.#hasFitted = true
    this.#map.flyTo({
      center: [location.longitude, location.latitude],
      zoom: Math.max(this.#map.getZoom(), 5.5),
      duration: prefersReducedMotion() ? 0 : 900,
    })
  }

  fitAll(isAnimated = true): void {
    const bounds = new LngLatBounds()
    for (const { device } of this.#members)
      if (device.lastLocation)
        bounds.extend([device.lastLocation.longitude, device.lastLocation.latitude])
    this.#fit(bounds, isAnimated)
  }

  #fit(bounds: LngLatBounds, isAnimated: boolean): void {
    if (bounds.isEmpty()) return
    this.#map.fitBounds(bounds, {
      padding: EDGE_PX,
      maxZoom: MAX_FIT_ZOOM,
      animate: isAnimated && !prefersReducedMotion(),
    })
  }

  setTrack(locations: readonly Location[] | null): void {
    const line = unwrapped(locations ?? [])
    setData(
      this.#map,
      'track',
      line.length > 1
        ? {
            type: 'Feature',
            properties: {},
            geometry: { type: 'LineString', coordinates: line },
          }
        : null,
    )
    if (line.length < 2) return
    const bounds = new LngLatBounds()
    for (const point of line) bounds.extend(point)
    this.#fit(bounds, true)
  }

  setPlayhead(location: { longitude: number; latitude: number } | null): void {
    setData(
      this.#map,
      'playhead',
      location && {
        type: 'Feature',
        properties: {},
        geometry: { type: 'Point', coordinates: [location.longitude, location.latitude] },
      },
    )
  }

  zoomBy(steps: number): void {
    this.#map.zoomTo(this.#map.getZoom() + steps, { duration: prefersReducedMotion() ? 0 : 250 })
  }

  resize(): void {
    this.#map.resize()
  }

  close(): void {
    this.#map.remove()
  }
}
