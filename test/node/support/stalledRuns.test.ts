import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StalledRuns } from '../../support/stalledRuns.ts'

const MINUTE_MS = 60_000
const end = vi.fn()

beforeEach(() => {
  vi.useFakeTimers()
  end.mockReset()
})

afterEach(() => {
  vi.useRealTimers()
})

const startRun = (): StalledRuns => {
  const run = new StalledRuns(end)
  run.onTestRunStart([{ moduleId: 'b' }, { moduleId: 'a' }, { moduleId: 'c' }])
  return run
}

test('a run in which nothing ends for five minutes is ended, and says what it waited for', () => {
  const run = startRun()
  run.onTestModuleEnd({ moduleId: 'c' })
  vi.advanceTimersByTime(5 * MINUTE_MS - 1)
  expect(end).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(end).toHaveBeenCalledExactlyOnceWith(['a', 'b'])
})

test('tests that end keep a long run going', () => {
  const run = startRun()
  for (let minutes = 0; minutes < 20; minutes += 4) {
    vi.advanceTimersByTime(4 * MINUTE_MS)
    run.onTestCaseResult()
  }
  expect(end).not.toHaveBeenCalled()
})

test('a run that stalls after its last file is ended too', () => {
  const run = startRun()
  for (const moduleId of ['a', 'b', 'c']) run.onTestModuleEnd({ moduleId })
  vi.advanceTimersByTime(5 * MINUTE_MS)
  expect(end).toHaveBeenCalledExactlyOnceWith([])
})

test('a run that has ended is left alone', () => {
  startRun().onTestRunEnd()
  vi.advanceTimersByTime(60 * MINUTE_MS)
  expect(end).not.toHaveBeenCalled()
})
