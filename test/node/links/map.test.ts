import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { makeLandOutline } from '../../../scripts/build/landOutline.ts'
import { landRings, type Point } from '../../../src/links/land.ts'
import { drawMap } from '../../../src/links/map.ts'

const at = (latitude: number, longitude: number) => ({ latitude, longitude })

const circles = (svg: string) =>
  [...svg.matchAll(/<circle class="(\w+)" cx="([-\d.]+)" cy="([-\d.]+)"/g)].map(
    ([, kind, x, y]) => ({
      kind,
      x: Number(x),
      y: Number(y),
    }),
  )
const numbersOf = (svg: string): number[] => (svg.match(/-?\d+(\.\d+)?/g) ?? []).map(Number)

test('the outline is that of the base map’s data', () => {
  const stored = readFileSync('src/links/land.json', 'utf8')
  expect(JSON.parse(stored)).toBe(makeLandOutline())
})

test('the outline has the continents where they are', () => {
  const isInside = (ring: readonly Point[], x: number, y: number) =>
    ring.reduce((inside, [x1, y1], index) => {
      const [x2, y2] = ring.at(index - 1) ?? [0, 0]
      const crosses = y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1
      return crosses ? !inside : inside
    }, false)
  const isLand = (x: number, y: number) =>
    landRings().filter(({ points }) =>
      [-360, 0, 360].some((shift) => isInside(points, x + shift, y)),
    ).length %
      2 ===
    1
  for (const [x, y] of [
    [-3, 40],
    [134, -25],
    [-100, 40],
    [20, 0],
    [0, -85],
    [-42, 72],
  ] as const)
    expect(isLand(x, y), `${x} ${y}`).toBe(true)
  for (const [x, y] of [
    [-30, 40],
    [-140, 0],
    [80, -30],
    [-5, 36.9 - 1],
  ] as const)
    expect(isLand(x, y), `${x} ${y}`).toBe(false)
})

describe('the map', () => {
  test('has land, lines, a scale and the newest place in its middle', () => {
    const svg = drawMap(at(38.7, -9.1), null)
    expect(svg).toMatch(/<path class="land" d="M/)
    expect(svg).toContain('40° N')
    expect(svg).toMatch(/\d+ km/)
    expect(circles(svg)).toEqual([{ kind: 'newest', x: 320, y: 200 }])
  })

  test.each([
    [at(10, 179.9), at(10, -179.9)],
    [at(50, -170), at(50, 170)],
    [at(-60, 0), at(70, 100)],
    [at(90, 0), at(-90, 0)],
  ])('shows both places wherever they are (%o, %o)', (newest, first) => {
    const svg = drawMap(newest, first)
    const shown = circles(svg)
    expect(shown.map(({ kind }) => kind)).toEqual(['first', 'newest'])
    for (const { x, y } of shown) {
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x).toBeLessThanOrEqual(640)
      expect(y).toBeGreaterThanOrEqual(0)
      expect(y).toBeLessThanOrEqual(400)
    }
  })

  test('shows more of the world where there is no land, and is never long', () => {
    expect(drawMap(at(38.7, -35), null)).toMatch(/<path class="land" d="M/)
    for (let latitude = -90; latitude <= 90; latitude += 15)
      for (let longitude = -180; longitude <= 180; longitude += 30) {
        const svg = drawMap(at(latitude, longitude), null)
        expect(svg.length).toBeLessThan(30_000)
        expect(svg).not.toMatch(/NaN|Infinity|undefined/)
        // Nothing is drawn far outside of the picture.
        const path = /class="land" d="([^"]*)"/.exec(svg)?.[1] ?? ''
        expect(numbersOf(path).every((value) => value >= -4 && value <= 644)).toBe(true)
      }
  })
})
