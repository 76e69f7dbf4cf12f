import { describe, expect, test } from 'vitest'
import { DrawnFleet } from '../../../../console/pages/map/layers/drawnFleet.ts'

const memberOf = (number: number, latitude: number | null = 0, state = 'fresh') => ({
  device: { id: `dev_${number}`, lastLocation: latitude === null ? null : { latitude } },
  state,
})
type Member = ReturnType<typeof memberOf>

const featureOf = ({ device: { id, lastLocation } }: Member): GeoJSON.Feature | null =>
  lastLocation && {
    type: 'Feature',
    properties: { id, latitude: lastLocation.latitude },
    geometry: { type: 'Point', coordinates: [0, lastLocation.latitude] },
  }

const fleet = Array.from({ length: 100 }, (_, number) => memberOf(number))
const drawn = () => {
  const self = new DrawnFleet(featureOf)
  self.change(fleet)
  return self
}
const others = fleet.slice(1)

describe('what is sent to the map', () => {
  test('is all of the fleet at first, and nothing if nothing changed', () => {
    const self = new DrawnFleet(featureOf)
    expect(self.change(fleet)).toMatchObject({ kind: 'all', features: { length: 100 } })
    expect(self.change(fleet.map((member) => ({ ...member })))).toEqual({ kind: 'none' })
    expect(self.size).toBe(100)
  })

  test('is the device that moved alone', () => {
    const moved = memberOf(0, 5)
    const change = drawn().change([moved, ...others])
    expect(change).toEqual({ kind: 'some', diff: { add: [featureOf(moved)], remove: [] } })
  })

  test('is the device whose state changed', () => {
    const [first] = fleet as [Member]
    const change = drawn().change([{ ...first, state: 'emergency' }, ...others])
    expect(change).toMatchObject({ kind: 'some', diff: { add: { length: 1 } } })
  })

  test('is a device that left, or has no place any more', () => {
    const self = drawn()
    expect(self.change(others)).toEqual({ kind: 'some', diff: { add: [], remove: ['dev_0'] } })
    const [second, ...rest] = others as [Member, ...Member[]]
    expect(self.change([memberOf(1, null), ...rest])).toEqual({
      kind: 'some',
      diff: { add: [], remove: [second.device.id] },
    })
    expect(self.size).toBe(98)
  })

  test('is all of the fleet if much of it changed', () => {
    const change = drawn().change(fleet.map((_, number) => memberOf(number, 7)))
    expect(change).toMatchObject({ kind: 'all', features: { length: 100 } })
  })
})
