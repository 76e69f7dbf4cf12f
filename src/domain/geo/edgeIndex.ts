import { edgeDistance, edgeWork } from './edgeDistance.ts'
import { type Box, isFartherThan, turnOf } from './geodesy.ts'
import type { Edge } from './zoneBorder.ts'

/*
 * A tree of boxes over edges in the order of their ring, where neighbours are near each other. Each
 * query finds exactly what a walk over all edges finds.
 */

const EDGES_PER_LEAF = 8
/** Degrees. More than rounding may move a crossing. */
const TOLERANCE = 1e-9
/** Units of work: of a box, of the edges of a leaf, and of a box whose distance is compared. */
const [BOX_UNITS, LEAF_UNITS, NEAR_BOX_UNITS] = [0.01, 0.1, 0.1]

export class EdgeIndex {
  /** x1, y1, x2, y2 of each edge. */
  readonly #edges: Float64Array
  /** West, south, east, north of each node. Node n has the children 2n and 2n + 1; 1 is the root. */
  readonly #boxes: Float64Array
  /** The nodes from here on are leaves. */
  readonly #leaves: number

  constructor(edges: readonly Edge[]) {
    this.#edges = new Float64Array(4 * edges.length)
    for (const [at, { x1, y1, x2, y2 }] of edges.entries())
      this.#edges.set([x1, y1, x2, y2], 4 * at)
    this.#leaves = Math.max(1, Math.ceil(edges.length / EDGES_PER_LEAF))
    this.#boxes = new Float64Array(8 * this.#leaves)
    for (let node = 2 * this.#leaves - 1; node > 0; node--) this.#fillBox(node)
  }

  get bytes(): number {
    return 300 + this.#edges.byteLength + this.#boxes.byteLength
  }

  /** Where the edges of a leaf begin in `#edges`. */
  #startOf(leaf: number): number {
    return 4 * EDGES_PER_LEAF * (leaf - this.#leaves)
  }

  #endOf(leaf: number): number {
    return Math.min(this.#edges.length, this.#startOf(leaf + 1))
  }

  #fillBox(node: number): void {
    const isLeaf = node >= this.#leaves
    const source = isLeaf ? this.#edges : this.#boxes
    const from = isLeaf ? this.#startOf(node) : 8 * node
    const to = isLeaf ? this.#endOf(node) : 8 * node + 8
    let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
    for (let at = from; at < to; at += 2) {
      const [x, y] = [source[at] as number, source[at + 1] as number]
      west = Math.min(west, x)
      east = Math.max(east, x)
      south = Math.min(south, y)
      north = Math.max(north, y)
    }
    this.#boxes.set([west, south, east, north], 4 * node)
  }

  #edgeAt(at: number): Edge {
    const edges = this.#edges
    return {
      x1: edges[at] as number,
      y1: edges[at + 1] as number,
      x2: edges[at + 2] as number,
      y2: edges[at + 3] as number,
    }
  }

  #boxOf(node: number): Box {
    const at = 4 * node
    const boxes = this.#boxes
    const west = boxes[at] as number
    return {
      south: boxes[at + 1] as number,
      north: boxes[at + 3] as number,
      west,
      width: (boxes[at + 2] as number) - west,
    }
  }

  /** The node after this one and all below it; 0 after the last. */
  #nodeAfter(node: number): number {
    let next = node
    while (next & 1) next >>= 1
    return next === 0 ? 0 : next + 1
  }

  /** False only if the boxes surely have no place in common. */
  #mayOverlap(node: number, { south, north, west, width }: Box): boolean {
    const box = this.#boxOf(node)
    if (box.north + TOLERANCE < south || box.south - TOLERANCE > north) return false
    return (
      turnOf(west - box.west + TOLERANCE) <= box.width + 2 * TOLERANCE ||
      turnOf(box.west - west + TOLERANCE) <= width + 2 * TOLERANCE
    )
  }

  /** False only if no edge of the node is north of the place, on its meridian. */
  #mayBeNorthOf(node: number, latitude: number, longitude: number): boolean {
    edgeWork.units += BOX_UNITS
    const at = 4 * node
    const boxes = this.#boxes
    if ((boxes[at + 3] as number) + TOLERANCE < latitude) return false
    const west = (boxes[at] as number) - TOLERANCE
    return turnOf(longitude - west) <= (boxes[at + 2] as number) + TOLERANCE - west
  }

  /** Whether an odd number of edges lies between a place and the north pole, on its meridian. */
  isOddNorthOf(latitude: number, longitude: number): boolean {
    const edges = this.#edges
    let isOdd = false
    for (let node = 1; node > 0; ) {
      if (!this.#mayBeNorthOf(node, latitude, longitude)) {
        node = this.#nodeAfter(node)
        continue
      }
      if (node < this.#leaves) {
        node *= 2
        continue
      }
      edgeWork.units += LEAF_UNITS
      const to = this.#endOf(node)
      for (let at = this.#startOf(node); at < to; at += 4) {
        // Without lists of numbers, which would take most of the time.
        const x1 = edges[at] as number
        const x2 = edges[at + 2] as number
        const width = Math.abs(x2 - x1)
        const east = turnOf(longitude - Math.min(x1, x2))
        if (east >= width) continue
        const start = edges[x1 < x2 ? at + 1 : at + 3] as number
        const end = edges[x1 < x2 ? at + 3 : at + 1] as number
        const crossing = start + ((end - start) * east) / width
        if (crossing > latitude || crossing >= 90) isOdd = !isOdd
      }
      node = this.#nodeAfter(node)
    }
    return isOdd
  }

  /**
   * Whether the test holds for an edge, of those from `first` on, whose latitudes overlap those of
   * `edge` and whose longitudes may do so in some turn.
   */
  someNear(
    { x1, y1, x2, y2 }: Edge,
    first: number,
    test: (edge: Edge, index: number) => boolean,
  ): boolean {
    const [south, north] = [Math.min(y1, y2), Math.max(y1, y2)]
    const box = { south, north, west: Math.min(x1, x2), width: Math.abs(x2 - x1) }
    for (let node = 1; node > 0; ) {
      const isNear = this.#mayOverlap(node, box)
      if (isNear && node < this.#leaves) {
        node *= 2
        continue
      }
      if (isNear) {
        const to = this.#endOf(node)
        for (let at = Math.max(this.#startOf(node), 4 * first); at < to; at += 4) {
          const start = this.#edges[at + 1] as number
          const end = this.#edges[at + 3] as number
          if (Math.max(start, end) < south || Math.min(start, end) > north) continue
          if (test(this.#edgeAt(at), at / 4)) return true
        }
      }
      node = this.#nodeAfter(node)
    }
    return false
  }

  /** Degrees, without regard to the shape of the earth: the nearer child is visited first. */
  #gapOf(node: number, latitude: number, longitude: number): number {
    const { south, north, west, width } = this.#boxOf(node)
    const fromWest = turnOf(longitude - west)
    const x = fromWest <= width ? 0 : Math.min(fromWest - width, 360 - fromWest)
    return Math.max(x, south - latitude, latitude - north)
  }

  /** Metres to the nearest edge, or Infinity when all are surely farther than `limit`. */
  distanceTo(latitude: number, longitude: number, limit: number): number {
    let nearest = limit
    let isFound = false
    const visit = (node: number): void => {
      edgeWork.units += NEAR_BOX_UNITS
      if (isFartherThan(this.#boxOf(node), latitude, longitude, nearest)) return
      if (node < this.#leaves) {
        const [left, right] = [2 * node, 2 * node + 1]
        const isLeftNearer =
          this.#gapOf(left, latitude, longitude) <= this.#gapOf(right, latitude, longitude)
        visit(isLeftNearer ? left : right)
        visit(isLeftNearer ? right : left)
        return
      }
      const to = this.#endOf(node)
      for (let at = this.#startOf(node); at < to; at += 4) {
        const distance = edgeDistance(this.#edgeAt(at), latitude, longitude, nearest)
        if (distance > nearest) continue
        nearest = distance
        isFound = true
      }
    }
    visit(1)
    return isFound ? nearest : Number.POSITIVE_INFINITY
  }
}
