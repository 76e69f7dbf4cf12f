import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { callWithBindings } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { iso } from '../../support/time.ts'

const DAY = 86_400_000

const place = (at: number, more: object = {}) => ({
  dateTime: iso(at),
  latitude: 38.7223,
  longitude: -9.1393,
  ...more,
})

let account: TestAccount
let device: string
let path: string
let now: number

beforeEach(async () => {
  account = await openAccount()
  device = await createDevice(account)
  path = `/api/devices/${device}/locations`
  now = Date.now()
})
afterEach(() => void vi.useRealTimers())

const report = (body: unknown) => account.call('POST', path, { body })
const track = async () => (await account.call('GET', path)).body.locations
const keepFor = (retentionDays: number) =>
  account.call('PATCH', '/api/account', { body: { retentionDays } })
const countsOf = ({ body }: Awaited<ReturnType<typeof report>>) => {
  const { accepted, duplicates, conflicts, tooOld, results } = body
  return { accepted, duplicates, conflicts, tooOld, results }
}

describe('a location with the dateTime of a stored one', () => {
  test('and other values is a conflict, and the stored one stands', async () => {
    await report(place(now, { speed: 1 }))
    const [stored] = await track()
    const alone = await report(place(now, { speed: 2 }))
    expect(alone.status).toBe(201)
    expect(alone.body).toEqual({
      success: true,
      accepted: 0,
      duplicates: 0,
      conflicts: 1,
      tooOld: 0,
      results: [{ index: 0, status: 'conflict' }],
      locations: [stored],
    })
    const among = await report([
      place(now - 1000),
      place(now, { speed: 1 }),
      place(now, { speed: 3 }),
      place(now - 2000),
    ])
    expect(countsOf(among)).toEqual({
      accepted: 2,
      duplicates: 1,
      conflicts: 1,
      tooOld: 0,
      results: [
        { index: 1, status: 'duplicate' },
        { index: 2, status: 'conflict' },
      ],
    })
    expect((await track()).at(-1)).toEqual(stored)
  })

  test.each<[string, object, object, 'duplicate' | 'conflict']>([
    ['one member more', {}, { speed: 0 }, 'conflict'],
    ['one member less', { source: 'gnss' }, {}, 'conflict'],
    ['another source', { source: 'gnss' }, { source: 'network' }, 'conflict'],
    ['another latitude, finer than its column', {}, { latitude: 38.72230000001 }, 'conflict'],
    ['another value in rest', { fuel: 1 }, { fuel: 2 }, 'conflict'],
    [
      'other attributes of the same length',
      { attributes: { a: 1 } },
      { attributes: { b: 1 } },
      'conflict',
    ],
    ['another order of a list', { inputs: [1, 2] }, { inputs: [2, 1] }, 'conflict'],
    ['text instead of a number', { alerts: [7] }, { alerts: ['7'] }, 'conflict'],
    ['its members in another order', { fuel: 1, rpm: 2 }, { rpm: 2, fuel: 1 }, 'duplicate'],
    [
      'its attributes in another order',
      { attributes: { a: { x: 'é', y: [1] }, b: null } },
      { attributes: { b: null, a: { y: [1], x: 'é' } } },
      'duplicate',
    ],
    ['0 for −0', { attributes: { a: -0, b: 1 } }, { attributes: { b: 1, a: 0 } }, 'duplicate'],
    [
      'null for a member left out',
      {},
      { speed: null, attributes: null, source: null },
      'duplicate',
    ],
  ])('and %s', async (_, first, second, status) => {
    await report(place(now, first))
    expect((await report(place(now, second))).body.results).toEqual([{ index: 0, status }])
    const several = await report([place(now - 1), place(now, second)])
    expect(several.body).toMatchObject({ accepted: 1, results: [{ index: 1, status }] })
  })

  test('twice in one report is compared with the first of the two', async () => {
    const twice = await report([
      place(now, { speed: 1 }),
      place(now, { speed: 2 }),
      place(now, { speed: 1 }),
    ])
    expect(countsOf(twice)).toEqual({
      accepted: 1,
      duplicates: 1,
      conflicts: 1,
      tooOld: 0,
      results: [
        { index: 1, status: 'conflict' },
        { index: 2, status: 'duplicate' },
      ],
    })
    expect(await track()).toMatchObject([{ speed: 1 }])
  })
})

describe('the counts of a report', () => {
  test('and its results agree with a model, whatever is sent', async () => {
    const stored = new Map<number, number>()
    const old = now - 400 * DAY
    const item = fc.tuple(fc.integer({ min: -2, max: 9 }), fc.integer({ min: 1, max: 2 }))
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 8 }), async (items) => {
        const expected = items.map(([slot, speed]) => {
          if (slot < 0) return 'tooOld'
          const before = stored.get(slot)
          if (before === undefined) stored.set(slot, speed)
          return before === undefined ? 'accepted' : before === speed ? 'duplicate' : 'conflict'
        })
        const reply = await report(
          items.map(([slot, speed]) => place(slot < 0 ? old : now - slot * 1000, { speed })),
        )
        const count = (status: string) => expected.filter((one) => one === status).length
        if (count('tooOld') === items.length) {
          expect([reply.status, reply.body.code]).toEqual([400, 'report-too-old'])
          return
        }
        const results = expected.flatMap((status, index) =>
          status === 'accepted' ? [] : [{ index, status }],
        )
        expect(countsOf(reply)).toEqual({
          accepted: count('accepted'),
          duplicates: count('duplicate'),
          conflicts: count('conflict'),
          tooOld: count('tooOld'),
          results: results.length > 0 ? results : undefined,
        })
      }),
      { numRuns: 40, ...(env.MODEL_SEED && { seed: Number(env.MODEL_SEED) }) },
    )
    expect(await track()).toHaveLength(stored.size)
  })

  test('add up for reports that arrive in the same millisecond', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now })
    const sent = Array.from({ length: 5 }, (_, index) => place(now - index * 1000))
    const replies = await Promise.all(Array.from({ length: 8 }, () => report(sent)))
    const counts = replies.map(countsOf)
    expect(counts.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(5)
    for (const { accepted, duplicates, results = [] } of counts) {
      expect([accepted + duplicates, results.length]).toEqual([5, duplicates])
    }
  })

  test('come with the first hundred that were not accepted', async () => {
    const sent = Array.from({ length: 150 }, (_, index) => place(now - index * 1000))
    await report(sent)
    const again = await report([place(now + 1), ...sent])
    expect(again.body).toMatchObject({ accepted: 1, duplicates: 150 })
    expect(again.body.results.map(({ index }: { index: number }) => index)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 1),
    )
  })

  test('cost a read only when a location was neither accepted nor too old', async () => {
    const prepare = vi.spyOn(env.DB, 'prepare')
    const statementsOf = async (body: unknown) => {
      prepare.mockClear()
      expect((await report(body)).status).toBe(201)
      return prepare.mock.calls.length
    }
    try {
      await report(place(now))
      const usual = await statementsOf(place(now - 1000))
      expect(usual).toBe(3)
      expect(await statementsOf([place(now - 2000), place(now - 3000)])).toBe(usual)
      // Its month may be in the bucket: the device and the month are looked up.
      expect(await statementsOf([place(now - 4000), place(now - 400 * DAY)])).toBe(usual + 2)
      expect(await statementsOf(place(now))).toBe(usual + 1)
    } finally {
      prepare.mockRestore()
    }
  })
})

describe('a location older than the account’s retention', () => {
  test('is not stored, and counted', async () => {
    const edge = now - 365 * DAY
    const reply = await report([
      place(edge - 60_000),
      place(edge + 60_000),
      place(now - 3000 * DAY),
      place(now),
    ])
    expect(reply.status).toBe(201)
    expect(countsOf(reply)).toEqual({
      accepted: 2,
      duplicates: 0,
      conflicts: 0,
      tooOld: 2,
      results: [
        { index: 0, status: 'tooOld' },
        { index: 2, status: 'tooOld' },
      ],
    })
    expect((await track()).map(({ dateTime }: { dateTime: string }) => dateTime)).toEqual([
      iso(edge + 60_000),
      iso(now),
    ])
  })

  test('is kept to the millisecond', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now })
    const edge = now - 365 * DAY
    const reply = await report([place(edge - 1), place(edge)])
    expect(reply.body).toMatchObject({ accepted: 1, tooOld: 1, results: [{ index: 0 }] })
  })

  test('alone is 400 and changes nothing but lastContact', async () => {
    for (const body of [place(now - 400 * DAY), [place(now - 366 * DAY), place(now - 900 * DAY)]]) {
      const refused = await report(body)
      expect([refused.status, refused.body.code]).toEqual([400, 'report-too-old'])
      expect(refused.body.detail).toContain('older than the account keeps')
    }
    expect(await track()).toEqual([])
    const { lastContact } = (await account.call('GET', `/api/devices/${device}`)).body.device
    expect(Date.parse(lastContact)).toBeGreaterThanOrEqual(now)
  })

  test('depends on the retention of the moment', async () => {
    expect((await report(place(now - 400 * DAY))).status).toBe(400)
    expect((await keepFor(500)).status).toBe(200)
    expect((await report(place(now - 400 * DAY))).body).toMatchObject({ accepted: 1, tooOld: 0 })
    expect((await keepFor(10)).status).toBe(200)
    expect((await report([place(now - 11 * DAY), place(now)])).body).toMatchObject({
      accepted: 1,
      tooOld: 1,
    })
  })
})

/** The same database; whether someone subscribes to locations changes before every batch. */
const withChangingSubscribers = (attempts: () => void): D1Database => {
  let until = 0
  const flip = () => {
    until = until === 0 ? 9e15 : 0
    return env.DB.prepare(
      `INSERT INTO event_heads (account_id, sequence, location_streams_until) VALUES (?1, 0, ?2)
       ON CONFLICT (account_id) DO UPDATE SET location_streams_until = ?2`,
    )
      .bind(account.id, until)
      .run()
  }
  return new Proxy(env.DB, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'batch') return member.bind(target)
      return async (statements: D1PreparedStatement[]) => {
        attempts()
        await flip()
        return target.batch(statements)
      }
    },
  })
}

test('a report whose account changes at every attempt is 503, and nothing is stored', async () => {
  const attempts = vi.fn()
  const DB = withChangingSubscribers(attempts)
  const sent = { token: account.token, body: place(now) }
  const reply = await callWithBindings({ DB }, 'POST', path, sent)
  expect([reply.status, reply.body.code]).toEqual([503, 'unavailable'])
  expect(reply.headers.get('Retry-After')).toBeTruthy()
  expect(attempts).toHaveBeenCalledTimes(6)
  expect(await track()).toEqual([])
  expect((await report(place(now))).body).toMatchObject({ accepted: 1 })
})
