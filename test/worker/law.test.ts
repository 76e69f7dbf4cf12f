import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { addressing } from './law/addressing.ts'
import { admission } from './law/admission.ts'
import { answers } from './law/answers.ts'
import { bodies } from './law/bodies.ts'
import { confinement } from './law/confinement.ts'
import { PAGES, routes, unguarded } from './law/routes.ts'
import { SAMPLES } from './law/samples.ts'
import { type Stage, setStage, strikeStage } from './law/stage.ts'

// Thousands of log lines, each carried to the reporter, cost a tenth of the whole.
vi.spyOn(console, 'log').mockImplementation(() => {})

test('every route has a contract, but for the pages', () => {
  expect(unguarded).toEqual(PAGES)
})

test('every operation has a row in test/worker/law/samples.ts, and every row an operation', () => {
  expect(Object.keys(SAMPLES).sort()).toEqual([...new Set(routes.map(({ id }) => id))].sort())
})

describe.each(routes)('$method $path', (route) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await setStage(route)
  })
  afterAll(strikeStage)
  for (const law of [admission, confinement, addressing, bodies, answers]) law(route, () => stage)
})
