import { expect, test } from 'vitest'
import published from '../../../public/api/openapi.json' with { type: 'json' }
import { templateOf } from '../../../src/openapi/path.ts'
import { makeFixture } from '../everyRoute/fixture.ts'
import { routes } from '../everyRoute/routes.ts'
import { SAMPLES } from '../everyRoute/samples.ts'
import { send } from '../everyRoute/send.ts'

interface Published {
  requestBody?: { content: Record<string, { examples: Record<string, { value: unknown }> }> }
}

const paths = published.paths as unknown as Record<string, Record<string, Published>>
const examples = routes.flatMap((route) => {
  const operation = paths[templateOf(route.path)]?.[route.method.toLowerCase()]
  const named = operation?.requestBody?.content['application/json']?.examples ?? {}
  return Object.entries(named).map(([name, { value }]) => ({ id: route.id, name, route, value }))
})

/** No example can have the key, password, link, device or program of a real account. */
const REFUSED: Record<string, string> = {
  getToken: 'wrong-credentials',
  signIn: 'wrong-credentials',
  setPassword: 'invalid-link',
  testRule: 'invalid-request',
  createWatch: 'invalid-request',
  replaceWatch: 'invalid-request',
  createShare: 'invalid-request',
  replaceShare: 'invalid-request',
  decideConsent: 'invalid-authorization',
}

test('there are examples', () => {
  expect(examples.length).toBeGreaterThan(20)
})

test.each(examples)('the service accepts the example $name of $id', async ({ route, value }) => {
  const request = await (await makeFixture(route)).request()
  const headers = { ...request.headers, 'Content-Type': 'application/json' }
  const reply = await send({ ...request, headers, body: JSON.stringify(value) })
  const refused = REFUSED[route.id] ?? SAMPLES[route.id]?.refused
  if (refused) expect(reply.body.code).toBe(refused)
  else expect([reply.status, reply.text]).toEqual([expect.toSatisfy((s) => s < 300), reply.text])
})
