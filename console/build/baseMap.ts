import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'

/* Makes the base map from Natural Earth's countries (package world-atlas). */

type Position = number[]
type Ring = Position[]
type Polygon = Ring[]

const require = createRequire(import.meta.url)
type Countries = Topology<{
  countries: GeometryCollection<{ name: string }>
  land: GeometryCollection
}>

const readCountries = (): Countries =>
  JSON.parse(readFileSync(require.resolve('world-atlas/countries-50m.json'), 'utf8'))

const round = (value: number): number => Math.round(value * 100) / 100

const compact = (line: Position[]): Position[] =>
  line
    .map(([x = 0, y = 0]) => [round(x), round(y)])
    .filter(([x, y], at, all) => at === 0 || x !== all[at - 1]?.[0] || y !== all[at - 1]?.[1])

/**
 * Continues a line beyond ±180° instead of jumping to the other edge of the map. Without this a
 * polygon that crosses the antimeridian fills the sea between its parts.
 */
export const unwrap = (line: Position[]): Position[] => {
  let shift = 0
  return line.map(([x = 0, y = 0], at) => {
    const previous = line[at - 1]?.[0] ?? x
    if (x - previous > 180) shift -= 360
    if (x - previous < -180) shift += 360
    return [x + shift, y]
  })
}

/** A ring around a pole does not close when unwrapped; it is closed along the pole. */
const closeAtPole = (ring: Ring): Ring => {
  const [first, last] = [ring[0], ring.at(-1)]
  if (!first || !last || Math.abs((last[0] ?? 0) - (first[0] ?? 0)) < 180) return ring
  const pole = (first[1] ?? 0) < 0 ? -90 : 90
  return [...ring, [last[0] ?? 0, pole], [first[0] ?? 0, pole], first]
}

const boundsOf = (ring: Ring) => {
  const xs = ring.map(([x = 0]) => x)
  const ys = ring.map(([, y = 0]) => y)
  return {
    west: Math.min(...xs),
    east: Math.max(...xs),
    south: Math.min(...ys),
    north: Math.max(...ys),
  }
}

/** Brings a hole to the same copy of the world as the ring around it. */
const alignHole = (hole: Ring, outer: Ring): Ring => {
  const { west, east } = boundsOf(outer)
  const x = hole[0]?.[0] ?? 0
  const shift = x < west ? 360 : x > east ? -360 : 0
  return hole.map(([x = 0, y = 0]) => [x + shift, y])
}

export const unwrapPolygon = (polygon: Polygon): Polygon => {
  const [outer = [], ...holes] = polygon.map((ring) => closeAtPole(unwrap(ring)))
  return [outer, ...holes.map((hole) => alignHole(hole, outer))]
}

const areaOf = (ring: Ring): number => {
  let doubled = 0
  ring.forEach(([x = 0, y = 0], at) => {
    const [x2 = 0, y2 = 0] = ring[(at + 1) % ring.length] ?? []
    doubled += (x * y2 - x2 * y) * Math.cos((y * Math.PI) / 180)
  })
  return Math.abs(doubled / 2)
}

const isInside = (x: number, y: number, ring: Ring): boolean => {
  let inside = false
  ring.forEach(([x1 = 0, y1 = 0], at) => {
    const [x2 = 0, y2 = 0] = ring[(at + ring.length - 1) % ring.length] ?? []
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside
  })
  return inside
}

const GRID_STEPS = 14

/** The point of a grid that is inside the ring and farthest from its edge. */
const labelPoint = (ring: Ring): Position => {
  const { west, east, south, north } = boundsOf(ring)
  const thinned = ring.filter((_, at) => at % Math.ceil(ring.length / 120) === 0)
  let best: Position = [(west + east) / 2, (south + north) / 2]
  let bestDistance = 0
  for (let column = 1; column < GRID_STEPS; column++)
    for (let row = 1; row < GRID_STEPS; row++) {
      const x = west + ((east - west) * column) / GRID_STEPS
      const y = south + ((north - south) * row) / GRID_STEPS
      if (!isInside(x, y, thinned)) continue
      // A label is wide: distance to the west and east counts less than to the north and south.
      const distance = Math.min(...thinned.map(([a = 0, b = 0]) => Math.hypot((a - x) / 2, b - y)))
      if (distance > bestDistance) [best, bestDistance] = [[x, y], distance]
    }
  return best
}

/** Names that Natural Earth shortens. */
const FULL_NAMES: Record<string, string> = {
  'Bosnia and Herz.': 'Bosnia and Herzegovina',
  'Central African Rep.': 'Central African Republic',
  'Dem. Rep. Congo': 'DR Congo',
  'Dominican Rep.': 'Dominican Republic',
  'Eq. Guinea': 'Equatorial Guinea',
  Macedonia: 'North Macedonia',
  'S. Sudan': 'South Sudan',
  'Solomon Is.': 'Solomon Islands',
  'United States of America': 'United States',
  'W. Sahara': 'Western Sahara',
  eSwatini: 'Eswatini',
}

const polygonsOf = (geometry: GeoJSON.Geometry): Polygon[] => {
  if (geometry.type === 'Polygon') return [unwrapPolygon(geometry.coordinates)]
  return geometry.type === 'MultiPolygon' ? geometry.coordinates.map(unwrapPolygon) : []
}

/** The base map as one JSON value: GeoJSON of land, borders and one label for each country. */
export const makeBaseMap = () => {
  const topology = readCountries()
  const { countries, land } = topology.objects
  const labels = feature(topology, countries).features.map(({ geometry, properties }) => {
    const largest = polygonsOf(geometry)
      .map(([outer = []]) => ({ outer, area: areaOf(outer) }))
      .reduce((a, b) => (b.area > a.area ? b : a))
    const name = FULL_NAMES[properties.name] ?? properties.name
    return {
      type: 'Feature',
      properties: { name, area: Math.round(largest.area * 10) / 10 },
      geometry: { type: 'Point', coordinates: labelPoint(largest.outer).map(round) },
    }
  })
  const borders = mesh(topology, countries, (a, b) => a !== b).coordinates
  return {
    land: {
      type: 'Feature',
      properties: {},
      geometry: {
        type: 'MultiPolygon',
        coordinates: feature(topology, land)
          .features.flatMap(({ geometry }) => polygonsOf(geometry))
          .map((polygon) => polygon.map(compact).filter((ring) => ring.length > 3))
          .filter((polygon) => polygon.length > 0),
      },
    },
    borders: {
      type: 'Feature',
      properties: {},
      geometry: {
        type: 'MultiLineString',
        coordinates: borders.map((line) => compact(unwrap(line))),
      },
    },
    labels: { type: 'FeatureCollection', features: labels },
  }
}
