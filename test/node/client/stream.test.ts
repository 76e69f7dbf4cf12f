import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { Perigee } from '../../../clients/typescript/src/perigee.ts'
import type { StreamOptions } from '../../../clients/typescript/src/stream.ts'

/* The stream against a socket and a service of the test, in fake time. */

const NOW = Date.UTC(2030, 0, 1)
const LIFE_SECONDS = 3600

/** A token of the service, whose clock is `aheadMs` before or behind that of this machine. */
const tokenOf = (number: number, aheadMs = 0): string => {
  const iat = Math.round((Date.now() + aheadMs) / 1000)
  return `h.${btoa(JSON.stringify({ iat, exp: iat + LIFE_SECONDS, number }))}.s`
}

class FakeSocket extends EventTarget {
  static readonly CONNECTING = 0
  static readonly OPEN = 1
  static opened: FakeSocket[] = []
  readyState = FakeSocket.CONNECTING
  readonly sent: Record<string, unknown>[] = []

  readonly url: string
  readonly protocols: string[]
  constructor(url: string, protocols: string[]) {
    super()
    this.url = url
    this.protocols = protocols
    FakeSocket.opened.push(this)
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }

  accept(...messages: object[]): void {
    this.readyState = FakeSocket.OPEN
    this.dispatchEvent(new Event('open'))
    for (const message of messages)
      this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify(message) }))
  }

  close(code = 1006, reason = ''): void {
    if (this.readyState > FakeSocket.OPEN) return
    this.readyState = 3
    this.dispatchEvent(Object.assign(new Event('close'), { code, reason }))
  }

  static get last(): FakeSocket {
    return FakeSocket.opened.at(-1) ?? expect.fail('There is no socket.')
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
  FakeSocket.opened = []
  vi.stubGlobal('WebSocket', FakeSocket)
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const problem = (status: number) =>
  Response.json({ detail: `No (${status}).`, code: 'internal' }, { status })
const pass = (ms = 0) => vi.advanceTimersByTimeAsync(ms)

type Answer = (url: URL) => Response | object

/** A client and its stream, whose events and end are collected. */
const streamWith = (answers: Record<string, Answer>, options: StreamOptions = {}) => {
  const requests: URL[] = []
  const perigee = new Perigee({
    url: 'https://perigee.example',
    userName: 'demo',
    apiKey: 'pgk',
    retries: 0,
    fetch: async (request) => {
      const url = new URL(request.url)
      requests.push(url)
      const answer = (answers[url.pathname] ?? (() => problem(404)))(url)
      return answer instanceof Response ? answer : Response.json({ success: true, ...answer })
    },
  })
  const seen: number[] = []
  const ended = { with: undefined as unknown }
  const controller = new AbortController()
  const read = async () => {
    const signal = controller.signal
    for await (const { sequence } of perigee.stream({ ...options, signal })) seen.push(sequence)
  }
  read().catch((error) => {
    ended.with = error
  })
  return { requests, seen, ended, stop: () => controller.abort() }
}

let tokens = 0
const giveToken = () => ({ token: tokenOf(++tokens) })
const noEvents = (lastSequence = 0) => ({ events: [], lastSequence, nextCursor: null })
const ready = (sequence: number, more = {}) => ({
  type: 'ready',
  sequence,
  oldestSequence: 1,
  expires: new Date(Date.now() + LIFE_SECONDS * 1000).toISOString(),
  ...more,
})
const batch = (...sequences: number[]) => ({
  type: 'events',
  ack: `a${sequences.at(-1)}`,
  events: sequences.map((sequence) => ({ sequence })),
})

/** The options of a stream, and the gaps that it has told. */
const noteGaps = (options: StreamOptions) => {
  const gaps: object[] = []
  return { gaps, options: { ...options, onGap: (gap: object) => void gaps.push(gap) } }
}

test('a stream that was closed is opened again after the last event', async () => {
  const { gaps, options } = noteGaps({ after: 3, types: ['device.*'] })
  const { seen, stop } = streamWith(
    { '/api/Auth/Token': giveToken, '/api/events': () => noEvents() },
    options,
  )
  await pass()
  expect(new URL(FakeSocket.last.url).search).toBe('?after=3&types=device.*')
  FakeSocket.last.accept(ready(3), batch(4, 6))
  await pass()
  expect(FakeSocket.last.sent).toEqual([{ type: 'ack', ack: 'a6' }])
  FakeSocket.last.close(1006)
  await pass(1000)
  expect(FakeSocket.opened).toHaveLength(2)
  expect(new URL(FakeSocket.last.url).searchParams.get('after')).toBe('6')
  FakeSocket.last.accept(ready(6, { oldestSequence: 9 }), batch(9))
  await pass()
  // Its own last event may be older than the log, while nothing that passes the filter is missing.
  expect([seen, gaps]).toEqual([[4, 6, 9], []])
  stop()
})

test.each([
  [
    'without a filter always',
    {},
    [
      { after: 2, oldest: 4 },
      { after: 4, oldest: 9 },
    ],
  ],
  ['with a filter at the start', { groups: ['grp_1'] }, [{ after: 2, oldest: 4 }]],
])('gaps are told %s', async (_, filter, expected) => {
  const { gaps, options } = noteGaps({ after: 2, ...filter })
  const { stop } = streamWith({ '/api/Auth/Token': giveToken }, options)
  await pass()
  FakeSocket.last.accept(ready(2, { oldestSequence: 4 }), batch(4))
  await pass()
  FakeSocket.last.close(1006)
  await pass(1000)
  FakeSocket.last.accept(ready(4, { oldestSequence: 9 }))
  await pass()
  expect(gaps).toEqual(expected)
  stop()
})

test('a service that stores no event has a gap up to its last one', async () => {
  const { gaps, options } = noteGaps({ after: 2 })
  const { stop } = streamWith({ '/api/Auth/Token': giveToken }, options)
  await pass()
  FakeSocket.last.accept(ready(2, { lastSequence: 9, oldestSequence: null }))
  await pass()
  expect(gaps).toEqual([{ after: 2, oldest: 10 }])
  stop()
})

test('a stream that waits for its token ends as soon as it is aborted', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const token = () => new Promise<string>(() => undefined)
  const perigee = new Perigee({ url: 'https://perigee.example', token })
  const next = perigee.stream({ signal }).next()
  await pass(100)
  controller.abort(new Error('enough'))
  await expect(next).rejects.toThrow('enough')
})

test('`onDisconnect` is called with the reason before each further connection', async () => {
  let status = 503
  const reasons: [number, string][] = []
  const onDisconnect = (error: PerigeeError) => void reasons.push([error.status, error.message])
  const { ended, stop } = streamWith(
    {
      '/api/Auth/Token': () => (status === 200 ? giveToken() : problem(status)),
      '/api/events': () => (status === 200 ? noEvents() : problem(status)),
    },
    { onDisconnect },
  )
  await pass()
  expect(reasons).toEqual([[503, 'No (503).']])
  status = 200
  await pass(1000)
  FakeSocket.last.accept(ready(1))
  await pass()
  FakeSocket.last.close(1012, 'The service restarts.')
  await pass(1000)
  FakeSocket.last.close(1006)
  await pass()
  expect(reasons.slice(1)).toEqual([
    [0, 'The service restarts.'],
    [0, 'The connection was closed (1006).'],
  ])
  // A refusal is the end, and no disconnect.
  await pass(2000)
  FakeSocket.last.close(4403, 'Not allowed.')
  await pass()
  expect([reasons.length, ended.with]).toEqual([3, expect.objectContaining({ status: 403 })])
  stop()
})

test('a filter that the service refuses ends the stream with its reason', async () => {
  const { ended, requests } = streamWith(
    {
      '/api/Auth/Token': giveToken,
      '/api/events': ({ searchParams }) =>
        searchParams.get('types') === 'devices' ? problem(400) : noEvents(),
    },
    { types: ['devices'] },
  )
  for (let attempts = 0; attempts < 5 && !ended.with; attempts++) {
    await pass(1000)
    FakeSocket.last.close(1006)
  }
  await pass(1000)
  expect(ended.with).toMatchObject({ status: 400, message: 'No (400).' })
  expect(requests.at(-1)?.searchParams.get('limit')).toBe('1')
})

test('an outage of the token endpoint does not end the stream, a wrong key does', async () => {
  let status = 503
  const { ended, stop } = streamWith({
    '/api/Auth/Token': () => (status === 200 ? giveToken() : problem(status)),
  })
  await pass(5000)
  status = 429
  await pass(20_000)
  expect([FakeSocket.opened.length, ended.with]).toEqual([0, undefined])
  status = 200
  await pass(60_000)
  expect(FakeSocket.opened).toHaveLength(1)
  stop()
  status = 401
  const wrong = streamWith({ '/api/Auth/Token': () => problem(status) })
  await pass(1000)
  expect(wrong.ended.with).toMatchObject({ status: 401 })
})

test.each([
  ['right', 0],
  ['ahead', 7200],
  ['behind', -7200],
])('a token is renewed in time, and seldom, by a clock that is %s', async (_, ahead) => {
  const token = () => ({ token: tokenOf(++tokens, -ahead * 1000) })
  const expires = new Date(NOW - ahead * 1000 + LIFE_SECONDS * 1000).toISOString()
  const { stop } = streamWith({ '/api/Auth/Token': token })
  await pass()
  const socket = FakeSocket.last
  const renewals: number[] = []
  const send = socket.send.bind(socket)
  socket.send = (text) => {
    send(text)
    const { type, token: next } = JSON.parse(text)
    if (type === 'ping') socket.accept({ type: 'pong' })
    if (type !== 'token') return
    if (!socket.protocols.includes(`bearer.${next}`)) renewals.push(Date.now() - NOW)
    socket.accept({ type: 'token', expires })
  }
  socket.accept(ready(1, { expires }))
  await pass(LIFE_SECONDS * 1000)
  const all = socket.sent.filter(({ type }) => type === 'token')
  expect(all.length).toBe(1)
  expect(renewals[0]).toBeLessThan(LIFE_SECONDS * 1000)
  expect(FakeSocket.opened).toHaveLength(1)
  stop()
})

/** The log of a service: events 5 to 8, of which the first are no longer stored. */
const log = ({ searchParams }: URL) => ({
  events: [5, 6, 7, 8]
    .filter((sequence) => sequence > Number(searchParams.get('after') ?? 0))
    .slice(0, Number(searchParams.get('limit') ?? 1000))
    .map((sequence) => ({ sequence })),
  lastSequence: 8,
  nextCursor: null,
})

test('without WebSocket an outage is waited for, and gaps are told', async () => {
  vi.stubGlobal('WebSocket', undefined)
  let isDown = false
  const { gaps, options } = noteGaps({ after: 2, types: ['device.*'] })
  const onDisconnect = vi.fn()
  const { seen, ended, stop } = streamWith(
    {
      '/api/Auth/Token': giveToken,
      '/api/me': () => ({ user: null }),
      '/api/events': (url) => (isDown ? problem(500) : { ...log(url) }),
    },
    { ...options, onDisconnect },
  )
  await pass()
  expect([seen, gaps]).toEqual([[5, 6, 7, 8], [{ after: 2, oldest: 5 }]])
  isDown = true
  await pass(300_000)
  expect(ended.with).toBeUndefined()
  expect(onDisconnect.mock.calls.length).toBeGreaterThan(5)
  expect(onDisconnect.mock.lastCall).toEqual([expect.objectContaining({ status: 500 })])
  isDown = false
  await pass(60_000)
  expect([seen, gaps.length, ended.with]).toEqual([[5, 6, 7, 8], 1, undefined])
  stop()
})

test('without WebSocket a user of a group has no gaps, and a bad filter is refused', async () => {
  vi.stubGlobal('WebSocket', undefined)
  const onGap = vi.fn()
  const confined = streamWith(
    {
      '/api/Auth/Token': giveToken,
      '/api/me': () => ({ user: { group: 'North' } }),
      '/api/events': log,
    },
    { after: 2, onGap },
  )
  const refused = streamWith(
    {
      '/api/Auth/Token': giveToken,
      '/api/events': ({ searchParams }) => (searchParams.has('types') ? problem(400) : noEvents()),
    },
    { types: ['devices'] },
  )
  await pass()
  expect([confined.seen, onGap.mock.calls]).toEqual([[5, 6, 7, 8], []])
  expect(refused.ended.with).toMatchObject({ status: 400 })
  confined.stop()
})

test('without WebSocket locations are refused, since the service does not log them', async () => {
  vi.stubGlobal('WebSocket', undefined)
  const { ended, requests } = streamWith({}, { types: ['alert.*', 'location.*'] })
  await pass()
  expect(String(ended.with)).toContain('node --experimental-websocket')
  expect(requests).toEqual([])
})
