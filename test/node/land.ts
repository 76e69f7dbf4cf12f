import { createRequire } from 'node:module'

type Point = [longitude: number, latitude: number]
type Polygon = Point[][]
interface Outline {
  rings: Polygon
  west: number
  east: number
  south: number
  north: number
}

const read = createRequire(import.meta.url)
const atlas = read('world-atlas/land-50m.json')
const { feature } = read('topojson-client')
const polygons: Polygon[] = feature(atlas, atlas.objects.land).features.flatMap(
  ({ geometry }: { geometry: { coordinates: Polygon[] } }) => geometry.coordinates,
)

/** Longitudes continue past 180 where a ring crosses the antimeridian. */
const unwrap = (ring: Point[]): Point[] => {
  let turns = 0
  return ring.map(([longitude, latitude], index): Point => {
    const step = longitude - (ring[index - 1]?.[0] ?? longitude)
    if (step > 180) turns -= 360
    if (step < -180) turns += 360
    return [longitude + turns, latitude]
  })
}

const least = (values: number[]) => values.reduce((a, b) => Math.min(a, b))
const greatest = (values: number[]) => values.reduce((a, b) => Math.max(a, b))

const outlines = polygons.map((polygon): Outline => {
  const rings = polygon.map(unwrap)
  const longitudes = rings.flat().map(([longitude]) => longitude)
  const latitudes = rings.flat().map(([, latitude]) => latitude)
  return {
    rings,
    west: least(longitudes),
    east: greatest(longitudes),
    south: least(latitudes),
    north: greatest(latitudes),
  }
})

/** Counts the sides that a ray to the east crosses. */
const isInRing = (ring: Point[], [x, y]: Point): boolean => {
  let isInside = false
  let [xb, yb] = ring.at(-1) ?? [0, 0]
  for (const [xa, ya] of ring) {
    if (ya > y !== yb > y && x < ((xb - xa) * (y - ya)) / (yb - ya) + xa) isInside = !isInside
    xb = xa
    yb = ya
  }
  return isInside
}

const TURNS = [-360, 0, 360]

/** Whether a place is on land, by the outlines of Natural Earth at 1:50,000,000. */
export const isOnLand = (latitude: number, longitude: number): boolean =>
  outlines.some(
    ({ rings, west, east, south, north }) =>
      latitude >= south &&
      latitude <= north &&
      TURNS.some((turn) => {
        const x = longitude + turn
        if (x < west || x > east) return false
        return rings.filter((ring) => isInRing(ring, [x, latitude])).length % 2 === 1
      }),
  )
