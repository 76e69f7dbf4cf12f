import { createExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { app } from '../../../src/app.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { callWithBindings, watchStatements } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { ORIGIN, requestOf } from '../../support/http.ts'
import { daysAgo, iso } from '../../support/time.ts'

/* Queries by POST without `limit`: the reply has the whole span. */

const START = daysAgo(200)
const END = daysAgo(0)
const SPAN = { from: iso(START), to: iso(END) }
const NUMBERS = 'WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)'

interface Kind {
  list: 'locations' | 'alerts'
  /** More than one page of a whole span. */
  long: number
  max: number
  /** How many ordered reads there are before the stream begins. */
  firstReads: number
  /** Adds so many rows, a second apart from `START + at`, without a request for each. */
  insert: string
}
const LOCATIONS: Kind = {
  list: 'locations',
  long: 9001,
  max: 100_000,
  firstReads: 1,
  insert: `INSERT INTO locations (device_key, time, latitude, longitude, received_at, rest)
    ${NUMBERS} SELECT key, ?3 + i * 1000, i, -i, ?3, iif(i % 7 = 0, '{"fuel":1}', NULL)
    FROM n, devices WHERE id = ?1`,
}
const ALERTS: Kind = {
  list: 'alerts',
  long: 2500,
  max: 10_000,
  firstReads: 3,
  insert: `INSERT INTO alerts (account_id, device_key, id, time, name, text, messages, acknowledged_at)
    ${NUMBERS} SELECT account_id, key, 'alr_' || key || printf('_%015d', ?3 + i), ?3 + i * 1000,
      iif(i % 100 = 0, 'Rare', 'Often'), 'é"' || i, 0, iif(i % 4 = 0, ?3, NULL)
    FROM n, devices WHERE id = ?1`,
}
const KINDS = [LOCATIONS, ALERTS]

let account: TestAccount
let device: string
const addRows = (kind: Kind, count: number, { id = device, at = 0 } = {}) =>
  env.DB.prepare(kind.insert)
    .bind(id, count, START + at)
    .run()
const pathOf = ({ list }: Kind, id = device) => `/api/devices/${id}/${list}`
const ask = (kind: Kind, body: object) => account.call('POST', pathOf(kind), { body })
const timesIn = (kind: Kind, body: Record<string, { dateTime: string }[]>) =>
  (body[kind.list] ?? []).map(({ dateTime }) => Date.parse(dateTime))
const seconds = (count: number, step = 1) =>
  Array.from({ length: count }, (_, index) => START + index * step * 1000)

/** Starts a query and leaves its reply unread. */
const begin = ({ token }: TestAccount, path: string) =>
  exports.default.fetch(`${ORIGIN}${path}`, requestOf('POST', { token, body: SPAN }))

afterEach(() => void vi.useRealTimers())
beforeEach(async () => {
  account = await openAccount()
  device = await createDevice(account)
})

describe.each(KINDS)('a query of $list without limit', (kind) => {
  test('has every row of the span, also beyond a page', async () => {
    await addRows(kind, 1001)
    const short = await ask(kind, SPAN)
    expect([short.status, short.headers.get('Content-Type')]).toEqual([200, 'application/json'])
    expect(timesIn(kind, short.body)).toEqual(seconds(1001))
    expect([short.body.success, short.body.nextCursor, short.headers.get('Link')]).toEqual([
      true,
      null,
      null,
    ])
    await addRows(kind, kind.long - 1001, { at: 1001 * 1000 })
    const long = await ask(kind, SPAN)
    expect([long.status, long.headers.get('Content-Type')]).toEqual([200, 'application/json'])
    expect(timesIn(kind, long.body)).toEqual(seconds(kind.long))
    expect([long.body.success, long.body.nextCursor]).toEqual([true, null])
    const pages = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await ask(kind, { ...SPAN, limit: 1000, ...(cursor && { cursor }) })
      pages.push(...page.body[kind.list])
      cursor = page.body.nextCursor
    }
    expect(long.body[kind.list]).toEqual(pages)
  })

  test('is open at the end that is missing or null', async () => {
    await addRows(kind, 5)
    const [first, last] = [iso(START + 1000), iso(START + 3000)]
    const counts = []
    for (const body of [
      { from: first },
      { from: first, to: null },
      { to: last },
      { from: null, to: last },
    ])
      counts.push(timesIn(kind, (await ask(kind, body)).body).length)
    expect(counts).toEqual([4, 4, 4, 4])
  })

  test('pages with limit, and by 1000 with a cursor alone', async () => {
    await addRows(kind, 2100)
    const limited = await ask(kind, { ...SPAN, limit: 50, cursor: null })
    expect(timesIn(kind, limited.body)).toEqual(seconds(50))
    const { nextCursor: cursor } = limited.body
    const next = await ask(kind, { ...SPAN, limit: null, cursor })
    expect(timesIn(kind, next.body)).toEqual(seconds(1050).slice(50))
    expect(next.body.nextCursor).not.toBeNull()
    expect(next.headers.get('Link')).toContain('limit=1000')
    expect(timesIn(kind, (await account.call('GET', pathOf(kind))).body)).toHaveLength(1000)
  })

  test('with more rows than one reply may have is 400 and says how to page', async () => {
    await addRows(kind, kind.max)
    expect(timesIn(kind, (await ask(kind, SPAN)).body)).toHaveLength(kind.max)
    await addRows(kind, 1, { at: kind.max * 1000 })
    for (let n = 0; n < 4; n++) {
      const refused = await ask(kind, SPAN)
      expect([refused.status, refused.body.code]).toEqual([400, 'span-too-large'])
      expect(refused.body.detail).toContain(kind.max.toLocaleString('en'))
      expect(refused.body.detail).toMatch(/`limit`.*`nextCursor`.*`cursor`.*shorter span/)
    }
    expect((await ask(kind, { ...SPAN, limit: 10 })).status).toBe(200)
    const shorter = { ...SPAN, from: iso(START + 1000) }
    expect(timesIn(kind, (await ask(kind, shorter)).body)).toHaveLength(kind.max)
  })

  test('counts the span only when its first page is full', async () => {
    const prepare = vi.spyOn(env.DB, 'prepare')
    const counted = async () => {
      prepare.mockClear()
      await ask(kind, SPAN)
      return prepare.mock.calls.filter(([sql]) => /count\(\*\)/.test(sql)).length
    }
    await addRows(kind, 1000)
    const short = await counted()
    await addRows(kind, kind.long, { at: 1000 * 1000 })
    expect([short, await counted()]).toEqual([0, 1])
    prepare.mockRestore()
  })

  test('fails as a whole when a later page cannot be read, and frees its slot', async () => {
    await addRows(kind, kind.long)
    for (let n = 0; n < 4; n++) {
      let reads = 0
      const breaking = watchStatements(env.DB, (sql) => {
        if (/FROM "(locations|alerts)"|JOIN "locations"/.test(sql) && /ORDER BY/.test(sql)) reads++
        if (reads > kind.firstReads) throw new Error('D1_ERROR: Network connection lost.')
      })
      const sent = { token: account.token, body: SPAN }
      await expect(callWithBindings({ DB: breaking }, 'POST', pathOf(kind), sent)).rejects.toThrow(
        'connection lost',
      )
    }
    expect((await ask(kind, SPAN)).status).toBe(200)
  })

  test('fails when the device is deleted while the reply is sent', async () => {
    await addRows(kind, kind.long)
    const query = requestOf('POST', { token: account.token, body: SPAN })
    const url = `${ORIGIN}${pathOf(kind)}`
    const response = await app.request(url, query, env, createExecutionContext())
    expect(response.status).toBe(200)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    const readNext = async () => {
      const { value, done } = await reader.read()
      text += new TextDecoder().decode(value)
      return !done
    }
    await readNext()
    expect((await account.call('DELETE', `/api/devices/${device}`)).status).toBe(200)
    const readAll = async () => {
      while (await readNext());
    }
    await expect(readAll()).rejects.toThrow('not-found')
    expect(text.length).toBeGreaterThan(1000)
    expect(() => JSON.parse(text)).toThrow()
  })

  test('is 404 for a device of another account', async () => {
    const other = await openAccount()
    expect((await other.call('POST', pathOf(kind), { body: SPAN })).status).toBe(404)
  })
})

describe('long queries', () => {
  test('of one account are three at a time: a fourth is 429, other accounts are served', async () => {
    const other = await openAccount()
    const theirs = await createDevice(other)
    await addRows(LOCATIONS, LOCATIONS.long)
    await addRows(ALERTS, ALERTS.long)
    await addRows(LOCATIONS, LOCATIONS.long, { id: theirs })
    const running = [
      await begin(account, pathOf(LOCATIONS)),
      await begin(account, pathOf(ALERTS)),
      await begin(account, pathOf(LOCATIONS)),
    ]
    expect(running.map(({ status }) => status)).toEqual([200, 200, 200])
    for (const kind of KINDS) {
      const refused = await ask(kind, SPAN)
      expect([refused.status, refused.body.code]).toEqual([429, 'too-many-requests'])
      expect(refused.headers.get('Retry-After')).toBe('10')
      expect(refused.headers.get('RateLimit')).toMatch(/^"account"/)
      expect(refused.body.detail).toContain('3 long exports or queries')
      expect((await ask(kind, { ...SPAN, limit: 1000 })).status).toBe(200)
      expect((await ask(kind, { ...SPAN, to: iso(START + 5000) })).status).toBe(200)
    }
    const exported = await account.call('GET', `${pathOf(LOCATIONS)}?format=csv`)
    expect(exported.status).toBe(429)
    const served = await other.call('POST', pathOf(LOCATIONS, theirs), { body: SPAN })
    expect(timesIn(LOCATIONS, served.body)).toHaveLength(LOCATIONS.long)
    const [first, ...others] = running
    await first?.text()
    expect((await ask(ALERTS, SPAN)).status).toBe(200)
    // The other two are abandoned: their slots are free after a minute.
    expect(others).toHaveLength(2)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    const again = await Promise.all([1, 2, 3].map(() => begin(account, pathOf(LOCATIONS))))
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200])
    for (const response of again) await response.text()
  })
})

describe('filters of alerts', () => {
  test('hold for the whole span, and null means all', async () => {
    await addRows(ALERTS, 6000)
    const counts = []
    for (const filter of [
      { alertName: null, acknowledged: null, sort: null, alert: null },
      { alertName: 'Rare' },
      { acknowledged: true },
      { acknowledged: false },
      { alertName: 'Often', acknowledged: true },
    ])
      counts.push(timesIn(ALERTS, (await ask(ALERTS, { ...SPAN, ...filter })).body).length)
    expect(counts).toEqual([6000, 60, 1500, 4500, 1440])
    const newest = await ask(ALERTS, { ...SPAN, alertName: 'Rare', sort: '-dateTime' })
    expect(timesIn(ALERTS, newest.body)).toEqual(seconds(60, 100).reverse())
  })

  test('count what matches, and no span is searched without end', async () => {
    await addRows(ALERTS, 100_000)
    const rare = { ...SPAN, alertName: 'Rare' }
    expect(timesIn(ALERTS, (await ask(ALERTS, rare)).body)).toEqual(seconds(1000, 100))
    const often = await ask(ALERTS, { ...SPAN, alertName: 'Often' })
    expect([often.status, often.body.code]).toEqual([400, 'span-too-large'])
    await addRows(ALERTS, 1, { at: 100_000 * 1000 })
    const refused = await ask(ALERTS, rare)
    expect([refused.status, refused.body.code]).toEqual([400, 'span-too-large'])
    expect(refused.body.detail).toContain('more than 100,000 alerts to search')
  })
})

describe('a body with null for a location', () => {
  test('beside from and to is a query', async () => {
    await addRows(LOCATIONS, 3)
    for (const nulls of [
      { location: null },
      { locations: null },
      { location: null, locations: null },
    ])
      expect(timesIn(LOCATIONS, (await ask(LOCATIONS, { ...SPAN, ...nulls })).body)).toHaveLength(3)
  })

  test('alone, or beside ends that are null, is 400; a location beside nulls is a report', async () => {
    const pointers = async (body: object) => {
      const reply = await ask(LOCATIONS, body)
      expect(reply.status).toBe(400)
      return reply.body.errors.map(({ pointer }: { pointer: string }) => pointer)
    }
    expect(await pointers({ location: null })).toEqual(['/location'])
    expect(await pointers({ locations: null, from: null, to: null })).toEqual(['/locations'])
    expect(await pointers({ from: null, to: null })).toContain('/dateTime')
    expect(await pointers({ limit: 5 })).toContain('/dateTime')
    const location = { dateTime: iso(END), latitude: 1, longitude: 2, speed: null, source: null }
    const reported = await ask(LOCATIONS, { location, locations: null, from: null, to: null })
    expect([reported.status, reported.body.accepted]).toEqual([201, 1])
    expect(reported.body.locations[0]).not.toHaveProperty('speed')
    expect(await pointers({ location, locations: [location] })).toEqual(['/locations'])
  })

  test('an alert of null is a query, and optional members of an alert may be null', async () => {
    const queried = await ask(ALERTS, { alert: null, ...SPAN, alertName: null })
    expect([queried.status, queried.body.alerts]).toEqual([200, []])
    const members = { text: null, dateTime: null, latitude: null, longitude: null }
    const alert = { alertName: 'Offline', ...members, notifications: null }
    const raised = await ask(ALERTS, { alert, from: null, to: null })
    expect([raised.status, raised.body.alert.text]).toEqual([201, ''])
  })
})
