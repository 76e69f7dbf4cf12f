import type { StyleSpecification } from 'maplibre-gl'
import {
  distanceBetween,
  editableRings,
  type Position,
  placeFrom,
  type Shape,
  unwrap,
  withRing,
  zoneFeature,
} from './shape.ts'

/* The points by which a shape is changed. */

/** A corner, the middle of an edge, or a handle of a circle. */
export interface Handle {
  kind: 'corner' | 'middle' | 'center' | 'radius'
  ring: number
  at: number
  place: Position
}

/** How near to a handle the pointer must be. */
export const HIT_PX = 12
const MIN_RADIUS_METRES = 1
const MIN_CORNERS = 3

export const DRAFT_LAYERS: StyleSpecification['layers'] = [
  {
    id: 'draft-area',
    type: 'fill',
    source: 'draft',
    filter: ['has', 'isArea'],
    paint: { 'fill-color': ['get', 'color'], 'fill-opacity': 0.25 },
  },
  {
    id: 'draft-border',
    type: 'line',
    source: 'draft',
    paint: { 'line-color': ['get', 'color'], 'line-width': 3, 'line-dasharray': [2, 1] },
  },
  {
    id: 'draft-handles',
    type: 'circle',
    source: 'draft-handles',
    paint: {
      'circle-radius': ['case', ['==', ['get', 'kind'], 'middle'], 4.5, 7],
      'circle-color': ['case', ['get', 'isChosen'], '#ff9a2e', '#ffffff'],
      'circle-opacity': ['case', ['==', ['get', 'kind'], 'middle'], 0.75, 1],
      'circle-stroke-color': ['get', 'color'],
      'circle-stroke-width': 2.5,
    },
  },
]

export const handlesOf = (shape: Shape): Handle[] => {
  if (shape.type === 'Circle') {
    const center = shape.center as Position
    const edge = placeFrom(center, shape.radius, 90)
    return [
      { kind: 'center', ring: 0, at: 0, place: center },
      { kind: 'radius', ring: 0, at: 0, place: edge },
    ]
  }
  return editableRings(shape).flatMap((ring, index) => {
    const closed = unwrap([...ring, ring[0] as Position])
    return ring.flatMap((place, at): Handle[] => {
      const next = closed[at + 1] as Position
      const middle: Position = [(place[0] + next[0]) / 2, (place[1] + next[1]) / 2]
      return [
        { kind: 'corner', ring: index, at, place },
        { kind: 'middle', ring: index, at, place: middle },
      ]
    })
  })
}

interface Point {
  x: number
  y: number
}

/** The handle under the pointer. The same handle is drawn on each copy of the world. */
export const nearestHandle = (
  shape: Shape,
  point: Point,
  project: (place: Position) => Point,
): Handle | null => {
  const world = project([360, 0]).x - project([0, 0]).x
  let nearest: { handle: Handle | null; distance: number } = { handle: null, distance: HIT_PX }
  for (const handle of handlesOf(shape)) {
    const at = project(handle.place)
    const dx = at.x - point.x
    const distance = Math.hypot(dx - world * Math.round(dx / world), at.y - point.y)
    if (distance < nearest.distance) nearest = { handle, distance }
  }
  return nearest.handle
}

export const cornersOf = (corners: readonly Position[]): Handle[] =>
  corners.map((place, at) => ({ kind: 'corner', ring: 0, at, place }))

/** What is drawn so far, up to the pointer. */
export const drawnPart = (
  mode: 'Circle' | 'Polygon',
  corners: readonly Position[],
  pointer: Position | null,
  color: string,
): GeoJSON.Feature[] => {
  const [center] = corners
  if (!center || !pointer) return []
  if (mode === 'Circle') {
    const radius = distanceBetween(center, pointer)
    if (radius === 0) return []
    return [zoneFeature({ type: 'Circle', center, radius }, { color, isArea: true })]
  }
  const coordinates = [...corners, pointer]
  return [{ type: 'Feature', properties: { color }, geometry: { type: 'LineString', coordinates } }]
}

export const isSameHandle = (a: Handle, b: Handle | null): boolean =>
  b !== null && a.kind === b.kind && a.ring === b.ring && a.at === b.at

/** The shape after one of its handles was dragged to a place. */
export const moveHandle = (
  shape: Shape,
  { kind, ring: index, at }: Handle,
  place: Position,
): Shape => {
  if (shape.type !== 'Circle') {
    const ring = [...(editableRings(shape)[index] ?? [])]
    ring[at] = place
    return withRing(shape, index, ring)
  }
  if (kind === 'center') return { ...shape, center: place }
  const radius = Math.round(distanceBetween(shape.center as Position, place))
  return { ...shape, radius: Math.max(MIN_RADIUS_METRES, radius) }
}

/** Makes a corner of the middle of an edge. */
export const insertCorner = (shape: Shape, { ring: index, at, place }: Handle): Shape => {
  if (shape.type === 'Circle') return shape
  const ring = [...(editableRings(shape)[index] ?? [])]
  ring.splice(at + 1, 0, place)
  return withRing(shape, index, ring)
}

/** Null where nothing can be removed. */
export const removeCorner = (shape: Shape, { kind, ring: index, at }: Handle): Shape | null => {
  if (shape.type === 'Circle' || kind !== 'corner') return null
  const ring = editableRings(shape)[index] ?? []
  if (ring.length <= MIN_CORNERS) return null
  return withRing(
    shape,
    index,
    ring.filter((_, one) => one !== at),
  )
}
