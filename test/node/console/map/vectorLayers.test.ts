import { describe, expect, test } from 'vitest'
import { vectorLayers } from '../../../../console/pages/map/base/vectorLayers.ts'

const idsOf = (present: string[] | null) =>
  vectorLayers('tiles', present, 'light').map(({ id }) => id)
const backgroundOf = (present: string[]) => vectorLayers('tiles', present, 'light')[0]?.paint

describe('the layers of vector tiles', () => {
  test('are those of Protomaps', () => {
    expect(idsOf(['earth', 'water', 'roads', 'boundaries', 'places', 'pois'])).toEqual([
      'background',
      'land-earth',
      'water-water',
      'rivers-water',
      'roads-roads',
      'borders-boundaries',
      'names-places',
    ])
  })

  test('are those of OpenMapTiles', () => {
    expect(idsOf(['water', 'waterway', 'transportation', 'boundary', 'place'])).toEqual([
      'background',
      'water-water',
      'rivers-water',
      'rivers-waterway',
      'roads-transportation',
      'borders-boundary',
      'names-place',
    ])
  })

  test('are all known ones if the tiles do not say', () => {
    expect(idsOf(null).length).toBeGreaterThan(12)
  })

  test('have the sea behind them only where the land is a layer', () => {
    expect(backgroundOf(['earth'])).not.toEqual(backgroundOf(['water']))
  })
})
