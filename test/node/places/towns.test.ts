import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describePlace } from '../../../src/domain/geo/describePlace.ts'
import { parseTowns, SIZES } from '../../../src/domain/geo/towns.ts'

const text = readFileSync('public/places/towns.txt', 'utf8')

test('the file of towns has a name, a place and a size in each line, the largest first', () => {
  const { names, latitudes, longitudes, sizes } = parseTowns(text)
  expect(names.length).toBeGreaterThan(7000)
  expect(names.every((name) => name.trim() === name && name !== '')).toBe(true)
  expect(latitudes.every((latitude) => Math.abs(latitude) <= 90)).toBe(true)
  expect(longitudes.every((longitude) => Math.abs(longitude) <= 180)).toBe(true)
  expect(sizes.every((size) => size < SIZES.length)).toBe(true)
  expect([...sizes]).toEqual([...sizes].toSorted((a, b) => b - a))
  // A place that is missing in the source would be there.
  expect(names.filter((_, at) => latitudes[at] === 0 && longitudes[at] === 0)).toEqual([])
})

test('places near and far from land are described', () => {
  const towns = parseTowns(text)
  const inWords = (latitude: number, longitude: number) =>
    describePlace({ latitude, longitude }, [], towns)
  expect(inWords(41.15, -8.62)).toBe('in Porto')
  expect(inWords(41.18, -8.7)).toBe('7.2 km NW of Porto')
  expect(inWords(38.5, -12)).toMatch(/^2\d\d km W of Lisbon$/)
  expect(inWords(-90, 0)).toBe('in Amundsen-Scott South Pole Station')
  expect(inWords(0, -150)).toBeNull()
})
