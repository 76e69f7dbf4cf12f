import type { GeoJSONSource } from 'maplibre-gl'
import { LngLatBounds, type Map as MapLibre } from 'maplibre-gl'
import type { Location, Zone } from '../../api/types.ts'
import { prefersReducedMotion } from '../../format/preferences.ts'
import { text } from '../../text/text.ts'
import type { Theme } from './base/style.ts'
import type { Member } from './fleet/fleet.ts'
import { DrawnFleet } from './layers/drawnFleet.ts'
import {
  addFleetLayers,
  drawFleet,
  featureOf,
  featuresOf,
  paintFleetLayers,
  setData,
} from './layers/fleetLayers.ts'
import { addSymbols } from './layers/symbols.ts'
import { addZoneLayers, paintZoneLayers, setZones } from './layers/zoneLayers.ts'
import { type OpenedMap, openMap } from './openMap.ts'
import { unwrapTrack } from './track/trackMath.ts'

/* The map of the fleet. */

interface Options {
  container: HTMLElement
  theme: Theme
  onSelect: (deviceId: string | null) => void
}

const MAX_FIT_ZOOM = 7
const EDGE_PX = 70

export class FleetMap {
  readonly #map: MapLibre
  readonly #opened: OpenedMap
  readonly #drawn = new DrawnFleet(featureOf)
  #members: readonly Member[] = []
  #selected: Member | null = null
  #hasFitted = false

  private constructor(opened: OpenedMap) {
    this.#opened = opened
    this.#map = opened.map
  }

  /** Whom the base map credits. */
  get attribution(): string {
    return this.#opened.attribution
  }

  /** Throws if the browser has no WebGL. */
  static async open({ container, theme, onSelect }: Options): Promise<FleetMap> {
    const opened = await openMap({ container, theme, label: text.map.label })
    const { map } = opened
    const self = new FleetMap(opened)
    addSymbols(map)
    addZoneLayers(map)
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
    paintFleetLayers(this.#map, theme)
    paintZoneLayers(this.#map, theme)
    this.#opened.paintBase(theme)
  }

  setZones(zones: readonly Zone[]): void {
    setZones(this.#map, zones)
  }

  setFleet(members: readonly Member[]): void {
    this.#members = members
    drawFleet(this.#map, this.#drawn.change(members.filter((one) => !this.#isSelected(one))))
    this.#map.getContainer().dataset.drawn = String(this.#drawn.size)
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
    const line = unwrapTrack(locations ?? [])
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
