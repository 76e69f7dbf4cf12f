import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { prepareHooks, runHook } from '../support/hook.ts'
import { load, replaceModule, restoreModules } from '../support/load.ts'

/* How often the console asks for a place in words. */

interface Coordinates {
  latitude: number
  longitude: number
}
interface Module {
  readPlaceWords: (position: Coordinates) => Promise<string | null>
  usePlaceWords: (id: string, position: Coordinates | null) => string | null
}

prepareHooks()

let asked: string[]
let answer: (place: string) => Promise<{ place: string | null }>
beforeEach(() => {
  asked = []
  answer = async (place) => ({ place: `near ${place}` })
  replaceModule('api/client.ts', {
    call: (_: string, { query }: { query: Record<string, string> }) => {
      asked.push(`${query.latitude} ${query.longitude}`)
      return answer(String(query.latitude))
    },
  })
})
afterEach(() => restoreModules('api/client.ts'))

const open = () => load<Module>('api/placeWords.ts')
const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const PLACE = { latitude: 41.18041, longitude: -8.70251 }

test('a place is asked for once, and rounded', async () => {
  const { readPlaceWords } = await open()
  const near = { latitude: 41.17961, longitude: -8.70349 }
  const [first, second] = await Promise.all([readPlaceWords(PLACE), readPlaceWords(PLACE)])
  expect([first, second, await readPlaceWords(near)]).toEqual(Array(3).fill('near 41.180'))
  expect(asked).toEqual(['41.180 -8.703'])
})

test('it is asked for again after ten minutes, since zones change', async () => {
  const { readPlaceWords } = await open()
  await readPlaceWords(PLACE)
  await wait(601_000)
  await readPlaceWords(PLACE)
  expect(asked).toHaveLength(2)
})

test('a failure is no place, and is not remembered', async () => {
  const { readPlaceWords } = await open()
  answer = () => Promise.reject(new Error('The service answered with status 503.'))
  expect(await readPlaceWords(PLACE)).toBeNull()
  answer = async () => ({ place: null })
  expect(await readPlaceWords(PLACE)).toBeNull()
  expect(await readPlaceWords(PLACE)).toBeNull()
  expect(asked).toHaveLength(2)
})

test('whoever goes through devices asks for the last one alone', async () => {
  const { usePlaceWords } = await open()
  const probe = runHook(
    ({ id, at }: { id: string; at: number }) => usePlaceWords(id, { latitude: at, longitude: 0 }),
    { id: 'a', at: 1 },
  )
  await wait(100)
  probe.update({ id: 'b', at: 2 })
  await wait(100)
  probe.update({ id: 'c', at: 3 })
  await wait(1000)
  expect([asked, probe.value]).toEqual([['3.000 0.000'], 'near 3.000'])
  probe.unmount()
})

test('words stay while a device moves, and never pass to another one', async () => {
  const { usePlaceWords } = await open()
  const probe = runHook(
    ({ id, at }: { id: string; at: number | null }) =>
      usePlaceWords(id, at === null ? null : { latitude: at, longitude: 0 }),
    { id: 'a', at: 1 } as { id: string; at: number | null },
  )
  await wait(1000)
  probe.update({ id: 'a', at: 1.1 })
  expect(probe.value).toBe('near 1.000')
  await wait(1000)
  expect(probe.value).toBe('near 1.100')
  probe.update({ id: 'b', at: null })
  expect(probe.value).toBeNull()
  await wait(1000)
  expect([probe.value, asked.length]).toEqual([null, 2])
  probe.unmount()
})
