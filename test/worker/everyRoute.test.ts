import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { admission } from './everyRoute/authentication.ts'
import { bodies } from './everyRoute/bodies.ts'
import { confinement } from './everyRoute/boundTokens.ts'
import { type Stage, setStage, strikeStage } from './everyRoute/fixture.ts'
import { addressing } from './everyRoute/paths.ts'
import { answers } from './everyRoute/replies.ts'
import { PAGES, routes, unguarded } from './everyRoute/routes.ts'
import { SAMPLES } from './everyRoute/samples.ts'

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
