import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  assignSlot,
  assignSlotAgain,
  awaitCostlyTurn,
  largeBodies,
  measureDelay,
  releaseSlots,
  serveViewer,
  tryAcquireSlot,
  waitWithoutSlot,
} from '../../../src/http/admission/loadShedding.ts'
import { isStartTooLate } from '../../../src/http/admission/pacing.ts'
import { readBytes } from '../../../src/http/body/body.ts'

const newRequest = (): Request => new Request('https://perigee.test/')

/** Whether what may be refused with a 503 was admitted. */
const isAdmitted = (admission: Promise<void>): Promise<boolean> =>
  admission.then(
    () => true,
    () => false,
  )

/** Starts this many requests and returns those that got a slot. */
const startRequests = (count: number): Request[] =>
  Array.from({ length: count }, newRequest).filter(tryAcquireSlot)
const finish = (requests: Request[]) => {
  for (const request of requests) releaseSlots(request)
}

const passTime = (ms: number) => vi.setSystemTime(Date.now() + ms)

let testStart = 0
beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => {})
  // An hour later, the slots of earlier tests are evicted.
  testStart += 3_600_000
  vi.useFakeTimers({ now: testStart })
  finish(startRequests(1))
  vi.mocked(console.warn).mockClear()
  passTime(1000)
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('128 requests get a slot, and each that ends frees one', () => {
  const active = startRequests(500)
  expect(active).toHaveLength(128)
  releaseSlots(active[0] as Request)
  expect(startRequests(500)).toHaveLength(1)
})

test('viewers of shares take no slot of the account, and a share of those of all viewers', async () => {
  const open: (() => void)[] = []
  let served = 0
  const view = (accountId: string) => {
    const raw = newRequest()
    tryAcquireSlot(raw)
    const serve = () =>
      new Promise<void>((resolve) => {
        served++
        open.push(resolve)
      })
    return serveViewer({ req: { raw } } as never, accountId, serve).finally(() => releaseSlots(raw))
  }
  const viewers = Array.from({ length: 30 }, () => view('a'))
  await vi.advanceTimersByTimeAsync(50)
  expect(served).toBe(8)
  const others = [view('b'), view('c')]
  await vi.advanceTimersByTimeAsync(50)
  expect(served).toBe(10)
  const reports = startRequests(32)
  const admitted = await Promise.all(reports.map((one) => isAdmitted(assignSlot(one, 'a'))))
  expect(admitted).toEqual(Array(32).fill(true))
  finish(reports)
  while (served < 32 || open.length > 0) {
    for (const end of open.splice(0)) end()
    await vi.advanceTimersByTimeAsync(100)
  }
  await Promise.all([...viewers, ...others])
})

test('a hundred requests at a time are never rejected', () => {
  for (let round = 0; round < 100; round++) {
    const active = startRequests(100)
    expect(active).toHaveLength(100)
    finish(active)
    passTime(50)
  }
})

test('during a flood 32 requests get a slot, and 128 again when it is over', () => {
  finish(startRequests(500))
  passTime(1000)
  const inFlood = startRequests(500)
  expect(inFlood).toHaveLength(32)
  finish(inFlood)
  passTime(1000)
  expect(startRequests(10)).toHaveLength(10)
  passTime(1000)
  expect(startRequests(500)).toHaveLength(118)
})

test('a flood that ended seconds ago does not lower the limit', () => {
  finish(startRequests(500))
  passTime(5000)
  expect(startRequests(500)).toHaveLength(128)
})

describe('the delay of the event loop', () => {
  /** A second in which requests get a slot and their turn after `delayMs`. Returns their number. */
  const passSecond = async (count: number, delayMs: number): Promise<number> => {
    const active = startRequests(count)
    const measured = Promise.all(active.map(measureDelay))
    passTime(delayMs)
    await vi.advanceTimersByTimeAsync(0)
    await measured
    finish(active)
    passTime(1000 - delayMs)
    return active.length
  }

  test('lowers the slots to 112 while no request is rejected', async () => {
    for (let round = 0; round < 3; round++) expect(await passSecond(60, 150)).toBe(60)
    expect(startRequests(500)).toHaveLength(112)
  })

  test('alone makes the requests of an account wait for its share, and rejects none', async () => {
    await passSecond(60, 150)
    const active = startRequests(20)
    const assigned = active.map((request) => isAdmitted(assignSlot(request, 'one account')))
    await vi.advanceTimersByTimeAsync(100)
    finish(active.slice(0, 16))
    await vi.advanceTimersByTimeAsync(1000)
    expect(await Promise.all(assigned)).toEqual(Array(20).fill(true))
  })

  test('halves them further while requests are rejected, and gives all back after that', async () => {
    const slots: number[] = []
    for (const delayMs of [150, 150, 50, 50, 30, 30, 5, 50])
      slots.push(await passSecond(150, delayMs))
    expect(slots).toEqual([128, 64, 32, 16, 8, 8, 8, 16])
    await passSecond(1, 0)
    expect(startRequests(500)).toHaveLength(128)
  })

  test('is not waited for by a request that finds few others', async () => {
    startRequests(7)
    await measureDelay()
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('the number of rejected requests is logged once a second', () => {
  finish(startRequests(500))
  passTime(1000)
  finish(startRequests(1))
  passTime(1000)
  finish(startRequests(1))
  expect(vi.mocked(console.warn).mock.calls).toEqual([
    [JSON.stringify({ level: 'warn', event: 'requests-rejected', count: 372, delayMs: 0 })],
  ])
})

test('slots that are never released are evicted after 10 s', () => {
  startRequests(128)
  passTime(9999)
  expect(startRequests(1)).toHaveLength(0)
  passTime(1)
  expect(startRequests(500)).toHaveLength(128)
})

test('a request that waits for its body has no slot until the body has arrived', async () => {
  const waiting = startRequests(128)
  const { promise, resolve } = Promise.withResolvers<void>()
  const read = waiting.map((request) => waitWithoutSlot(request, () => promise))
  expect(startRequests(128)).toHaveLength(128)
  resolve()
  await Promise.all(read)
  passTime(1000)
  expect(startRequests(1)).toHaveLength(0)
  finish(waiting)
  expect(startRequests(1)).toHaveLength(0)
})

describe('the slots of an account', () => {
  /** Starts requests of an account and returns those that were assigned a slot at once. */
  const startAssigned = async (count: number, accountId: string): Promise<Request[]> => {
    const requests = startRequests(count)
    const assigned: Request[] = []
    for (const request of requests)
      void assignSlot(request, accountId).then(
        () => assigned.push(request),
        () => {},
      )
    await vi.advanceTimersByTimeAsync(0)
    return assigned
  }

  test('are a quarter of all: others find theirs while one account has all of its own', async () => {
    expect(await startAssigned(100, 'one')).toHaveLength(32)
    for (const other of ['two', 'three', 'four'])
      expect(await startAssigned(32, other), other).toHaveLength(32)
    expect(startRequests(1)).toHaveLength(0)
  })

  test('pass from a request that ends to one that waits', async () => {
    const assigned = await startAssigned(100, 'one')
    for (const count of [64, 96, 100]) {
      finish(assigned.slice(0, count - 32))
      // A request tries again after 20 ms, and later while more of them wait.
      await vi.advanceTimersByTimeAsync(200)
      expect(assigned).toHaveLength(count)
    }
  })

  test('are waited for by at most 96 requests', async () => {
    for (let round = 0; round < 4; round++) await startAssigned(32, 'one')
    expect(await isAdmitted(assignSlot(startRequests(1)[0] as Request, 'one'))).toBe(false)
    const [other] = startRequests(1)
    expect(await isAdmitted(assignSlot(other as Request, 'two'))).toBe(true)
  })

  test('are waited for no longer than ten seconds', async () => {
    const active = await startAssigned(32, 'one')
    const late = isAdmitted(assignSlot(startRequests(1)[0] as Request, 'one'))
    for (let second = 0; second < 11; second++) {
      // Keeps their slots from being evicted.
      for (const request of active) await waitWithoutSlot(request, async () => {})
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(await late).toBe(false)
  })

  test('are eight while there is a flood', async () => {
    finish(startRequests(500))
    passTime(1000)
    expect(await startAssigned(20, 'one')).toHaveLength(8)
  })

  test('are found again in a flood by requests whose bodies have arrived', async () => {
    finish(startRequests(500))
    passTime(1000)
    const assigned = await startAssigned(8, 'one')
    expect(assigned).toHaveLength(8)
    const { promise, resolve } = Promise.withResolvers<void>()
    const read = assigned.map((request) => waitWithoutSlot(request, () => promise))
    // Meanwhile others take all the slots of a flood.
    expect(startRequests(100)).toHaveLength(32)
    resolve()
    await Promise.all(read)
    for (const request of assigned) await assignSlotAgain(request, 'one')
  })

  test('stay the same account’s after a wait for its body', async () => {
    const assigned = await startAssigned(32, 'one')
    const first = assigned[0] as Request
    await waitWithoutSlot(first, async () => {})
    expect(await startAssigned(1, 'one')).toHaveLength(0)
    releaseSlots(first)
    expect(await startAssigned(1, 'one')).toHaveLength(1)
  })
})

describe('costly work', () => {
  /** Starts requests with 800 ms of work each, and returns which may begin. */
  const startCostly = (count: number, accountId: string) => {
    const outcomes = Array.from({ length: count }, () => {
      const [request] = startRequests(1)
      const outcome = { request: request as Request, isAdmitted: undefined as boolean | undefined }
      void isAdmitted(awaitCostlyTurn(outcome.request, accountId, 800)).then((is) => {
        outcome.isAdmitted = is
      })
      return outcome
    })
    return {
      outcomes,
      admitted: () => outcomes.flatMap(({ request, isAdmitted }) => (isAdmitted ? [request] : [])),
    }
  }

  test('of an account is done one at a time, that of others beside it', async () => {
    const one = startCostly(3, 'one')
    const two = startCostly(1, 'two')
    await vi.advanceTimersByTimeAsync(1000)
    expect(two.admitted()).toHaveLength(1)
    for (const count of [1, 2, 3]) {
      const admitted = one.admitted()
      expect(admitted).toHaveLength(count)
      finish(admitted)
      await vi.advanceTimersByTimeAsync(10)
    }
    finish(two.admitted())
  })

  test('of an account that is not alone takes a fifth of the time: 800 ms in four seconds', async () => {
    const other = startRequests(1)
    await assignSlot(other[0] as Request, 'two')
    finish(other)
    const { outcomes, admitted } = startCostly(8, 'one')
    await vi.advanceTimersByTimeAsync(100)
    // The fourth would start after twelve seconds: a fifth is refused before its body is read.
    expect(isStartTooLate('one', Date.now())).toBe(true)
    expect(isStartTooLate('three', Date.now())).toBe(false)
    expect(outcomes.map(({ isAdmitted }) => isAdmitted)).toEqual([
      true,
      ...Array(2).fill(undefined),
      ...Array(5).fill(false),
    ])
    for (const count of [1, 2, 3]) {
      expect(admitted()).toHaveLength(count)
      finish(admitted())
      await vi.advanceTimersByTimeAsync(3850)
      expect(admitted()).toHaveLength(count)
      await vi.advanceTimersByTimeAsync(155)
    }
    // Ten seconds after the other account’s request nobody waits any more.
    const alone = startCostly(1, 'one')
    await vi.advanceTimersByTimeAsync(0)
    expect(alone.admitted()).toHaveLength(1)
    finish(alone.admitted())
  })

  test('waits without a slot, and no longer than ten seconds', async () => {
    const { outcomes, admitted } = startCostly(12, 'one')
    await vi.advanceTimersByTimeAsync(0)
    // One of them works, eleven wait: 127 slots are free.
    const others = startRequests(500)
    expect(others).toHaveLength(127)
    finish(others)
    await vi.advanceTimersByTimeAsync(9000)
    expect(admitted()).toHaveLength(1)
    finish(admitted())
    await vi.advanceTimersByTimeAsync(2000)
    expect(admitted()).toHaveLength(2)
    const refused = outcomes.filter(({ isAdmitted }) => isAdmitted === false)
    expect(refused).toHaveLength(10)
    finish(outcomes.map(({ request }) => request))
  })
})

describe('the costly work of a request', () => {
  const noteOther = async () => {
    const other = startRequests(1)
    await assignSlot(other[0] as Request, 'two')
    finish(other)
  }

  test('goes on after pauses, and nothing of the account begins meanwhile', async () => {
    await noteOther()
    const [first, second] = startRequests(2) as [Request, Request]
    await awaitCostlyTurn(first, 'one', 100)
    let piece = 1
    const work = (async () => {
      for (; piece < 4; piece++) await awaitCostlyTurn(first, 'one', 100)
    })()
    const other = isAdmitted(awaitCostlyTurn(second, 'one', 100))
    // Each piece waits for the pause after the one before it, not for the other request.
    await vi.advanceTimersByTimeAsync(399)
    expect(piece).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(piece).toBe(2)
    await vi.advanceTimersByTimeAsync(800)
    expect(piece).toBe(4)
    await work
    releaseSlots(first)
    await vi.advanceTimersByTimeAsync(20)
    expect(await other).toBe(true)
    releaseSlots(second)
  })

  test('that takes longer than was estimated makes the next pause longer', async () => {
    await noteOther()
    const [first, second] = startRequests(2) as [Request, Request]
    await awaitCostlyTurn(first, 'one', 10)
    await vi.advanceTimersByTimeAsync(60)
    releaseSlots(first)
    let isNext = false
    void awaitCostlyTurn(second, 'one', 10).then(() => {
      isNext = true
    })
    await vi.advanceTimersByTimeAsync(239)
    expect(isNext).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(isNext).toBe(true)
    releaseSlots(second)
  })

  test('waits behind at most 48 others of its account, and not behind those of others', async () => {
    const outcomes: boolean[] = []
    const start = (accountId: string) => {
      const [request] = startRequests(1)
      void isAdmitted(awaitCostlyTurn(request as Request, accountId, 10)).then((is) =>
        outcomes.push(is),
      )
    }
    for (let count = 0; count < 50; count++) start('one')
    await vi.advanceTimersByTimeAsync(0)
    expect(outcomes).toEqual([true, false])
    start('two')
    await vi.advanceTimersByTimeAsync(0)
    expect(outcomes).toEqual([true, false, true])
  })
})

test('a large body that takes longer than a minute is refused', async () => {
  for (const headers of [{}, { 'Content-Length': '100000' }]) {
    const init = { method: 'POST', headers, body: new ReadableStream(), duplex: 'half' }
    const read = readBytes(new Request('https://perigee.test/', init as RequestInit), 1_048_576)
    const refused = expect(read).rejects.toMatchObject({ code: 'malformed-body' })
    await vi.advanceTimersByTimeAsync(60_000)
    await refused
  }
})

describe('a small body that is packed', () => {
  const MAX = 1_048_576
  const PACKED = gzipSync('[]'.padEnd(100_000))
  const send = (body: ReadableStream | Uint8Array) => {
    const headers = { 'Content-Encoding': 'gzip', 'Content-Length': `${PACKED.byteLength}` }
    const init = { method: 'POST', headers, body, duplex: 'half' }
    const request = new Request('https://perigee.test/', init as RequestInit)
    return { request, read: readBytes(request, MAX, 'one', MAX) }
  }

  test('takes no slot of large bodies until it has arrived', async () => {
    for (let count = 0; count < 30; count++) send(new ReadableStream())
    await vi.advanceTimersByTimeAsync(1)
    expect(largeBodies.countOf('one')).toBe(0)
    const { request, read } = send(PACKED)
    expect((await read).byteLength).toBe(100_000)
    expect(largeBodies.countOf('one')).toBe(1)
    releaseSlots(request)
  })

  test('is refused when it has arrived and too many large ones are unpacked', async () => {
    const others = startRequests(12).filter((request) => largeBodies.tryAcquire(request, 'one'))
    expect(others).toHaveLength(12)
    await expect(send(PACKED).read).rejects.toMatchObject({ code: 'unavailable' })
    finish(others)
  })
})
