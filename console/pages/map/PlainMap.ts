import { prefersReducedMotion } from '../../format/preferences.ts'
import { boundsOf, type Shape } from '../zones/shape.ts'
import type { Theme } from './base/style.ts'
import { addLine, lineOf, paintLine } from './layers/lines.ts'
import { addSources, pointAt, setData } from './layers/sources.ts'
import { MapView } from './MapView.ts'
import type { OpenedMap } from './openMap.ts'
import { type Place, unwrapTrack } from './track/trackMath.ts'

const STOP_ZOOM = 11
const PLACE_ZOOM = 8
const MAX_MERCATOR_LATITUDE = 85

/** A map with zones, a track and points on it, for the pages of zones, rules and trips. */
export class PlainMap extends MapView {
  protected constructor(opened: OpenedMap) {
    super(opened)
    addLine(this.map, 'part', 5)
    addSources(this.map, 'points')
    this.map.addLayer({
      id: 'points',
      type: 'circle',
      source: 'points',
      paint: {
        'circle-radius': ['case', ['get', 'isChosen'], 10, 6],
        'circle-color': ['case', ['get', 'isChosen'], '#ff9a2e', '#c0222d'],
        'circle-stroke-color': '#ffffff',
        'circle-stroke-width': 2.5,
      },
    })
  }

  override setTheme(theme: Theme): void {
    super.setTheme(theme)
    paintLine(this.map, 'part', theme, '#ff9a2e')
  }

  /** A stretch of the track that stands out. */
  setPart(part: readonly Place[]): void {
    setData(this.map, 'part', lineOf(part))
    this.map.getContainer().dataset.part = String(part.length)
  }

  setPoints(points: readonly Place[], chosen: number | null): void {
    const features = points.map(({ longitude, latitude }, at) =>
      pointAt([longitude, latitude], { isChosen: at === chosen }),
    )
    setData(this.map, 'points', features)
    this.map.getContainer().dataset.points = String(points.length)
  }

  fitPlaces(places: readonly Place[]): void {
    this.fit(unwrapTrack(places), STOP_ZOOM)
  }

  showPlace({ longitude, latitude }: Place): void {
    this.map.easeTo({
      center: [longitude, latitude],
      zoom: Math.max(this.map.getZoom(), PLACE_ZOOM),
      animate: !prefersReducedMotion(),
    })
  }

  fitShapes(shapes: readonly Shape[]): void {
    const corners = shapes
      .map(boundsOf)
      .flatMap(([west, south, east, north]) => [
        [west, Math.max(-MAX_MERCATOR_LATITUDE, south)] as [number, number],
        [east, Math.min(MAX_MERCATOR_LATITUDE, north)] as [number, number],
      ])
    this.fit(corners, STOP_ZOOM)
  }
}
