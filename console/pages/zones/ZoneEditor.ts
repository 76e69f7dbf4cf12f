import type { LngLat, MapMouseEvent, MapTouchEvent, Point } from 'maplibre-gl'
import { addSources, pointAt, setData } from '../map/layers/sources.ts'
import type { PlainMap } from '../map/PlainMap.ts'
import {
  distanceBetween,
  type Position,
  polygonOf,
  type Shape,
  toPosition,
  zoneFeature,
} from './shape.ts'
import {
  cornersOf,
  DRAFT_LAYERS,
  drawnPart,
  type Handle,
  HIT_PX,
  handlesOf,
  insertCorner,
  isSameHandle,
  moveHandle,
  nearestHandle,
  removeCorner,
} from './zoneHandles.ts'

/* Draws a new shape by clicks, and changes one by dragging its handles. */

export type DrawMode = 'Circle' | 'Polygon' | null

interface Handlers {
  onShape: (shape: Shape) => void
  /** The number of corners of a polygon that is being drawn. */
  onDrawing: (mode: DrawMode, corners: number) => void
}

const SAME_PX = 3
const DROP_EVENTS = ['mouseup', 'touchend', 'touchcancel'] as const

export class ZoneEditor {
  readonly #plain: PlainMap
  readonly #handlers: Handlers
  #shape: Shape | null = null
  #color = '#2563eb'
  #mode: DrawMode = null
  #corners: Position[] = []
  #pointer: Position | null = null
  #dragged: Handle | null = null
  #chosen: Handle | null = null
  #stop = () => {}

  constructor(plain: PlainMap, handlers: Handlers) {
    this.#plain = plain
    this.#handlers = handlers
    const { map } = plain
    addSources(map, 'draft', 'draft-handles')
    for (const layer of DRAFT_LAYERS) map.addLayer(layer)
    this.#listen()
  }

  get #map() {
    return this.#plain.map
  }

  #listen(): void {
    const map = this.#map
    const canvas = map.getCanvas()
    const down = (event: MapMouseEvent | MapTouchEvent) => this.#press(event)
    const move = (event: MapMouseEvent | MapTouchEvent) => this.#move(event)
    const drop = () => this.#drop()
    const key = (event: KeyboardEvent) => this.#key(event)
    const subscriptions = [
      map.on('mousedown', down),
      map.on('touchstart', down),
      map.on('mousemove', move),
      map.on('touchmove', move),
      map.on('click', (event) => this.#click(event)),
    ]
    canvas.addEventListener('keydown', key)
    // A corner may be dropped outside the map.
    for (const type of DROP_EVENTS) addEventListener(type, drop)
    this.#stop = () => {
      for (const one of subscriptions) one.unsubscribe()
      canvas.removeEventListener('keydown', key)
      for (const type of DROP_EVENTS) removeEventListener(type, drop)
    }
  }

  show(shape: Shape | null, color: string): void {
    if (this.#dragged) return
    this.#shape = shape
    this.#color = color
    this.#draw()
  }

  /** Begins a new shape; what was drawn before stays until the new one is complete. */
  start(mode: DrawMode): void {
    this.#mode = mode
    this.#corners = []
    this.#pointer = null
    this.#chosen = null
    if (mode) this.#map.doubleClickZoom.disable()
    else this.#map.doubleClickZoom.enable()
    this.#map.getCanvas().style.cursor = mode ? 'crosshair' : ''
    this.#handlers.onDrawing(mode, 0)
    this.#draw()
  }

  /** Completes a polygon. */
  finish(): void {
    if (this.#mode !== 'Polygon' || this.#corners.length < 3) return
    const shape = polygonOf(this.#corners)
    this.start(null)
    this.#setShape(shape)
  }

  close(): void {
    this.#stop()
    const map = this.#map
    // A map that is closed already has no layers any more.
    if (!map.getStyle()) return
    map.doubleClickZoom.enable()
    map.getCanvas().style.cursor = ''
    for (const { id } of DRAFT_LAYERS) map.removeLayer(id)
    for (const id of ['draft', 'draft-handles']) map.removeSource(id)
  }

  #setShape(shape: Shape): void {
    this.#shape = shape
    this.#handlers.onShape(shape)
    this.#draw()
  }

  #click({ lngLat, point }: MapMouseEvent): void {
    if (this.#mode === 'Circle') this.#clickCircle(lngLat)
    if (this.#mode === 'Polygon') this.#clickPolygon(lngLat, point)
  }

  #isNear(place: Position | undefined, point: Point, maxPx: number): boolean {
    return place !== undefined && this.#map.project(place).dist(point) < maxPx
  }

  /** The first corner, or the second click of a double click, completes the polygon. */
  #clickPolygon(lngLat: LngLat, point: Point): void {
    const isAtFirst = this.#corners.length > 2 && this.#isNear(this.#corners[0], point, HIT_PX)
    if (isAtFirst || this.#isNear(this.#corners.at(-1), point, SAME_PX)) this.finish()
    else {
      this.#corners.push([lngLat.lng, lngLat.lat])
      this.#handlers.onDrawing('Polygon', this.#corners.length)
      this.#draw()
    }
  }

  /** The first click is the center, the second one on the border. */
  #clickCircle({ lng, lat }: LngLat): void {
    const [center] = this.#corners
    if (center) {
      const radius = Math.max(1, Math.round(distanceBetween(center, [lng, lat])))
      this.start(null)
      this.#setShape({
        type: 'Circle',
        center: toPosition({ lng: center[0], lat: center[1] }),
        radius,
      })
    } else {
      this.#corners = [[lng, lat]]
      this.#handlers.onDrawing('Circle', 1)
      this.#draw()
    }
  }

  #key(event: KeyboardEvent): void {
    if (event.key === 'Escape' && this.#mode) this.start(null)
    else if (event.key === 'Enter' && this.#mode) this.finish()
    else if (event.key === 'Delete' || event.key === 'Backspace') this.#removeCorner()
    else return
    event.preventDefault()
  }

  #removeCorner(): void {
    if (this.#mode === 'Polygon') {
      this.#corners.pop()
      this.#handlers.onDrawing('Polygon', this.#corners.length)
      this.#draw()
      return
    }
    const shorter = this.#shape && this.#chosen && removeCorner(this.#shape, this.#chosen)
    if (!shorter) return
    this.#chosen = null
    this.#setShape(shorter)
  }

  #handleAt(point: Point): Handle | null {
    return this.#shape && nearestHandle(this.#shape, point, (place) => this.#map.project(place))
  }

  #press(event: MapMouseEvent | MapTouchEvent): void {
    if (this.#mode) return
    const handle = this.#handleAt(event.point)
    this.#chosen = handle
    if (handle) {
      event.preventDefault()
      this.#map.dragPan.disable()
      this.#dragged = handle
    }
    if (handle?.kind === 'middle' && this.#shape) {
      this.#shape = insertCorner(this.#shape, handle)
      this.#dragged = { ...handle, kind: 'corner', at: handle.at + 1 }
      this.#chosen = this.#dragged
    }
    this.#draw()
  }

  #move({ lngLat, point }: MapMouseEvent | MapTouchEvent): void {
    this.#pointer = [lngLat.lng, lngLat.lat]
    if (this.#dragged && this.#shape)
      this.#shape = moveHandle(this.#shape, this.#dragged, toPosition(lngLat))
    else if (!this.#mode) {
      this.#map.getCanvas().style.cursor = this.#handleAt(point) ? 'grab' : ''
      return
    }
    this.#draw()
  }

  #drop(): void {
    if (!this.#dragged) return
    this.#dragged = null
    this.#map.dragPan.enable()
    if (this.#shape) this.#setShape(this.#shape)
  }

  #draw(): void {
    const color = this.#color
    const features = this.#mode ? drawnPart(this.#mode, this.#corners, this.#pointer, color) : []
    const ofShape = this.#shape ? handlesOf(this.#shape) : []
    const handles = this.#mode ? cornersOf(this.#corners) : ofShape
    if (!this.#mode && this.#shape) features.push(zoneFeature(this.#shape, { color, isArea: true }))
    setData(this.#map, 'draft', features)
    const points = handles.map((handle) =>
      pointAt(handle.place, {
        kind: handle.kind,
        color,
        isChosen: isSameHandle(handle, this.#chosen),
      }),
    )
    setData(this.#map, 'draft-handles', points)
  }
}
