import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EVENT_TYPES } from '../../../../src/domain/event/event.ts'
import { load } from '../support/load.ts'

beforeEach(() => {
  vi.stubGlobal('location', { pathname: '/', search: '' })
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

test('the console listens to every type of event but locations', async () => {
  const { LIVE_TYPES } = await load<{ LIVE_TYPES: readonly string[] }>('live/stream.ts')
  const missed = EVENT_TYPES.filter((type) => !LIVE_TYPES.includes(`${type.split('.')[0]}.*`))
  expect(missed).toEqual(['location.reported'])
})
