import { expect, test } from 'vitest'
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
