import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SharedReads } from '../../../src/shares/sharedReads.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const kept: Promise<unknown>[] = []
const keep = (promise: Promise<unknown>) => void kept.push(promise)
const setUp = (canJoin = true) => {
  const reads = new SharedReads<string, number>({ canJoin, maxWaitMs: 2000 })
  const settles: ((value: number) => void)[] = []
  const read = vi.fn(() => new Promise<number>((resolve) => settles.push(resolve)))
  return { read, settles, run: () => reads.run('key', read, keep) }
}

test('requests at the same time share a read, which the first one keeps', async () => {
  const { read, settles, run } = setUp()
  kept.length = 0
  const results = [run(), run(), run()]
  settles[0]?.(7)
  expect(await Promise.all(results)).toEqual([7, 7, 7])
  expect([read.mock.calls.length, kept.length]).toEqual([1, 1])
  expect(vi.getTimerCount()).toBe(0)
  const next = run()
  settles[1]?.(8)
  expect(await next).toBe(8)
})

test('whoever waits for another request has a timer; one of them then reads for the others', async () => {
  const { read, settles, run } = setUp()
  void run()
  const [second, third] = [run(), run()]
  expect(vi.getTimerCount()).toBe(2)
  await vi.advanceTimersByTimeAsync(2000)
  expect(read).toHaveBeenCalledTimes(2)
  settles[1]?.(7)
  expect(await Promise.all([second, third])).toEqual([7, 7])
  // Nobody waits for a read whose request has ended.
  const next = run()
  settles[2]?.(9)
  expect(await next).toBe(9)
})

test('whoever has waited twice reads alone', async () => {
  const { read, settles, run } = setUp()
  void run()
  const [second, third] = [run(), run()]
  await vi.advanceTimersByTimeAsync(2000)
  await vi.advanceTimersByTimeAsync(2000)
  expect(read).toHaveBeenCalledTimes(3)
  settles[1]?.(7)
  settles[2]?.(8)
  expect(await Promise.all([second, third])).toEqual([7, 8])
})

test('a read that fails is shared, and the next one starts again', async () => {
  const reads = new SharedReads<string, number>({ canJoin: true })
  const fail = () => Promise.reject(new Error('down'))
  const results = await Promise.allSettled([reads.run('a', fail, keep), reads.run('a', fail, keep)])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await reads.run('a', async () => 1, keep)).toBe(1)
})

test('each reads alone where the runtime lets no request settle for another', async () => {
  const { read, settles, run } = setUp(false)
  const results = [run(), run()]
  for (const settle of settles) settle(7)
  expect(await Promise.all(results)).toEqual([7, 7])
  expect(read).toHaveBeenCalledTimes(2)
})
