import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import {
  boundsOf,
  openCoast,
  type Polygon,
  type Position,
  type Ring,
  unwrap,
  unwrapPolygon,
} from './rings.ts'
import { simplifyArcs } from './simplifyArcs.ts'

/* Makes the base map from Natural Earth's countries (package world-atlas). */

const require = createRequire(import.meta.url)
type Countries = Topology<{
  countries: GeometryCollection<{ name: string }>
  land: GeometryCollection
}>

const readCountries = (scale: '10m' | '50m'): Countries =>
  JSON.parse(readFileSync(require.resolve(`world-atlas/countries-${scale}.json`), 'utf8'))

const round = (value: number, decimals = 2): number => {
  const factor = 10 ** decimals
  return Math.round(value * factor) / factor
}

const compact = (line: Position[], decimals?: number): Position[] =>
  line
    .map(([x = 0, y = 0]) => [round(x, decimals), round(y, decimals)])
    .filter(([x, y], at, all) => at === 0 || x !== all[at - 1]?.[0] || y !== all[at - 1]?.[1])

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

const rawPolygonsOf = (geometry: GeoJSON.Geometry): Polygon[] => {
  if (geometry.type === 'Polygon') return [geometry.coordinates]
  return geometry.type === 'MultiPolygon' ? geometry.coordinates : []
}

const makeLand = (topology: Countries, decimals?: number) => {
  const raw = feature(topology, topology.objects.land).features.flatMap(({ geometry }) =>
    rawPolygonsOf(geometry),
  )
  const isPolar = (polygon: Polygon) => openCoast(polygon) !== null
  const areaFeature = (kind: 'land' | 'polar', polygons: Polygon[]) => ({
    type: 'Feature',
    properties: { kind },
    geometry: {
      type: 'MultiPolygon',
      coordinates: polygons
        .map(unwrapPolygon)
        .map((polygon) =>
          polygon.map((ring) => compact(ring, decimals)).filter((ring) => ring.length > 3),
        )
        .filter((polygon) => polygon.length > 0),
    },
  })
  return {
    type: 'FeatureCollection',
    features: [
      // Its outline is its coast.
      areaFeature(
        'land',
        raw.filter((polygon) => !isPolar(polygon)),
      ),
      // Its outline also runs along the antimeridian and the pole, so the coast is separate.
      areaFeature('polar', raw.filter(isPolar)),
      {
        type: 'Feature',
        properties: { kind: 'coast' },
        geometry: {
          type: 'MultiLineString',
          coordinates: raw.flatMap((polygon) => {
            const coast = openCoast(polygon)
            return coast ? [compact(coast, decimals)] : []
          }),
        },
      },
    ],
  }
}

const makeBorders = (topology: Countries, decimals?: number) => ({
  type: 'Feature',
  properties: {},
  geometry: {
    type: 'MultiLineString',
    coordinates: mesh(topology, topology.objects.countries, (a, b) => a !== b).coordinates.map(
      (line) => compact(unwrap(line), decimals),
    ),
  },
})

const makeLabels = (topology: Countries) =>
  feature(topology, topology.objects.countries).features.map(({ geometry, properties }) => {
    const largest = rawPolygonsOf(geometry)
      .map(unwrapPolygon)
      .map(([outer = []]) => ({ outer, area: areaOf(outer) }))
      .reduce((a, b) => (b.area > a.area ? b : a))
    const name = FULL_NAMES[properties.name] ?? properties.name
    return {
      type: 'Feature',
      properties: { name, area: round(largest.area, 1) },
      geometry: {
        type: 'Point',
        coordinates: labelPoint(largest.outer).map((value) => round(value)),
      },
    }
  })

/** The base map as one JSON value: GeoJSON of land, borders and one label for each country. */
export const makeBaseMap = () => {
  const topology = readCountries('50m')
  return {
    land: makeLand(topology),
    borders: makeBorders(topology),
    labels: { type: 'FeatureCollection', features: makeLabels(topology) },
  }
}

/** About 550 m: half as much as a pixel shows at the zoom at which the details are loaded. */
const DETAIL_DEGREES = 0.005
const DETAIL_DECIMALS = 3

/** Land and borders for a closer look. */
export const makeDetails = () => {
  const topology = simplifyArcs(readCountries('10m'), DETAIL_DEGREES)
  return {
    land: makeLand(topology, DETAIL_DECIMALS),
    borders: makeBorders(topology, DETAIL_DECIMALS),
  }
}
