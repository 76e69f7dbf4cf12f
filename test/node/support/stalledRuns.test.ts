import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StalledRuns } from '../../support/run/stalledRuns.ts'

const MINUTE_MS = 60_000
const [stop, finish] = [vi.fn(), vi.fn(async () => {})]

beforeEach(() => {
  vi.useFakeTimers()
  for (const ending of [stop, finish]) ending.mockClear()
})

afterEach(() => {
  vi.useRealTimers()
})

const startRun = (): StalledRuns => {
  const run = new StalledRuns({}, { stop, finish })
  run.onTestRunStart([{ moduleId: 'b' }, { moduleId: 'a' }, { moduleId: 'c' }])
  return run
}

test('a run in which nothing ends for five minutes is ended, and says what it waited for', () => {
  const run = startRun()
  run.onTestModuleEnd({ moduleId: 'c' })
  vi.advanceTimersByTime(5 * MINUTE_MS - 1)
  expect(stop).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(stop).toHaveBeenCalledExactlyOnceWith(['a', 'b'])
  expect(finish).not.toHaveBeenCalled()
})

test('tests that end keep a long run going', () => {
  const run = startRun()
  for (let minutes = 0; minutes < 20; minutes += 4) {
    vi.advanceTimersByTime(4 * MINUTE_MS)
    run.onTestCaseResult()
  }
  expect([stop, finish].flatMap(({ mock }) => mock.calls)).toEqual([])
})

test('a run that does not end after its last file is ended with its result', () => {
  const run = startRun()
  for (const moduleId of ['a', 'b', 'c']) run.onTestModuleEnd({ moduleId })
  vi.advanceTimersByTime(MINUTE_MS - 1)
  expect(finish).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(finish).toHaveBeenCalledOnce()
  expect(stop).not.toHaveBeenCalled()
})

test('a run that has ended is left alone', () => {
  startRun().onTestRunEnd()
  vi.advanceTimersByTime(60 * MINUTE_MS)
  expect([stop, finish].flatMap(({ mock }) => mock.calls)).toEqual([])
})
