import { expect, test, vi } from 'vitest'
import { noteRequest } from '../../../src/http/admission/pacing.ts'
import { SLICE_UNITS, Slices } from '../../../src/http/admission/slices.ts'

test('work within a slice awaits nothing; a used-up slice lets other tasks run', async () => {
  const slices = new Slices()
  expect(slices.spend(SLICE_UNITS - 1)).toBeUndefined()
  let hasRun = false
  setTimeout(() => {
    hasRun = true
  }, 0)
  await slices.spend(1)
  expect(hasRun).toBe(true)
  expect(slices.spend(SLICE_UNITS - 1)).toBeUndefined()
  expect(slices.spend(SLICE_UNITS)).toBeInstanceOf(Promise)
  expect(slices.spent).toBe(3 * SLICE_UNITS - 1)
})

test('the slices of an account take a fifth of the time while another one is present', async () => {
  vi.useFakeTimers({ now: Date.now() })
  noteRequest('one', Date.now())
  noteRequest('two', Date.now())
  let done = 0
  const work = async () => {
    const slices = new Slices('one')
    for (let slice = 0; slice < 20; slice++) await slices.spend(SLICE_UNITS)
    done++
  }
  // After each slice of 5 ms there is a pause of 20 ms.
  const working = work()
  await vi.advanceTimersByTimeAsync(399)
  expect(done).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(done).toBe(1)
  await working
  vi.useRealTimers()
})
