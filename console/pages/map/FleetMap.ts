import type { GeoJSONSource } from 'maplibre-gl'
import { prefersReducedMotion } from '../../format/preferences.ts'
import type { Theme } from './base/style.ts'
import type { Member } from './fleet/fleet.ts'
import type { View } from './keptView.ts'
import { DrawnFleet } from './layers/drawnFleet.ts'
import { addFleetLayers, drawFleet, featureOf, paintFleetLayers } from './layers/fleetLayers.ts'
import { pointAt, setData } from './layers/sources.ts'
import { addSymbols } from './layers/symbols.ts'
import { MapView } from './MapView.ts'
import type { OpenedMap } from './openMap.ts'
import { type Place, unwrapTrack } from './track/trackMath.ts'

const PLACE_ZOOM = 7
const DEVICE_ZOOM = 5.5
/** Half of a marker with its ring. */
const MARKER_PX = 24
const CLICKABLE = ['devices', 'selected', 'clusters']

/** The map of the fleet. */
export class FleetMap extends MapView {
  /** Called with the device that is clicked; null where there is none. */
  onSelect: (deviceId: string | null) => void = () => undefined
  readonly #drawn = new DrawnFleet(featureOf)
  #members: readonly Member[] = []
  #selected: Member | null = null
  #hasFitted = false

  protected constructor(opened: OpenedMap) {
    super(opened)
    addSymbols(this.map)
    addFleetLayers(this.map)
    this.#listen()
  }

  #listen(): void {
    const { map } = this
    map.on('mouseenter', CLICKABLE, () => {
      map.getCanvas().style.cursor = 'pointer'
    })
    map.on('mouseleave', CLICKABLE, () => {
      map.getCanvas().style.cursor = ''
    })
    map.on('click', ({ point }) => {
      const [hit] = map.queryRenderedFeatures(point, { layers: CLICKABLE })
      if (!hit) return this.onSelect(null)
      if (hit.properties.cluster) void this.#openCluster(hit)
      else this.onSelect(String(hit.properties.id))
    })
  }

  async #openCluster({ properties, geometry }: GeoJSON.Feature): Promise<void> {
    const source = this.map.getSource<GeoJSONSource>('devices')
    const zoom = await source?.getClusterExpansionZoom(properties?.cluster_id)
    const [x = 0, y = 0] = (geometry as GeoJSON.Point).coordinates
    this.map.easeTo({ center: [x, y], zoom: (zoom ?? this.map.getZoom() + 2) + 0.2 })
  }

  override setTheme(theme: Theme): void {
    super.setTheme(theme)
    paintFleetLayers(this.map, theme)
  }

  setFleet(members: readonly Member[]): void {
    this.#members = members
    drawFleet(this.map, this.#drawn.change(members.filter((one) => !this.#isSelected(one))))
    this.map.getContainer().dataset.drawn = String(this.#drawn.size)
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
    setData(this.map, 'selected', member && featureOf(member))
    if (isOther) this.setFleet(this.#members)
  }

  /** Where the selected device is on the screen, once the map has moved to it. */
  #notePlace(): void {
    const location = this.#selected?.device.lastLocation
    if (!location) return
    const { x, y } = this.map.project([location.longitude, location.latitude])
    this.map.getContainer().dataset.marker = `${Math.round(x)},${Math.round(y)}`
  }

  /** Shows the selected device above a card that would cover it. */
  showDevice(card: Element | null = null): void {
    const location = this.#selected?.device.lastLocation
    if (!location) return
    void this.map.once('moveend').then(() => this.#notePlace())
    this.#flyTo(location, DEVICE_ZOOM, card)
  }

  /** Shows the selected device again if a card that has grown covers it. */
  async clearOf(card: Element): Promise<void> {
    if (this.map.isMoving()) await this.map.once('moveend')
    const location = this.#selected?.device.lastLocation
    if (!location) return
    const map = this.map.getContainer().getBoundingClientRect()
    const point = this.map.project([location.longitude, location.latitude])
    const [x, y] = [map.left + point.x, map.top + point.y]
    const { top, right, bottom, left } = card.getBoundingClientRect()
    const gapPx = Math.max(left - x, x - right, top - y, y - bottom)
    if (gapPx < MARKER_PX) this.showDevice(card)
  }

  /** Shows where something happened. */
  setEvent(place: Place | null, name = ''): void {
    setData(this.map, 'event', place && pointAt([place.longitude, place.latitude], { name }))
    this.map.getContainer().dataset.event = name
  }

  showEvent(place: Place, card: Element | null): void {
    this.#flyTo(place, PLACE_ZOOM, card)
  }

  #flyTo({ longitude, latitude }: Place, minZoom: number, card: Element | null): void {
    this.#hasFitted = true
    this.map.flyTo({
      center: [longitude, latitude],
      offset: [0, -this.#coveredPx(card)],
      zoom: Math.max(this.map.getZoom(), minZoom),
      duration: prefersReducedMotion() ? 0 : 900,
    })
  }

  /** How far above the middle of the map a marker must be, so that the card does not cover it. */
  #coveredPx(card: Element | null): number {
    if (!card) return 0
    const map = this.map.getContainer().getBoundingClientRect()
    const { top, right } = card.getBoundingClientRect()
    const [middleX, middleY] = [map.left + map.width / 2, map.top + map.height / 2]
    const isClear = right + MARKER_PX < middleX || top - MARKER_PX > middleY
    return isClear ? 0 : middleY - (map.top + top) / 2
  }

  /** Instead of all devices, when the map is opened. */
  showView(view: View): void {
    this.#hasFitted = true
    this.map.jumpTo(view)
  }

  onMove(handle: (view: View) => void): void {
    this.map.on('moveend', () => {
      const { lng, lat } = this.map.getCenter()
      handle({ center: [lng, lat], zoom: this.map.getZoom() })
    })
  }

  fitAll(isAnimated = true): void {
    const places = this.#members.flatMap(({ device: { lastLocation } }): [number, number][] =>
      lastLocation ? [[lastLocation.longitude, lastLocation.latitude]] : [],
    )
    this.fit(places, PLACE_ZOOM, isAnimated)
  }

  override setTrack(track: readonly Place[], isFitted = true): void {
    super.setTrack(track)
    if (isFitted && track.length > 1) this.fit(unwrapTrack(track), PLACE_ZOOM)
  }

  setPlayhead(place: Place | null): void {
    setData(this.map, 'playhead', place && pointAt([place.longitude, place.latitude]))
  }

  resize(): void {
    this.map.resize()
  }
}
