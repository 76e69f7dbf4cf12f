import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import simplify from 'simplify-js'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { type Ring, unwrapPolygon } from '../../console/build/rings.ts'
import { PER_DEGREE } from '../../src/links/land.ts'

/*
 * Writes the outline of the land that the Worker draws on the pages of links, from Natural Earth
 * (package world-atlas): node scripts/build/landOutline.ts
 */

/** The Worker carries it: about 8 KB compressed. A finer one of half of this takes 14 KB. */
const TOLERANCE_DEGREES = 0.3
const MIN_RING_POINTS = 4
const FILE = 'src/links/land.json'

const readLand = () => {
  const path = createRequire(import.meta.url).resolve('world-atlas/land-50m.json')
  const topology: Topology<{ land: GeometryCollection }> = JSON.parse(readFileSync(path, 'utf8'))
  return feature(topology, topology.objects.land).features.flatMap(({ geometry }) => {
    if (geometry.type === 'Polygon') return [geometry.coordinates]
    return geometry.type === 'MultiPolygon' ? geometry.coordinates : []
  })
}

/** A whole number in one or more characters of five bits, the lowest first; the sign is a bit. */
const encode = (value: number): string => {
  let text = ''
  let rest = value < 0 ? -2 * value - 1 : 2 * value
  do {
    const bits = rest & 31
    rest >>= 5
    text += String.fromCharCode(63 + (rest > 0 ? bits | 32 : bits))
  } while (rest > 0)
  return text
}

/** The differences between the points of a ring; empty for what is too small to show. */
const encodeRing = (ring: Ring): string => {
  const points = simplify(
    ring.map(([x = 0, y = 0]) => ({ x, y })),
    TOLERANCE_DEGREES,
    true,
  )
  if (points.length < MIN_RING_POINTS) return ''
  let [lastX, lastY] = [0, 0]
  return points
    .map((point) => {
      const [x, y] = [Math.round(point.x * PER_DEGREE), Math.round(point.y * PER_DEGREE)]
      const [dx, dy] = [x - lastX, y - lastY]
      lastX = x
      lastY = y
      return dx === 0 && dy === 0 ? '' : encode(dx) + encode(dy)
    })
    .join('')
}

/** Rings of longitudes and latitudes, separated by spaces. */
export const makeLandOutline = (): string =>
  readLand()
    .flatMap(unwrapPolygon)
    .map(encodeRing)
    .filter((ring) => ring !== '')
    .join(' ')

if (import.meta.main) writeFileSync(FILE, `${JSON.stringify(makeLandOutline())}\n`)
