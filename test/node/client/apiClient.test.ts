import { expect, test, vi } from 'vitest'
import { ApiClient } from '../../../clients/typescript/src/apiClient.ts'
import { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { keepToken } from '../../../clients/typescript/src/tokens.ts'

type Answer = (request: Request) => Response

const lost: Answer = () => {
  throw new TypeError('no reply')
}
const done: Answer = () => Response.json({ success: true })
const refuse =
  (status: number, headers: Record<string, string> = {}, code = 'internal'): Answer =>
  () =>
    Response.json({ detail: 'No.', code, requestId: 'r' }, { status, headers })

/** A client whose service gives these answers, one for each attempt. */
const clientWith = (answers: Answer[], settings: object = {}) => {
  const requests: Request[] = []
  const client = new ApiClient({
    url: 'https://perigee.example/',
    token: () => 'token',
    fetch: async (request) => {
      requests.push(request)
      const answer = answers.shift()
      if (!answer) throw new Error('There are more attempts than answers.')
      return answer(request)
    },
    ...settings,
  })
  return { client, requests }
}

const failureOf = (promise: Promise<unknown>): Promise<PerigeeError> =>
  promise.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  )

const tokenOf = (lifeSeconds: number, number = 0): string =>
  `h.${btoa(JSON.stringify({ iat: 0, exp: lifeSeconds, number }))}.s`

const body = { name: 'Tern 7' }
const path = { deviceId: 'dev_1' }

test('a POST keeps its Idempotency-Key over all attempts, and another call has another', async () => {
  const { client, requests } = clientWith([lost, refuse(500), done, done])
  await client.post('/api/devices', { body })
  await client.post('/api/devices', { body })
  const keys = requests.map(({ headers }) => headers.get('Idempotency-Key'))
  expect(keys.slice(0, 3)).toEqual(Array(3).fill(keys[0]))
  expect(keys[0]).toMatch(/^[\w-]{20,}$/)
  expect(keys[3]).not.toBe(keys[0])
})

test('a POST without a key is not repeated when it may have been done', async () => {
  for (const answer of [lost, refuse(500)]) {
    const { client, requests } = clientWith([answer])
    await failureOf(client.post('/api/sources/decode', { body: {} as never }))
    expect(requests.map(({ headers }) => headers.has('Idempotency-Key'))).toEqual([false])
  }
})

test('a JSON Patch is repeated only if it was refused, a merge patch always', async () => {
  const steps = [{ op: 'replace' as const, path: '/name', value: 'Tern 8' }]
  const once = clientWith([lost])
  await failureOf(once.client.patch('/api/devices/{deviceId}', { path, body: steps }))
  const refused = clientWith([refuse(503), done])
  await refused.client.patch('/api/devices/{deviceId}', { path, body: steps })
  const merged = clientWith([lost, done])
  await merged.client.patch('/api/devices/{deviceId}', { path, body })
  const versioned = clientWith([lost, done])
  const headers = { 'If-Match': '"7"' }
  await versioned.client.patch('/api/devices/{deviceId}', { path, body: steps, headers })
  const counts = [once, refused, merged, versioned].map(({ requests }) => requests.length)
  expect(counts).toEqual([1, 2, 2, 2])
})

test('a POST that only reads takes no key, and is repeated', async () => {
  const { client, requests } = clientWith([lost, refuse(500), done])
  const options = { path, body: { from: 'x' } as never, isQuery: true }
  await client.post('/api/devices/{deviceId}/locations', options)
  expect(requests.map(({ headers }) => headers.has('Idempotency-Key'))).toEqual(
    Array(3).fill(false),
  )
})

test('a call that asks to wait too long, or was refused for good, fails at once', async () => {
  for (const answer of [refuse(429, { 'Retry-After': '3600' }), refuse(409), refuse(404)]) {
    const { client, requests } = clientWith([answer])
    await failureOf(client.get('/api/account'))
    expect(requests).toHaveLength(1)
  }
})

test('attempts end after `retries`, and the error has what the service said', async () => {
  const { client } = clientWith([refuse(503), refuse(503, { 'Retry-After': '0' })], { retries: 1 })
  const error = await failureOf(client.get('/api/account'))
  expect(error).toBeInstanceOf(PerigeeError)
  expect(error).toMatchObject({ status: 503, code: 'internal', detail: 'No.', requestId: 'r' })
  expect(error.retryAfter).toBe(0)
})

test('a repeated DELETE that finds nothing has succeeded, a first one has not', async () => {
  const repeated = clientWith([lost, refuse(404, {}, 'device-not-found')])
  const gone = await repeated.client.delete('/api/devices/{deviceId}', { path })
  expect(gone).toEqual({ success: true })
  const first = clientWith([refuse(404, {}, 'device-not-found')])
  const error = await failureOf(first.client.delete('/api/devices/{deviceId}', { path }))
  expect(error.status).toBe(404)
})

test('a DELETE that was refused before, and then finds nothing, has not succeeded', async () => {
  for (const status of [429, 503]) {
    const { client } = clientWith([
      refuse(status, { 'Retry-After': '0' }),
      refuse(404, {}, 'device-not-found'),
    ])
    const error = await failureOf(client.delete('/api/devices/{deviceId}', { path }))
    expect(error.status).toBe(404)
  }
  const { client } = clientWith([lost, refuse(503), refuse(404, {}, 'device-not-found')])
  expect(await client.delete('/api/devices/{deviceId}', { path })).toEqual({ success: true })
})

test('a 404 that does not name what was to be deleted is no success', async () => {
  for (const code of ['route-not-found', 'move-not-found', 'internal', undefined as never]) {
    const { client } = clientWith([lost, refuse(404, {}, code)])
    const error = await failureOf(client.delete('/api/devices/{deviceId}', { path }))
    expect(error.status).toBe(404)
  }
})

test('`maxWaitMs` below the backoff shortens the wait, and does not end the attempts', async () => {
  const answers = Array.from({ length: 20 }, () => lost)
  const { client, requests } = clientWith([...answers, done], { maxWaitMs: 2, retries: 20 })
  await client.get('/api/account')
  expect(requests).toHaveLength(21)
})

test('a lost reply to the token request is repeated, before a POST without a key too', async () => {
  const token: Answer = () => Response.json({ token: tokenOf(3600) })
  const more = { token: undefined, userName: 'demo', apiKey: 'pgk' }
  const { client, requests } = clientWith([lost, refuse(500), token, done], more)
  await client.post('/api/sources/decode', { body: {} as never })
  const paths = requests.map(({ url }) => new URL(url).pathname)
  expect(paths).toEqual([...Array(3).fill('/api/Auth/Token'), '/api/sources/decode'])
  expect(requests.some(({ headers }) => headers.has('Idempotency-Key'))).toBe(false)
})

test.each([
  [{ url: '' }, 'url'],
  [{ token: undefined, userName: 'demo', apiKey: '' }, 'apiKey'],
  [{ token: undefined }, 'userName, apiKey'],
])('a client without its settings is refused: %o', (settings, missing) => {
  expect(() => clientWith([], settings)).toThrow(`Settings are missing: ${missing}.`)
})

test('an archive is sent as what it is', async () => {
  for (const body of [new Blob(['x']), new Uint8Array([1])]) {
    const { client, requests } = clientWith([done])
    await client.post('/admin/accounts/import', { body })
    const [request] = requests
    expect(request?.headers.get('Content-Type')).toBe('application/gzip')
    expect((await request?.arrayBuffer())?.byteLength).toBe(1)
  }
})

test('a token is renewed beside the calls until it ends', async () => {
  vi.useFakeTimers()
  try {
    let count = 0
    let isDown = false
    const token = keepToken(async () => {
      count++
      if (isDown) return new Promise<string>(() => undefined)
      return tokenOf(1000, count)
    })
    const first = await token()
    vi.advanceTimersByTime(850_000)
    isDown = true
    expect([token(), token(), count]).toEqual([first, first, 2])
    vi.advanceTimersByTime(31_000)
    isDown = false
    expect([token(), count]).toEqual([first, 3])
    await vi.advanceTimersByTimeAsync(0)
    expect(token()).not.toBe(first)
    // One that has ended is waited for, whatever became of the renewal before.
    isDown = true
    vi.advanceTimersByTime(850_000)
    token()
    vi.advanceTimersByTime(200_000)
    isDown = false
    expect(await token()).toBe(tokenOf(1000, 5))
  } finally {
    vi.useRealTimers()
  }
})

test('a token request that never settles does not block later callers', async () => {
  vi.useFakeTimers()
  try {
    let count = 0
    const token = keepToken(() =>
      ++count === 1 ? new Promise<string>(() => undefined) : Promise.resolve(tokenOf(1000, count)),
    )
    token()
    const later = [token(), token()]
    await vi.advanceTimersByTimeAsync(9000)
    expect(count).toBe(1)
    await vi.advanceTimersByTimeAsync(1000)
    expect([await Promise.all(later), count]).toEqual([Array(2).fill(tokenOf(1000, 2)), 2])
    // Callers that waited for a reply in time leave no timer behind.
    expect([token(), vi.getTimerCount()]).toEqual([tokenOf(1000, 2), 0])
  } finally {
    vi.useRealTimers()
  }
})

test('a list is asked for as given, page by page', async () => {
  const page =
    (nextCursor: string | null): Answer =>
    () =>
      Response.json({ success: true, locations: [{ latitude: 1 }], nextCursor })
  const { client, requests } = clientWith([page('c2'), page(null)])
  const rows = []
  const options = { path, query: { simplify: 25 } }
  for await (const row of client.list('/api/devices/{deviceId}/locations', options)) rows.push(row)
  expect(rows).toHaveLength(2)
  const queries = requests.map(({ url }) => new URL(url).search)
  expect(queries).toEqual(['?simplify=25', '?simplify=25&cursor=c2'])
})

test('a token is renewed once after a 401, and a second 401 is the answer', async () => {
  const refusals: unknown[] = []
  const token = (refused?: string) => {
    refusals.push(refused)
    return refused ? 'second' : 'first'
  }
  const { client } = clientWith([refuse(401), refuse(401)], { token })
  expect((await failureOf(client.get('/api/account'))).status).toBe(401)
  expect(refusals).toEqual([undefined, 'first'])
})

test('an aborted call rejects with the reason and is not repeated', async () => {
  const controller = new AbortController()
  const abort: Answer = () => {
    controller.abort(new Error('enough'))
    throw new TypeError('no reply')
  }
  const { client, requests } = clientWith([abort])
  const error = await failureOf(client.get('/api/account', { signal: controller.signal }))
  expect([error.message, requests.length]).toEqual(['enough', 1])
})

test('a call that waits for its token rejects as soon as it is aborted', async () => {
  const controller = new AbortController()
  const token = () => new Promise<string>(() => undefined)
  const { client, requests } = clientWith([], { token })
  const failure = failureOf(client.get('/api/account', { signal: controller.signal }))
  controller.abort(new Error('enough'))
  expect([(await failure).message, requests.length]).toEqual(['enough', 0])
})
