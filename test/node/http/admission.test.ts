import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Admission } from '../../../src/http/admission/admission.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: 0 })
})
afterEach(() => {
  vi.useRealTimers()
})

const [first, second, third, fourth] = [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }] as const

test('a key has its share of the slots, and others have the rest', () => {
  const admission = new Admission({ limits: { max: 3, maxPerKey: 2 } })
  expect([first, second, third].map((holder) => admission.tryAcquire(holder, 'one'))).toEqual([
    true,
    true,
    false,
  ])
  expect([third, fourth].map((holder) => admission.tryAcquire(holder))).toEqual([true, false])
  admission.releaseSlot(first)
  expect(admission.countOf('one')).toBe(1)
  expect(admission.tryAcquire(fourth, 'one')).toBe(true)
})

test('a slot that is neither released nor renewed is evicted', () => {
  const admission = new Admission({ limits: { max: 2 }, maxHeldMs: 1000 })
  admission.tryAcquire(first)
  admission.tryAcquire(second)
  vi.setSystemTime(999)
  admission.renewSlot(first)
  vi.setSystemTime(1000)
  expect(admission.tryAcquire(third)).toBe(true)
  expect(admission.tryAcquire(fourth)).toBe(false)
  expect(admission.releaseSlot(second)).toBeUndefined()
})

test('without polling, a free slot goes to the first in the queue that may have it', async () => {
  const admission = new Admission({
    limits: { max: 2, maxPerKey: 1 },
    maxWaiting: { max: Number.POSITIVE_INFINITY },
  })
  admission.tryAcquire(first, 'one')
  admission.tryAcquire(second)
  const started: object[] = []
  void admission.acquire(third, 'one').then(() => started.push(third))
  void admission.acquire(fourth, 'two').then(() => started.push(fourth))
  admission.releaseSlot(second)
  await vi.advanceTimersByTimeAsync(0)
  expect(started).toEqual([fourth])
  admission.releaseSlot(first)
  await vi.advanceTimersByTimeAsync(0)
  expect(started).toEqual([fourth, third])
})

test('a slot that becomes free wakes the first that may have it, who polls if it was gone', async () => {
  const admission = new Admission({
    limits: { max: 2, maxPerKey: 1 },
    maxWaiting: { max: 10 },
    maxWaitMs: 1000,
    pollMs: 20,
    wakes: true,
  })
  admission.tryAcquire(first, 'one')
  admission.tryAcquire(second, 'two')
  const started: object[] = []
  void admission.acquire(third, 'one').then(() => started.push(third))
  void admission.acquire(fourth, 'two').then(() => started.push(fourth))
  admission.releaseSlot(second)
  await vi.advanceTimersByTimeAsync(0)
  expect(started).toEqual([fourth])
  admission.releaseSlot(first)
  admission.tryAcquire(first, 'one')
  await vi.advanceTimersByTimeAsync(0)
  expect(started).toEqual([fourth])
  // Nobody wakes it again: the slot was lost without a release, as after a disconnect.
  admission.limits = { max: 3, maxPerKey: 2 }
  await vi.advanceTimersByTimeAsync(100)
  expect(started).toEqual([fourth, third])
})

test.each([undefined, 20])('waiting is bounded in number and time (poll: %s)', async (pollMs) => {
  const admission = new Admission({
    limits: { max: 1 },
    maxWaiting: { max: 1 },
    maxWaitMs: 1000,
    ...(pollMs && { pollMs }),
  })
  admission.tryAcquire(first)
  const late = admission.acquire(second)
  expect(await admission.acquire(third)).toBe(false)
  await vi.advanceTimersByTimeAsync(1100)
  expect(await late).toBe(false)
  const next = admission.acquire(third)
  admission.releaseSlot(first)
  await vi.advanceTimersByTimeAsync(100)
  expect(await next).toBe(true)
})

test('work runs in a slot of its own, which ends with it', async () => {
  const admission = new Admission({ limits: { max: 1 } })
  const work = admission.run(async () => admission.tryAcquire(first))
  expect(await work).toBe(false)
  await expect(admission.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(admission.tryAcquire(first)).toBe(true)
  expect(await admission.run(async () => 'done')).toBe(null)
})

test('a holder waits without its slot and has it again afterwards', async () => {
  const admission = new Admission({ limits: { max: 1, maxPerKey: 1 } })
  admission.tryAcquire(first, 'one')
  await admission.runWithoutSlot(first, async () => {
    expect(admission.tryAcquire(second)).toBe(true)
  })
  expect(admission.countOf('one')).toBe(1)
  admission.releaseSlot(second)
  expect(admission.tryAcquire(third)).toBe(false)
})
