import { LngLatBounds, type LngLatLike, type Map as MapLibre } from 'maplibre-gl'
import type { Zone } from '../../api/types.ts'
import { prefersReducedMotion } from '../../format/preferences.ts'
import type { Theme } from './base/style.ts'
import { addLine, lineOf, paintLine } from './layers/lines.ts'
import { setData } from './layers/sources.ts'
import { addZoneLayers, paintZoneLayers, setZones } from './layers/zoneLayers.ts'
import { type MapOptions, type OpenedMap, openMap } from './openMap.ts'
import type { Place } from './track/trackMath.ts'

const EDGE_PX = 64
/** What is smaller than this shows needs its surroundings. */
const MAX_SPAN_ZOOM = 14

/** A map with zones and a track on it: what the maps of all pages share. */
export class MapView {
  readonly map: MapLibre
  readonly #opened: OpenedMap

  protected constructor(opened: OpenedMap) {
    this.#opened = opened
    this.map = opened.map
    addZoneLayers(this.map)
    addLine(this.map, 'track', 3)
    this.map.on('moveend', () => this.#noteView())
  }

  /** Throws if the browser has no WebGL. */
  static async open(options: MapOptions): Promise<MapView> {
    const view = new this(await openMap(options))
    view.setTheme(options.theme)
    return view
  }

  /** Whom the base map credits. */
  get attribution(): string {
    return this.#opened.attribution
  }

  setTheme(theme: Theme): void {
    this.#opened.paintBase(theme)
    paintZoneLayers(this.map, theme)
    paintLine(this.map, 'track', theme)
  }

  setZones(zones: readonly Zone[], chosenId: string | null = null): void {
    setZones(this.map, zones, chosenId)
  }

  setTrack(track: readonly Place[]): void {
    setData(this.map, 'track', lineOf(track))
    this.map.getContainer().dataset.track = String(track.length)
  }

  /** What the map shows: zoom, latitude and longitude. */
  #noteView(): void {
    const { lat, lng } = this.map.getCenter()
    const view = [this.map.getZoom().toFixed(1), lat.toFixed(3), lng.toFixed(3)]
    this.map.getContainer().dataset.view = view.join()
  }

  /** Shows the places as large as they fit; a single one has no size, and gets `placeZoom`. */
  fit(places: readonly LngLatLike[], placeZoom: number, isAnimated = true): void {
    const bounds = new LngLatBounds()
    for (const place of places) bounds.extend(place)
    if (bounds.isEmpty()) return
    const isOnePlace = bounds.getNorthEast().distanceTo(bounds.getSouthWest()) === 0
    const maxZoom = isOnePlace ? placeZoom : MAX_SPAN_ZOOM
    const animate = isAnimated && !prefersReducedMotion()
    this.map.fitBounds(bounds, { padding: EDGE_PX, maxZoom, animate, duration: 600 })
  }

  zoomBy(steps: number): void {
    this.map.zoomTo(this.map.getZoom() + steps, { duration: prefersReducedMotion() ? 0 : 250 })
  }

  close(): void {
    this.map.remove()
  }
}
