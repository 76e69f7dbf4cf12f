import { describe, expect, test } from 'vitest'
import { describePlace } from '../../../src/domain/geo/describePlace.ts'
import { NO_TOWNS, parseTowns, TOWNS_HEADER } from '../../../src/domain/geo/towns.ts'
import type { ZoneShape } from '../../../src/domain/geo/zone.ts'
import { compileShape } from '../../../src/domain/geo/zoneGeometry.ts'

type Town = [name: string, latitude: number, longitude: number, size: number]

const townsOf = (...towns: Town[]) =>
  parseTowns([TOWNS_HEADER, ...towns.map((town) => town.join('\t')), ''].join('\n'))
const zone = (name: string, shape: ZoneShape) => ({ name, shape: compileShape(shape) })
const box = (name: string, west: number, south: number, east: number, north: number) =>
  zone(name, {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  })
const circle = (name: string, longitude: number, latitude: number, radius: number) =>
  zone(name, { type: 'Circle', center: [longitude, latitude], radius })

type Zones = ReturnType<typeof zone>[]
const inWords = (latitude: number, longitude: number, zones: Zones = [], towns = NO_TOWNS) =>
  describePlace({ latitude, longitude }, zones, towns)

describe('a town', () => {
  const origin = townsOf(['Origin', 0, 0, 1])

  test.each([
    [0.1, 0, '11 km N of Origin'],
    [0.1, 0.1, '16 km NE of Origin'],
    [0, 0.1, '11 km E of Origin'],
    [-0.1, 0.1, '16 km SE of Origin'],
    [-0.1, 0, '11 km S of Origin'],
    [-0.1, -0.1, '16 km SW of Origin'],
    [0, -0.1, '11 km W of Origin'],
    [0.1, -0.1, '16 km NW of Origin'],
    [0.008, 0, 'in Origin'],
    [0, 0, 'in Origin'],
    [0.01, 0, '1.1 km N of Origin'],
    [0.0895, 0, '9.9 km N of Origin'],
    [0, 4.48, '499 km E of Origin'],
    [0, 4.5, null],
    [4.6, 0, null],
  ])('at 0, 0 is named from %d, %d as %s', (latitude, longitude, expected) => {
    expect(inWords(latitude, longitude, [], origin)).toBe(expected)
  })

  test('across the antimeridian, and of any longitude at a pole', () => {
    const towns = townsOf(['West', -17, 179.95, 0], ['Pole', 89.9, 120, 0], ['South', -89.9, 9, 0])
    expect(inWords(-17, -179.95, [], towns)).toBe('11 km E of West')
    expect(inWords(90, -77, [], towns)).toBe('11 km N of Pole')
    expect(inWords(89.9, -60, [], towns)).toBe('22 km N of Pole')
    expect(inWords(-90, 0, [], towns)).toBe('11 km S of South')
  })

  test('that is the nearest counts nearby, and a larger one far away', () => {
    const towns = townsOf(['City', 0, 0, 3], ['Village', 0, 1, 0])
    expect(inWords(0, 0.8, [], towns)).toBe('22 km W of Village')
    expect(inWords(0, 0.45, [], towns)).toBe('50 km E of City')
    expect(inWords(0, 0.58, [], towns)).toBe('65 km E of City')
    expect(inWords(0, 0.65, [], towns)).toBe('39 km W of Village')
    expect(inWords(0, 2, [], towns)).toBe('111 km E of Village')
    expect(inWords(0, 4, [], towns)).toBe('445 km E of City')
    expect(inWords(0, 5, [], towns)).toBe('445 km E of Village')
  })

  test('of two as near as each other is the first of the file, which is the larger', () => {
    expect(inWords(0, 0.1, [], townsOf(['A', 0, 0, 1], ['B', 0, 0.2, 1]))).toBe('11 km E of A')
    expect(inWords(0, 0.1, [], townsOf(['B', 0, 0.2, 1], ['A', 0, 0, 1]))).toBe('11 km W of B')
  })

  test('is not there far at sea', () => {
    expect(inWords(0, -150, [], origin)).toBeNull()
    expect(inWords(0, -150)).toBeNull()
  })
})

describe('a zone', () => {
  test('that the place is in is named, the smallest of several whatever their order', () => {
    const zones = [
      circle('Sea', 0, 0, 500_000),
      box('Bay', -1, -1, 1, 1),
      circle('Port', 0, 0, 900),
    ]
    const towns = townsOf(['Origin', 0, 0, 3])
    expect(inWords(0, 0, zones, towns)).toBe('in Port')
    expect(inWords(0, 0, zones.toReversed(), towns)).toBe('in Port')
    expect(inWords(0.5, 0.5, zones, towns)).toBe('in Bay')
    expect(inWords(2, 2, zones, towns)).toBe('in Sea')
    const same = [circle('First', 0, 0, 500), circle('Second', 0, 0, 500)]
    expect(inWords(0, 0, same)).toBe('in First')
  })

  test.each([
    [0.15, 180, '5.5 km N of Box'],
    [0.15, -179.85, '7.8 km NE of Box'],
    [0, -179.85, '5.6 km E of Box'],
    [-0.15, -179.85, '7.8 km SE of Box'],
    [-0.15, 180, '5.5 km S of Box'],
    [-0.15, 179.85, '7.8 km SW of Box'],
    [0, 179.85, '5.6 km W of Box'],
    [0.15, 179.85, '7.8 km NW of Box'],
    [0.1001, 180, '10 m N of Box'],
    [0.102, 180, '220 m N of Box'],
    [0, 180, 'in Box'],
    [0.3, 180, null],
  ])('across the antimeridian is named from %d, %d as %s', (latitude, longitude, expected) => {
    const zones = [box('Box', 179.9, -0.1, 180.1, 0.1)]
    expect(inWords(latitude, longitude, zones)).toBe(expected)
  })

  test('near a pole has a direction too', () => {
    expect(inWords(90, 0, [box('Ice', 0, 89, 90, 89.9)])).toBe('11 km N of Ice')
    expect(inWords(-90, 0, [circle('Base', 40, -89.9, 1000)])).toBe('10 km S of Base')
  })

  test('is named if its border is nearer than the town, up to 20 km', () => {
    const zones = [circle('Far', 0.3, 0, 1000), circle('Near', 0.1, 0, 1000)]
    expect(inWords(0, 0, zones, townsOf(['Town', 0, -0.15, 3]))).toBe('10 km W of Near')
    expect(inWords(0, 0, zones, townsOf(['Town', 0, -0.05, 0]))).toBe('5.6 km E of Town')
    expect(inWords(0, -0.1, [circle('Far', 0.1, 0, 1000)])).toBeNull()
  })

  test('has its name in one line, cut, and without links', () => {
    const named = (name: string) => inWords(0, 0, [circle(name, 0, 0, 1000)])
    expect(named('Porto\nMap: x')).toBe('in Porto Map: x')
    expect(named('see https://evil.example/x')).toBe('in see …')
    expect(named('evil.example')).toBe('in evil. example')
    expect([...(named('Z'.repeat(200)) ?? '')].length).toBeLessThanOrEqual(63)
    expect(named('\u{202e}')).toBe('in a zone')
  })
})

test('a line of the towns that is broken is never the nearest', () => {
  const towns = parseTowns(`${TOWNS_HEADER}\nBroken\t0\nWhole\t0\t1\t0\nEmpty\n`)
  expect(inWords(0, 0.9, [], towns)).toBe('11 km W of Whole')
})

test('another file than that of the towns is refused', () => {
  expect(() => parseTowns('<!doctype html>\n<html>')).toThrow('another header')
})
