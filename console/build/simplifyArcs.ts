import simplify from 'simplify-js'
import type { Topology } from 'topojson-specification'

interface Point {
  x: number
  y: number
}

/** Arcs are stored as differences of whole numbers. */
const decode = ({ arcs, transform }: Topology): Point[][] => {
  const [scaleX, scaleY] = transform?.scale ?? [1, 1]
  const [startX, startY] = transform?.translate ?? [0, 0]
  return arcs.map((arc) => {
    let [x, y] = [0, 0]
    return arc.map(([dx = 0, dy = 0]) => {
      x += dx
      y += dy
      return { x: x * scaleX + startX, y: y * scaleY + startY }
    })
  })
}

const isClosed = (arc: Point[]): boolean =>
  arc[0]?.x === arc.at(-1)?.x && arc[0]?.y === arc.at(-1)?.y

const MIN_RING_POINTS = 4

/**
 * Leaves out points that are closer than this to the line through the others. Neighbours share
 * their arcs, so no gap opens between them. An island that would vanish stays as it is.
 */
export const simplifyArcs = <T extends Topology>(topology: T, degrees: number): T => {
  const arcs = decode(topology).map((arc) => {
    const kept = simplify(arc, degrees, true)
    const points = isClosed(arc) && kept.length < MIN_RING_POINTS ? arc : kept
    return points.map(({ x, y }) => [x, y])
  })
  const { transform, ...rest } = topology
  return { ...rest, arcs } as unknown as T
}
