import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readBytes } from '../../../src/http/body.ts'
import { acquire, release, releaseWhile } from '../../../src/http/loadShedding.ts'

const ask = (): Request => new Request('https://perigee.test/')
let now = 0

/** So many who come at once, and those of them who were let in. */
const crowd = (count: number): Request[] =>
  Array.from({ length: count }, ask).filter((request) => acquire(request, now))
const allLeave = (requests: Request[]) => {
  for (const request of requests) release(request)
}

beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => {})
  // An hour later, everyone of an earlier test is forgotten.
  now += 3_600_000
  allLeave(crowd(1))
  vi.mocked(console.warn).mockClear()
  now += 1000
})

afterEach(() => {
  vi.restoreAllMocks()
})

test('as many as there is room for come in, and each who leaves makes room for one', () => {
  const inside = crowd(500)
  expect(inside).toHaveLength(128)
  release(inside[0] as Request)
  expect(crowd(500)).toHaveLength(1)
})

test('a hundred at a time, again and again, are never turned away', () => {
  for (let round = 0; round < 100; round++) {
    const inside = crowd(100)
    expect(inside).toHaveLength(100)
    allLeave(inside)
    now += 50
  }
})

test('in a flood fewer come in, and once it is over as many as before', () => {
  allLeave(crowd(500))
  now += 1000
  const inFlood = crowd(500)
  expect(inFlood).toHaveLength(32)
  allLeave(inFlood)
  now += 1000
  expect(crowd(10)).toHaveLength(10)
  now += 1000
  expect(crowd(500)).toHaveLength(118)
})

test('what a flood was long ago counts for nothing', () => {
  allLeave(crowd(500))
  now += 5000
  expect(crowd(500)).toHaveLength(128)
})

test('one line a second tells how many were turned away', () => {
  allLeave(crowd(500))
  now += 1000
  allLeave(crowd(1))
  now += 1000
  allLeave(crowd(1))
  expect(vi.mocked(console.warn).mock.calls).toEqual([
    [JSON.stringify({ level: 'warn', event: 'requests-rejected', count: 372 })],
  ])
})

test('those who never say that they left are forgotten', () => {
  crowd(128)
  now += 9999
  expect(crowd(1)).toHaveLength(0)
  now += 1
  expect(crowd(500)).toHaveLength(128)
})

test('who waits for a body takes no room until it is there', async () => {
  const waiting = crowd(128)
  const { promise, resolve } = Promise.withResolvers<void>()
  vi.spyOn(Date, 'now').mockReturnValue(now)
  const read = waiting.map((request) => releaseWhile(request, () => promise))
  expect(crowd(128)).toHaveLength(128)
  resolve()
  await Promise.all(read)
  now += 1000
  expect(crowd(1)).toHaveLength(0)
  allLeave(waiting)
  expect(crowd(1)).toHaveLength(0)
})

test('a body that does not come to its end in a minute is waited for no longer', async () => {
  vi.useFakeTimers()
  try {
    for (const headers of [{}, { 'Content-Length': '100000' }]) {
      const init = { method: 'POST', headers, body: new ReadableStream(), duplex: 'half' }
      const read = readBytes(new Request('https://perigee.test/', init as RequestInit), 1_048_576)
      const refused = expect(read).rejects.toMatchObject({ code: 'malformed-body' })
      await vi.advanceTimersByTimeAsync(60_000)
      await refused
    }
  } finally {
    vi.useRealTimers()
  }
})
