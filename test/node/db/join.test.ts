import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openAccount } from '../../../lab/harness/http.mjs'
import { adminToken } from '../../../lab/harness/server.mjs'
import {
  bundleJoinWorker,
  type JoinServer,
  type Outcome,
  serveJoinWorker,
} from '../../support/db/joinServer.ts'
import type { CallBody, RecordedCall } from '../../support/db/joinWorker.ts'

/*
 * The joining client runs in the built Worker: the runtime of the other tests has no promises that
 * one request resolves for another. The clock stands still unless a test moves it, so a call waits
 * for the one under way until the test opens its gate.
 */

const INSERT = 'INSERT INTO notes (name) VALUES (?)'
const INSERT_LONG = 'INSERT INTO notes (name, text) VALUES (?, ?)'
const ECHO = 'SELECT ? AS value'
const READ = 'SELECT n FROM numbers WHERE n <= ?'
const COUNT = 'SELECT count(*) AS count FROM numbers WHERE n <= ?'

const insert = (...names: string[]): CallBody => ({
  form: 'batch',
  statements: names.map((name) => ({ text: INSERT, values: [name] })),
})
const echo = (value: string, form: CallBody['form'] = 'all'): CallBody => ({
  form,
  statements: [{ text: ECHO, values: [value] }],
})
const namesOf = ({ values }: RecordedCall) => values.map(([name]) => name)

let script: string
let server: JoinServer

beforeAll(async () => {
  script = bundleJoinWorker()
  server = await serveJoinWorker(script)
}, 180_000)
afterAll(() => server?.stop())

/** Begins a test: with a call of each text, which shows that it is small and may join. */
const begin = async () => {
  await server.begin()
  await server.call(insert('known'))
  await server.call(echo('known'))
}
beforeEach(begin)

/** The calls of the test itself. */
const sent = ({ calls }: { calls: RecordedCall[] }) => calls.slice(2)

/** Sends a call that stays under way until its gate opens. */
const occupy = async (name = 'first') => {
  await server.addRule({ value: name, gate: name })
  const outcome = server.call(echo(name))
  await server.until(({ calls }) => calls.some((call) => namesOf(call).includes(name)))
  return { outcome, finish: () => server.openGate(name) }
}
/** Adds calls that must wait, in this order. */
const queue = async (...bodies: CallBody[]) => {
  const outcomes: Promise<Outcome>[] = []
  for (const body of bodies) {
    const { waiting } = await server.look()
    outcomes.push(server.call(body))
    await server.until((seen) => seen.waiting === waiting + 1)
  }
  return () => Promise.all(outcomes)
}
const sentNames = async () => sent(await server.look()).map(namesOf)
const numbered = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)
const stored = async () => (await server.stored()).filter((name) => name !== 'known')

describe('calls that wait', () => {
  test('go as one batch, and each gets its own results', async () => {
    const { outcome, finish } = await occupy()
    const two = [...echo('b1').statements, ...echo('b2').statements]
    const all = await queue(
      echo('a', 'all'),
      { form: 'batch', statements: two },
      echo('c', 'run'),
      echo('d', 'first'),
    )
    // A batch returns no rows of this form, so it waits for nobody.
    expect(await server.call(echo('raw', 'raw'))).toEqual({ results: [['raw']] })
    await finish()
    expect(await all()).toEqual([
      { results: [{ value: 'a' }] },
      { results: [[{ value: 'b1' }], [{ value: 'b2' }]] },
      { results: [{ value: 'c' }] },
      { results: { value: 'd' } },
    ])
    expect(await outcome).toEqual({ results: [{ value: 'first' }] })
    expect(await sentNames()).toEqual([['first'], ['raw'], ['a', 'b1', 'b2', 'c', 'd']])
  })

  test('come from many requests at the same time', async () => {
    const { finish } = await occupy()
    const values = numbered('value', 60)
    const outcomes = values.map((value) => server.call(echo(value)))
    await server.until(({ waiting }) => waiting === values.length)
    await finish()
    expect(await Promise.all(outcomes)).toEqual(values.map((value) => ({ results: [{ value }] })))
    expect(await sentNames()).toHaveLength(2)

    // The same with a clock that nobody stops.
    await server.startClock()
    const names = numbered('name', 60)
    const stores = names.map((name) => server.call(insert(name)))
    const reads = values.map((value) => server.call(echo(value)))
    expect(await Promise.all(reads)).toEqual(values.map((value) => ({ results: [{ value }] })))
    for (const { error } of await Promise.all(stores)) expect(error).toBeUndefined()
    expect((await stored()).toSorted()).toEqual(names.toSorted())
  })

  test('are at most 100 statements a batch, and no call is divided', async () => {
    const { finish } = await occupy()
    const parts = ['a', 'b', 'c'].map((prefix) => numbered(prefix, 40))
    const all = await queue(...parts.map((names) => insert(...names)))
    await finish()
    for (const { error } of await all()) expect(error).toBeUndefined()
    const [a = [], b = [], c = []] = parts
    expect(await sentNames()).toEqual([['first'], [...a, ...b], c])
    expect(await stored()).toEqual([...a, ...b, ...c])
  })

  test('are sent after 4 ms while the call under way does not return', async () => {
    await occupy()
    const all = await queue(insert('a'), insert('b'))
    await server.advance(3)
    const last = await queue(insert('c'))
    await server.advance(1)
    for (const { error } of [...(await all()), ...(await last())]) expect(error).toBeUndefined()
    const [first, joined] = sent(await server.look())
    expect(first?.state).toBe('under way')
    expect(joined && namesOf(joined)).toEqual(['a', 'b', 'c'])
    // The hanging call delays nobody any more.
    expect(await server.call(echo('later'))).toEqual({ results: [{ value: 'later' }] })
  })
})

test('a call behind a full batch is sent within its wait too', async () => {
  await server.addRule({ value: 'a0', gate: 'a0' })
  await occupy()
  const [a, b] = [numbered('a', 99), ['b1', 'b2']]
  const [first, second] = [await queue(insert(...a)), await queue(insert(...b))]
  await server.advance(4)
  expect((await second()).map(({ error }) => error)).toEqual([undefined])
  await server.openGate('a0')
  expect((await first()).map(({ error }) => error)).toEqual([undefined])
  expect(await sentNames()).toEqual([['first'], a, b])
})

describe('an error', () => {
  test('of one caller fails no other, and its statement goes alone for a minute', async () => {
    const failing: CallBody = {
      form: 'batch',
      statements: [
        { text: INSERT, values: ['half'] },
        { text: INSERT_LONG, values: ['known', ''] },
      ],
    }
    await server.call({ form: 'run', statements: [{ text: INSERT_LONG, values: ['other', ''] }] })
    const { finish } = await occupy()
    const all = await queue(insert('a'), failing, insert('b1', 'b2'), echo('c'))
    await finish()
    const [a, b, c, d] = await all()
    expect([a?.error, c?.error]).toEqual([undefined, undefined])
    expect(b?.error).toMatch(/UNIQUE constraint failed/)
    expect(d).toEqual({ results: [{ value: 'c' }] })
    expect((await stored()).toSorted()).toEqual(['a', 'b1', 'b2', 'other'])

    // Now its statements wait for nobody.
    await occupy('second')
    expect((await server.call(failing)).error).toMatch(/UNIQUE constraint failed/)
    expect((await server.look()).waiting).toBe(0)
    await server.advance(59_999)
    await occupy('third')
    expect((await server.call(insert('alone'))).error).toBeUndefined()
    await server.advance(1)
    await server.call(insert('small'))
    await queue(insert('waits'))
  })

  test('in the text of a statement fails no other', async () => {
    const { finish } = await occupy()
    const all = await queue(insert('a'), echo('b'))
    const wrong: CallBody = { form: 'all', statements: [{ text: 'SELEC ?', values: ['w'] }] }
    expect((await server.call(wrong)).error).toMatch(/syntax error/)
    await finish()
    expect((await all()).map(({ error }) => error)).toEqual([undefined, undefined])
    expect(await stored()).toEqual(['a'])
  })

  const LOST = { error: 'D1_ERROR: Network connection lost.', afterStoring: true, times: 1 }

  test('of a busy database may have come too late', async () => {
    await server.addRule({
      value: 'b',
      error: 'D1_ERROR: database is locked: SQLITE_BUSY',
      times: 1,
    })
    const { finish } = await occupy()
    const all = await queue(insert('a'), insert('b'))
    await finish()
    for (const { error } of await all()) expect(error).toMatch(/SQLITE_BUSY/)
    expect(await sentNames()).toEqual([['first'], ['a', 'b']])
  })

  test('after which a write may be stored is passed on, and nobody repeats it', async () => {
    await server.addRule({ value: 'b', ...LOST })
    const { finish } = await occupy()
    const all = await queue(insert('a'), insert('b'), echo('c'))
    await finish()
    const [a, b, c] = await all()
    for (const each of [a, b]) expect(each?.error).toMatch(/Network connection lost/)
    expect(c?.error).toBeUndefined()
    expect(await sentNames()).toEqual([['first'], ['a', 'b', 'c'], ['c']])
    expect(await stored()).toEqual(['a', 'b'])
  })

  test.each([
    'D1_ERROR: database or disk is full: SQLITE_FULL',
    'D1_ERROR: Exceeded maximum DB size',
    'Too many subrequests by single Worker invocation.',
  ])('before anything is stored fails no other: %s', async (error) => {
    await server.addRule({ value: 'b', error })
    const { finish } = await occupy()
    const all = await queue(insert('a'), insert('b'), echo('c'))
    await finish()
    expect((await all()).map((each) => each.error)).toEqual([
      undefined,
      expect.stringContaining(error),
      undefined,
    ])
    expect(await stored()).toEqual(['a'])
  })

  test('of an overloaded database is passed on, and nobody asks again at once', async () => {
    await server.addRule({ value: 'b', error: 'D1_ERROR: D1 DB is overloaded.' })
    const { finish } = await occupy()
    const all = await queue(echo('a'), echo('b'))
    await finish()
    for (const { error } of await all()) expect(error).toMatch(/overloaded/)
    expect(await sentNames()).toEqual([['first'], ['a', 'b']])
  })

  test('of the platform is retried once by a client with retries', async () => {
    const store = (name: string): CallBody => ({
      form: 'run',
      statements: [{ text: INSERT.replace('INSERT', 'INSERT OR IGNORE'), values: [name] }],
      retries: true,
    })
    // Each has a joiner of its own.
    await server.call({ ...store('retried'), retries: true })
    await server.addRule({ value: 'b', ...LOST })
    await server.addRule({ value: 'slow', gate: 'slow' })
    const slow = server.call(store('slow'))
    await server.until((seen) => sent(seen).some((call) => namesOf(call).includes('slow')))
    const all = await queue(store('a'), store('b'))
    await server.openGate('slow')
    for (const { error } of [await slow, ...(await all())]) expect(error).toBeUndefined()
    expect((await stored()).toSorted()).toEqual(['a', 'b', 'retried', 'slow'])
    const names = (await sentNames()).flat()
    for (const name of ['a', 'b']) expect(names.filter((one) => one === name)).toHaveLength(2)
  })
})

describe('a client that disconnects', () => {
  test('while its call is the one under way delays the others by no more than 4 ms', async () => {
    await server.addRule({ value: 'left', gate: 'never' })
    const leave = server.callAndLeave(echo('left'))
    await server.until((seen) => sent(seen).length === 1)
    const all = await queue(insert('a'), echo('b'))
    await leave()
    await server.advance(4)
    expect((await all()).map(({ error }) => error)).toEqual([undefined, undefined])
    expect(await sentNames()).toEqual([['left'], ['a', 'b']])
  })

  test.each(['before', 'after'])('%s it sends a batch fails none of those in it', async (when) => {
    await server.addRule({ value: 'leader', gate: 'leader' })
    const { finish } = await occupy()
    const leave = server.callAndLeave(insert('leader'))
    await server.until(({ waiting }) => waiting === 1)
    const all = await queue(insert('a'), echo('b'))
    if (when === 'before') await leave()
    await finish()
    await server.until((seen) => sent(seen).length === 2)
    if (when === 'after') await leave()
    await server.openGate('leader')
    expect((await all()).map(({ error }) => error)).toEqual([undefined, undefined])
    expect(await sentNames()).toEqual([['first'], ['leader', 'a', 'b']])
    expect(await stored()).toEqual(['leader', 'a'])
  })

  test('never lets a follower wait for more than 25 s', async () => {
    await server.addRule({ value: 'leader', gate: 'never' })
    const { finish } = await occupy()
    const all = await queue(insert('leader'), insert('a'))
    await finish()
    await server.until((seen) => sent(seen).length === 2)
    await server.advance(4)
    await server.until(({ waiting }) => waiting === 0)
    await server.advance(25_000)
    for (const { error } of await all()) expect(error).toMatch(/Network connection lost/)
  })
})

describe('order and size', () => {
  const long = (name: string, length = 8000): CallBody => ({
    form: 'run',
    statements: [{ text: INSERT_LONG, values: [name, 'x'.repeat(length)] }],
  })

  test('a long call goes alone, after the small ones that came before it', async () => {
    await server.call(long('short', 1))
    const { finish } = await occupy()
    const all = await queue(...numbered('n', 5).map((name) => insert(name)))
    const last = await server.call(long('long'))
    expect(last.error).toBeUndefined()
    for (const { error } of await all()) expect(error).toBeUndefined()
    await server.call(insert('after'))
    await finish()
    const names = numbered('n', 5)
    expect((await sentNames()).slice(1)).toEqual([['first'], names, ['long'], ['after']])
    expect(await stored()).toEqual(['short', ...names, 'long', 'after'])
  })

  test('a long call comes after more small ones than one batch may have', async () => {
    const { finish } = await occupy()
    const parts = ['a', 'b', 'c'].map((prefix) => numbered(prefix, 60))
    const all = await queue(...parts.map((names) => insert(...names)))
    await server.call(long('long'))
    await finish()
    await all()
    expect(await stored()).toEqual([...parts.flat(), 'long'])
  })

  test('what a long call sends for others goes on after its own reply', async () => {
    await server.addRule({ value: 'a', gate: 'a' })
    const { finish } = await occupy()
    const all = await queue(insert('a'), echo('b'))
    expect((await server.call(long('long'))).error).toBeUndefined()
    await server.openGate('a')
    expect((await all()).map(({ error }) => error)).toEqual([undefined, undefined])
    await finish()
    expect(await sentNames()).toEqual([['first'], ['a', 'b'], ['long']])
  })

  test('a long call under way delays nobody', async () => {
    await server.addRule({ value: 'long', gate: 'long' })
    const outcome = server.call(long('long'))
    await server.until((seen) => sent(seen).length === 1)
    expect((await server.call(insert('a'))).error).toBeUndefined()
    expect(await stored()).toEqual(['a'])
    await server.openGate('long')
    expect((await outcome).error).toBeUndefined()
  })

  test('8,000 characters may join', async () => {
    await server.call(long('short', 1))
    const { finish } = await occupy()
    const all = await queue(insert('a'), long('long', 7996))
    await finish()
    await all()
    expect((await sentNames()).at(-1)).toEqual(['a', 'long'])
  })

  test('16,000 characters are the most of one batch', async () => {
    await server.call(long('short', 1))
    const { finish } = await occupy()
    const all = await queue(long('a', 7000), long('b', 7000), long('c', 7000), echo('d'))
    await finish()
    await server.advance(4)
    await all()
    expect((await sentNames()).slice(2)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
  })

  test('a write that may not join yet is sent after those that wait, and a read is not', async () => {
    const { finish } = await occupy()
    const all = await queue(insert('a'))
    await server.call({ form: 'all', statements: [{ text: COUNT, values: [1] }] })
    expect((await sentNames()).flat()).not.toContain('a')
    await server.call(long('unknown', 1))
    await finish()
    await all()
    expect(await stored()).toEqual(['a', 'unknown'])
  })

  test('a statement with long results goes alone', async () => {
    const text = 'SELECT value || value || value AS text FROM (SELECT ? AS value)'
    const tripled = (length: number): CallBody => ({
      form: 'all',
      statements: [{ text, values: ['x'.repeat(length)] }],
    })
    await server.call(tripled(10))
    const { finish } = await occupy()
    const all = await queue(tripled(10))
    await finish()
    await all()
    await server.call(tripled(6000))
    await occupy('second')
    expect((await server.call(tripled(10))).error).toBeUndefined()
    await server.openGate('second')
  })

  test.each([
    ['returned more than 50 rows', READ, 50, 51],
    ['read more than 1,000 rows', COUNT, 900, 1100],
  ])('a statement that %s goes alone for a minute', async (_, text, small, large) => {
    const read = (to: number): CallBody => ({ form: 'all', statements: [{ text, values: [to] }] })
    await server.call(read(small))
    const { finish } = await occupy()
    const all = await queue(read(small), read(large))
    await finish()
    await all()
    // It waits for nobody, and nobody for it.
    await server.addRule({ value: large, gate: 'large' })
    const { calls } = await server.look()
    const slow = server.call(read(large))
    await server.until((seen) => seen.calls.length > calls.length)
    expect(await server.call(echo('small'))).toEqual({ results: [{ value: 'small' }] })
    await occupy('second')
    expect((await server.call(read(small))).error).toBeUndefined()
    await server.openGate('large')
    await server.openGate('second')
    await slow

    await server.advance(120_000)
    await server.call(read(small))
    await occupy('third')
    await queue(read(small))
  })
})

describe.each([
  ['joins calls', true],
  ['cannot join calls', false],
])('the API in a runtime that %s', (_, joins) => {
  let api: JoinServer
  let call: (method: string, path: string, body?: object) => Promise<Reply>
  let devices: string[]
  const BEGAN_AT = Math.floor(Date.now() / 1000) * 1000 - 3_600_000

  interface Reply {
    device: { id: string }
    lastLocation: { latitude: number }
    locations: { latitude: number }[]
    accepted: number
  }

  beforeAll(async () => {
    api = joins ? server : await serveJoinWorker(script, { joins })
    await api.startClock()
    const account = await openAccount(api.base, adminToken, { userName: 'joined', licenses: 10 })
    call = account.call
    devices = []
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      devices.push((await call('POST', '/api/devices', { name })).device.id)
    // The first run of a statement shows that it may join.
    await report(devices[0] ?? '', [0])
    await readLast(devices[0] ?? '')
  }, 60_000)
  afterAll(() => (joins ? undefined : api?.stop()))
  beforeEach(() => api.begin())

  const report = (id: string, seconds: number[]) =>
    call('POST', `/api/devices/${id}/locations`, {
      locations: seconds.map((second) => ({
        dateTime: new Date(BEGAN_AT + second * 1000).toISOString(),
        latitude: second / 100,
        longitude: 2,
      })),
    })
  const readLast = async (id: string) =>
    (await call('GET', `/api/devices/${id}/lastLocation`)).lastLocation?.latitude
  /** Reads a device; the call to D1 is under way until the gate opens. */
  const occupyApi = async (id: string) => {
    await api.addRule({ value: id, gate: 'first', times: 1 })
    const outcome = readLast(id)
    await api.until(({ calls }) => calls.length === 1)
    return { outcome, finish: () => api.openGate('first') }
  }
  /** The devices of each call to D1. */
  const sentDevices = async () =>
    (await api.look()).calls.map(({ values }) => devices.filter((id) => values.flat().includes(id)))

  test('answers each request with its own result', async () => {
    const [first = '', ...others] = devices
    const { outcome, finish } = await occupyApi(first)
    const replies = others.map((id, index) => report(id, [index + 1]))
    if (joins) await api.until(({ waiting }) => waiting === others.length)
    else await Promise.all(replies)
    await finish()
    expect(await outcome).toBe(0)
    for (const { accepted } of await Promise.all(replies)) expect(accepted).toBe(1)
    const most = Math.max(...(await sentDevices()).map(({ length }) => length))
    expect(most).toBe(joins ? others.length : 1)
    await api.startClock()
    expect(await Promise.all(devices.map(readLast))).toEqual([0, 0.01, 0.02, 0.03, 0.04])
  })

  test('stores a report once whose connection was lost', async () => {
    const [first = '', second = '', third = ''] = devices
    const lost = { error: 'D1_ERROR: Network connection lost.', afterStoring: true, times: 1 }
    await api.addRule({ value: BEGAN_AT + 20_000, ...lost })
    const { finish } = await occupyApi(first)
    const replies = [report(second, [20]), report(third, [21])]
    if (joins) await api.until(({ waiting }) => waiting === 2)
    await finish()
    await Promise.all(replies)
    await api.startClock()
    for (const [id, latitude] of [
      [second, 0.2],
      [third, 0.21],
    ]) {
      const { locations } = await call('GET', `/api/devices/${id}/locations`)
      expect(locations.filter((one) => one.latitude === latitude)).toHaveLength(1)
    }
    const { calls } = await api.look()
    const attempts = calls.filter(({ values }) => values.flat().includes(BEGAN_AT + 20_000))
    expect(attempts.length).toBeGreaterThan(1)
  })

  if (!joins) return
  test('stores the reports of a device in the order in which they came', async () => {
    const [first = '', second = ''] = devices
    const { finish } = await occupyApi(first)
    const replies: Promise<Reply>[] = []
    for (const [index, time] of [33, 31, 32].entries()) {
      replies.push(report(second, [time]))
      await api.until(({ waiting }) => waiting === index + 1)
    }
    const seconds = Array.from({ length: 200 }, (_, index) => 100 + index)
    replies.push(report(second, seconds))
    await Promise.all(replies)
    await finish()
    const times = (await api.look()).calls.flatMap(({ values }) =>
      values.flat().flatMap((value) => /^\[\[(\d+),/.exec(String(value))?.[1] ?? []),
    )
    expect(times.map((time) => (Number(time) - BEGAN_AT) / 1000)).toEqual([33, 31, 32, 100])
  })
})
