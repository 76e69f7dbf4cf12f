import type { UnwrappedRing } from './zoneRing.ts'

/** A straight edge in unwrapped longitudes. */
export interface Edge {
  x1: number
  y1: number
  x2: number
  y2: number
}

const isMeridional = ({ x1, x2 }: Edge): boolean => x1 === x2
/** An edge along the latitude of a pole is one point, where its neighbours end. */
const isPolar = ({ y1, y2 }: Edge): boolean => Math.abs(y1) === 90 && y1 === y2

export const edgesOf = ({ longitudes, latitudes }: UnwrappedRing): Edge[] =>
  Array.from({ length: longitudes.length - 1 }, (_, i) => ({
    x1: longitudes[i] as number,
    y1: latitudes[i] as number,
    x2: longitudes[i + 1] as number,
    y2: latitudes[i + 1] as number,
  }))

const meridianOf = ({ x1 }: Edge): number => ((x1 % 360) + 360) % 360

/**
 * The parts of edges on one meridian that an odd number of them covers. Where two lie on each
 * other, the zone is on both sides: it was cut there, as GeoJSON wants at the antimeridian.
 */
const uncovered = (edge: Edge, onMeridian: Edge[]): Edge[] => {
  const [low, high] = [Math.min(edge.y1, edge.y2), Math.max(edge.y1, edge.y2)]
  const stops = new Set([low, high])
  for (const { y1, y2 } of onMeridian)
    for (const y of [y1, y2]) if (y > low && y < high) stops.add(y)
  const sorted = [...stops].sort((a, b) => a - b)
  return sorted.slice(1).flatMap((end, index) => {
    const start = sorted[index] as number
    const middle = (start + end) / 2
    const covering = onMeridian.filter(
      ({ y1, y2 }) => Math.min(y1, y2) < middle && middle < Math.max(y1, y2),
    )
    return covering.length % 2 === 0 ? [] : [{ x1: edge.x1, y1: start, x2: edge.x1, y2: end }]
  })
}

/** The border of each polygon of a zone, without edges where the zone goes on behind them. */
export const findBorder = (polygons: UnwrappedRing[][]): Edge[][] => {
  const edges = polygons.map((rings) => rings.flatMap(edgesOf).filter((edge) => !isPolar(edge)))
  const byMeridian = Map.groupBy(edges.flat().filter(isMeridional), meridianOf)
  return edges.map((list) =>
    list.flatMap((edge) => {
      const others = isMeridional(edge) ? byMeridian.get(meridianOf(edge)) : undefined
      return others && others.length > 1 ? uncovered(edge, others) : [edge]
    }),
  )
}
