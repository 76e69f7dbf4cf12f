import fc from 'fast-check'
import library from 'simplify-js'
import { expect, test } from 'vitest'
import { simplify } from '../../../src/domain/geo/simplify.ts'
import { cpuTimeMs } from '../../support/cpuTime.ts'

interface Point {
  latitude: number
  longitude: number
}

const METRES_PER_DEGREE = (6_371_008.8 * Math.PI) / 180

const keptOf = (points: Point[], metres: number): number[] => {
  const steps = simplify(
    points.map(({ latitude }) => latitude),
    points.map(({ longitude }) => longitude),
    metres,
  )
  let step = steps.next()
  while (!step.done) step = steps.next()
  const keep = step.value
  return points.flatMap((_, index) => (keep[index] ? [index] : []))
}

test('on the equator, where the map is a plane, it keeps the very points that the library keeps', () => {
  const metre = fc.integer({ min: -500, max: 500 })
  const plane = fc.uniqueArray(fc.tuple(metre, metre), {
    minLength: 3,
    maxLength: 60,
    selector: ([x, y]) => `${x} ${y}`,
  })
  fc.assert(
    fc.property(plane, fc.integer({ min: 1, max: 300 }), (places, tolerance) => {
      // Not a whole number, so that no distance is so close to it that rounding decides.
      const metres = tolerance + 0.123
      const expected = library(
        places.map(([x, y], index) => ({ x, y, index })),
        metres,
        true,
      ) as unknown as { index: number }[]
      const track = places.map(([x, y]) => ({
        longitude: x / METRES_PER_DEGREE,
        latitude: y / METRES_PER_DEGREE,
      }))
      expect(keptOf(track, metres)).toEqual(expected.map(({ index }) => index))
    }),
    { numRuns: 500 },
  )
})

/** Metres from a point to a segment, on the plane that touches the globe at the point: good within a few kilometres. */
const distance = (point: Point, a: Point, b: Point): number => {
  const east = METRES_PER_DEGREE * Math.cos((point.latitude * Math.PI) / 180)
  const local = (other: Point) =>
    [
      (other.longitude - point.longitude) * east,
      (other.latitude - point.latitude) * METRES_PER_DEGREE,
    ] as const
  const [[ax, ay], [bx, by]] = [local(a), local(b)]
  const [dx, dy] = [bx - ax, by - ay]
  const length = dx * dx + dy * dy
  const part = length === 0 ? 0 : Math.max(0, Math.min(1, -(ax * dx + ay * dy) / length))
  return Math.hypot(ax + part * dx, ay + part * dy)
}

test('no point that is left out is farther from the line than asked, at any latitude and across the antimeridian', () => {
  const step = fc.double({ min: -0.002, max: 0.002, noNaN: true })
  const start = fc.record({
    latitude: fc.integer({ min: -70, max: 70 }),
    longitude: fc.constantFrom(-180, -179.995, 0, 179.995, 180),
  })
  const steps = fc.array(fc.tuple(step, step), { minLength: 2, maxLength: 60 })
  fc.assert(
    fc.property(start, steps, fc.integer({ min: 5, max: 500 }), (from, moves, metres) => {
      let { latitude, longitude } = from
      const unwrapped = moves.map(([north, east]) => {
        latitude += north
        longitude += east
        return { latitude, longitude }
      })
      const wrapped = unwrapped.map((point) => ({
        ...point,
        longitude: ((((point.longitude + 180) % 360) + 360) % 360) - 180,
      }))
      const kept = keptOf(wrapped, metres)
      expect([kept[0], kept.at(-1)]).toEqual([0, wrapped.length - 1])
      for (const [index, point] of unwrapped.entries()) {
        const after = kept.findIndex((at) => at >= index)
        const [a, b] = [unwrapped[kept[Math.max(0, after - 1)] ?? -1], unwrapped[kept[after] ?? -1]]
        if (!a || !b) throw new Error('a kept point is not there')
        expect(distance(point, a, b)).toBeLessThan(metres * 1.01)
      }
    }),
    { numRuns: 300 },
  )
})

test('a straight way over the antimeridian is two points, not a way round the world', () => {
  const track = Array.from({ length: 101 }, (_, index) => ({
    latitude: 10,
    longitude: ((179 + index / 50 + 180) % 360) - 180,
  }))
  expect(keptOf(track, 1)).toEqual([0, 100])
})

test('a zigzag of 50,000 points, the worst that there is, is thinned in little time and without a deep stack', () => {
  const track = Array.from({ length: 50_000 }, (_, index) => ({
    longitude: index / METRES_PER_DEGREE,
    latitude: ((50_000 - index) * (index % 2 ? 1 : -1)) / METRES_PER_DEGREE,
  }))
  let kept = 0
  const thin = () => {
    kept = keptOf(track, 0.1).length
  }
  expect(cpuTimeMs(thin)).toBeLessThan(4000)
  expect(kept).toBeGreaterThan(49_990)
})

test('none, one and two points stay as they are', () => {
  const point = { latitude: 1, longitude: 2 }
  expect(keptOf([], 1)).toEqual([])
  expect(keptOf([point], 1)).toEqual([0])
  expect(keptOf([point, point], 1)).toEqual([0, 1])
})
