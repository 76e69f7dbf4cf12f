import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { fetchTokenWithScopes, openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { readMessages } from '../../support/alerts/messages.ts'
import { callWithBindings } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { call } from '../../support/http.ts'
import { iso } from '../../support/time.ts'
import { createUser } from '../../support/users.ts'

const MINUTE = 60_000
const DAY = 1440 * MINUTE

let account: TestAccount
let device: string
let path: string
let now: number

beforeEach(async () => {
  account = await openAccount()
  await createUser(account)
  device = await createDevice(account)
  path = `/api/devices/${device}/locations`
  now = Date.now()
})

const place = (at: number, more: object = {}) => ({
  dateTime: iso(at),
  latitude: 38.7223,
  longitude: -9.1393,
  ...more,
})
const sos = (at: number, more: object = {}) => place(at, { alerts: ['SOSButton'], ...more })

const report = (body: unknown, headers: Record<string, string> = {}) =>
  account.call('POST', path, { body, headers })
const readAlerts = async (id = device) =>
  (await account.call('GET', `/api/devices/${id}/alerts`)).body.alerts
const pending = async (): Promise<number> =>
  (await env.DB.prepare('SELECT count(*) AS n FROM pending_raises WHERE account_id = ?')
    .bind(account.id)
    .first<number>('n')) ?? 0

/** Bindings whose ledgers cannot be reached. */
const WITHOUT_LEDGER = {
  LEDGER: {
    idFromName: (name: string) => env.LEDGER.idFromName(name),
    get: () => ({
      raisePendingAlerts: () => Promise.reject(new Error('the test does not reach the ledger')),
    }),
  } as unknown as typeof env.LEDGER,
}
/** A report that crashes between its batch and the ledger. */
const crashReport = (body: unknown, headers: Record<string, string> = {}) =>
  callWithBindings(WITHOUT_LEDGER, 'POST', path, { token: account.token, body, headers })

describe('an emergency in a location', () => {
  test('raises one alert at the place and time of the location, and notifies the users', async () => {
    const [user] = (await account.call('GET', '/api/users')).body.users
    const reply = await report(sos(now, { speed: 12.5, alertTexts: ['Man\noverboard'] }))
    expect(reply.status).toBe(201)
    expect(reply.body.accepted).toBe(1)
    expect(await readAlerts()).toMatchObject([
      {
        alerts: ['SOSButton'],
        text: 'Man overboard',
        dateTime: iso(now),
        latitude: 38.7223,
        longitude: -9.1393,
        positionTime: iso(now),
        positionSource: 'reported',
        emergency: true,
        deliveries: [{ channel: 'Email', to: user.email }],
      },
    ])
    expect(await pending()).toBe(0)
  })

  test('hasCriticalAlert raises CriticalAlert; other names raise nothing', async () => {
    await report(place(now, { alerts: ['LowBattery', 7], warnings: ['SOSButton'] }))
    expect(await readAlerts()).toEqual([])
    await report(place(now + 1, { hasCriticalAlert: true, alerts: ['LowBattery'] }))
    expect(await readAlerts()).toMatchObject([{ alerts: ['CriticalAlert'], emergency: true }])
    await report(place(now + 2, { hasCriticalAlert: false }))
    expect(await readAlerts()).toHaveLength(1)
  })

  test('a name raises once for a report, at its newest location', async () => {
    const several = [sos(now - 2000), sos(now - 1000, { latitude: 40 }), sos(now - 3000)]
    expect((await report(several)).body.accepted).toBe(3)
    expect(await readAlerts()).toMatchObject([{ dateTime: iso(now - 1000), latitude: 40 }])
  })

  test('an ingest key is enough', async () => {
    const token = await fetchTokenWithScopes(account, ['ingest'])
    expect((await call('POST', path, { token, body: sos(now) })).status).toBe(201)
    expect(await readAlerts()).toHaveLength(1)
  })

  test('the account’s own names raise as soon as they are set', async () => {
    await report(place(now - 2, { alerts: ['ManDown'] }))
    expect(await readAlerts()).toEqual([])
    const changed = await account.call('PATCH', '/api/account', {
      body: { emergencyAlerts: ['ManDown'] },
    })
    expect(changed.status, changed.text).toBe(200)
    await report(sos(now - 1))
    expect(await readAlerts()).toEqual([])
    await report(place(now, { alerts: ['SOSButton', 'ManDown'] }))
    expect(await readAlerts()).toMatchObject([{ alerts: ['ManDown'], emergency: true }])
  })

  test('a later one joins the open alert, and its place is kept', async () => {
    await report(sos(now - 5 * MINUTE))
    await report(sos(now, { latitude: 40 }))
    expect(await readAlerts()).toMatchObject([
      { updates: [{ dateTime: iso(now), latitude: 40, longitude: -9.1393 }] },
    ])
    expect(await readMessages(account)).toHaveLength(1)
  })

  test('a location that is too old is not stored, but raises with the time of its arrival', async () => {
    await account.call('PATCH', '/api/account', { body: { retentionDays: 1 } })
    const before = Date.now()
    const reply = await report(sos(now - 2 * DAY))
    expect([reply.status, reply.body]).toMatchObject([
      201,
      { accepted: 0, tooOld: 1, results: [{ index: 0, status: 'tooOld' }] },
    ])
    const [raised] = await readAlerts()
    expect(raised).toMatchObject({ emergency: true, late: false, latitude: 38.7223 })
    expect(Date.parse(raised.dateTime)).toBeGreaterThanOrEqual(before)
    expect(await pending()).toBe(0)
    await report(sos(now - 2 * DAY))
    expect(await readAlerts()).toHaveLength(1)
    expect((await report(place(now - 3 * DAY))).status).toBe(400)
  })

  test('at a time that the device has another location for, it raises all the same', async () => {
    await report(place(now))
    const reply = await report(sos(now, { latitude: 40 }))
    expect(reply.body).toMatchObject({ accepted: 0, conflicts: 1 })
    expect(await readAlerts()).toMatchObject([{ dateTime: iso(now), latitude: 40 }])
  })
})

describe('the same emergency', () => {
  test('reported again, in whatever batch, raises nothing more', async () => {
    await report(sos(now))
    await report(sos(now))
    await report([place(now - 1), sos(now)], { 'Idempotency-Key': 'again' })
    const [alert, ...others] = await readAlerts()
    expect(others).toEqual([])
    expect(alert.updates).toEqual([])
    expect(await readMessages(account)).toHaveLength(1)
    expect(await readEvents(account, 'alert.raised')).toHaveLength(1)
  })

  test('reported in parallel is raised once', async () => {
    const replies = await Promise.all(Array.from({ length: 12 }, () => report(sos(now))))
    expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(201))
    expect(replies.reduce((sum, { body }) => sum + body.accepted, 0)).toBe(1)
    const [alert, ...others] = await readAlerts()
    expect([others, alert.updates]).toEqual([[], []])
    expect(await readMessages(account)).toHaveLength(1)
  })

  test('twelve of them in parallel, each at its own time, are one alert and eleven places', async () => {
    const times = Array.from({ length: 12 }, (_, n) => now - n * 1000)
    await Promise.all(times.map((at) => report(sos(at))))
    const [alert, ...others] = await readAlerts()
    expect(others).toEqual([])
    const stored = [
      alert.dateTime,
      ...alert.updates.map((one: { dateTime: string }) => one.dateTime),
    ]
    expect(stored.sort()).toEqual(times.map(iso).sort())
    expect(await readMessages(account)).toHaveLength(1)
  })

  test.each(['SOSButton', 'CriticalAlert'])(
    'raised by POST …/alerts with the same dateTime is the same alert (%s)',
    async (name) => {
      const sent = {
        SOSButton: { alerts: ['SOSButton'] },
        CriticalAlert: { hasCriticalAlert: true },
      }
      const carried = sent[name as keyof typeof sent]
      await report(place(now, carried))
      const [alert] = await readAlerts()
      const same = await raiseAlert(account, device, { alertName: name, dateTime: iso(now) })
      expect([same.status, same.body.alert.id]).toEqual([201, alert.id])

      const first = await raiseAlert(account, device, {
        alertName: name,
        dateTime: iso(now - 2 * 60 * MINUTE),
      })
      await report(place(now - 2 * 60 * MINUTE, carried))
      const alerts = await readAlerts()
      expect(alerts).toHaveLength(2)
      expect(alerts.map(({ id }: { id: string }) => id)).toContain(first.body.alert.id)
    },
  )

  test('of another device or another time is another alert', async () => {
    const other = await createDevice(account, 'Tern 8')
    await report(sos(now))
    await account.call('POST', `/api/devices/${other}/locations`, { body: sos(now) })
    const [[mine], [theirs]] = [await readAlerts(), await readAlerts(other)]
    expect(mine.id).not.toBe(theirs.id)
  })
})

describe('a crash between the report and the ledger', () => {
  test('is a 503, and the repeat hands the emergency over', async () => {
    const crashed = await crashReport(sos(now), { 'Idempotency-Key': 'sos' })
    expect([crashed.status, crashed.body.code]).toEqual([503, 'unavailable'])
    expect(crashed.headers.get('Retry-After')).not.toBeNull()
    expect(await readAlerts()).toEqual([])
    expect(await pending()).toBe(1)

    const repeated = await report(sos(now), { 'Idempotency-Key': 'sos' })
    expect([repeated.status, repeated.body.duplicates]).toEqual([201, 1])
    expect(await readAlerts()).toHaveLength(1)
    expect(await pending()).toBe(0)
  })

  test('is raised by the sweep, once, if nobody repeats the report', async () => {
    await crashReport([sos(now), place(now - 1, { hasCriticalAlert: true })])
    expect(await pending()).toBe(2)
    await sweep(env, Date.now())
    expect(await pending(), 'a report that still runs is left alone').toBe(2)
    const before = (await account.call('GET', `/api/devices/${device}`)).body.device
    await sweep(env, Date.now() + MINUTE)
    await sweep(env, Date.now() + MINUTE)
    expect(await pending()).toBe(0)
    const after = (await account.call('GET', `/api/devices/${device}`)).body.device
    expect(after.lastContact, 'the sweep is no contact').toBe(before.lastContact)
    const alerts = await readAlerts()
    expect(alerts.map(({ alerts: [name] }: { alerts: string[] }) => name).sort()).toEqual([
      'CriticalAlert',
      'SOSButton',
    ])
    expect(alerts[0]).toMatchObject({ latitude: 38.7223, positionSource: 'reported' })
    expect(await readMessages(account)).toHaveLength(2)
  })

  test('of the same instant is kept beside another until each is decided on', async () => {
    for (const battery of [1, 2]) await crashReport(sos(now, { battery }))
    expect(await pending()).toBe(2)
    await report(sos(now, { battery: 2 }))
    expect(await pending()).toBe(1)
    await sweep(env, Date.now() + MINUTE)
    expect(await pending()).toBe(0)
    expect(await readAlerts()).toHaveLength(1)
  })

  test('leaves nothing behind for a device that was deleted meanwhile', async () => {
    await crashReport(sos(now))
    await account.call('DELETE', `/api/devices/${device}`)
    await sweep(env, Date.now() + MINUTE)
    expect(await pending()).toBe(0)
    expect((await account.call('GET', '/api/alerts')).body.alerts).toEqual([])
  })

  test('of one account does not hold up another', async () => {
    const broken = await openAccount()
    const raise = JSON.stringify({ deviceId: device, alert: { id: 'alr_x' } })
    const insert = (n: number) =>
      env.DB.prepare(
        'INSERT INTO pending_raises (id, account_id, creation, raise) VALUES (?, ?, ?, ?)',
      ).bind(`alr_x${n}`, broken.id, n, raise)
    await env.DB.batch(Array.from({ length: 300 }, (_, n) => insert(n)))
    await crashReport(sos(now))
    const brokenId = env.LEDGER.idFromName(broken.id)
    const calls: number[] = []
    const LEDGER = {
      idFromName: (name: string) => env.LEDGER.idFromName(name),
      get: (id: DurableObjectId) =>
        id.equals(brokenId)
          ? {
              raisePendingAlerts: (raises: unknown[]) => {
                calls.push(raises.length)
                return Promise.reject(new Error('the test breaks this ledger'))
              },
            }
          : env.LEDGER.get(id),
    } as unknown as typeof env.LEDGER
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    await sweep({ ...env, LEDGER }, Date.now() + MINUTE)
    errors.mockRestore()
    expect(calls).toEqual([50, 50, 50, 50, 50, 50])
    expect(await readAlerts()).toHaveLength(1)
    expect(await pending()).toBe(0)
    await env.DB.prepare('DELETE FROM pending_raises WHERE account_id = ?').bind(broken.id).run()
  })
})

describe('an expired device', () => {
  beforeEach(async () => {
    await account.call('PATCH', `/api/devices/${device}`, {
      body: { limits: { expires: true, expirationDate: '2020-01-01' } },
    })
  })

  test('gets a 409 with the id of the alert, and its location is not stored', async () => {
    const refused = await report(sos(now))
    expect([refused.status, refused.body.code]).toEqual([409, 'device-expired'])
    const [alert] = await readAlerts()
    expect(alert).toMatchObject({ alerts: ['SOSButton'], emergency: true })
    expect(refused.body.alertId).toBe(alert.id)
    expect((await account.call('GET', path)).body.locations).toEqual([])
    expect(await pending()).toBe(0)
    expect(await readEvents(account, 'alert.undelivered')).toHaveLength(1)
  })

  test('raises at most one in ten minutes; a repeat has the same id', async () => {
    const first = await report(sos(now))
    const again = await report(sos(now))
    expect([again.status, again.body.alertId]).toEqual([409, first.body.alertId])
    const later = await report(sos(now + 1000))
    expect([later.status, later.body.alertId]).toEqual([409, undefined])
    expect(await readAlerts()).toHaveLength(1)
    expect(await pending()).toBe(0)
  })

  test('without an emergency raises nothing', async () => {
    const refused = await report(place(now, { alerts: ['LowBattery'] }))
    expect([refused.status, refused.body.alertId]).toEqual([409, undefined])
    expect(await readAlerts()).toEqual([])
  })

  test('is not lost in a crash either', async () => {
    expect((await crashReport(sos(now))).status).toBe(503)
    await sweep(env, Date.now() + MINUTE)
    expect(await readAlerts()).toHaveLength(1)
  })
})

test('an ordinary report writes and reads nothing of this', async () => {
  const texts: string[] = []
  const DB = new Proxy(env.DB, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'prepare') return member.bind(target)
      return (sql: string) => {
        texts.push(sql)
        return target.prepare(sql)
      }
    },
  })
  const { token } = account
  const send = (body: unknown) => callWithBindings({ DB }, 'POST', path, { token, body })
  await send(place(now - 2))
  texts.length = 0
  expect((await send(place(now - 1))).status).toBe(201)
  expect(texts.filter((sql) => sql.includes('pending_raises'))).toEqual([])
  await send(sos(now))
  expect(texts.filter((sql) => sql.includes('pending_raises'))).toHaveLength(1)
})

test('another account’s emergency, or one of an invisible device, raises nothing', async () => {
  const foreign = await openAccount()
  const reply = await foreign.call('POST', path, { body: sos(now) })
  expect(reply.status).toBe(404)
  expect(await readAlerts()).toEqual([])
  expect(await env.DB.prepare('SELECT count(*) AS n FROM pending_raises').first('n')).toBe(0)
})

test('an emergency stays known for as long as alerts are kept: a late repeat raises nothing', async () => {
  const at = now - 2 * DAY
  await report(sos(at))
  await account.call('POST', `/api/alerts/${(await readAlerts())[0].id}/acknowledge`)
  vi.useFakeTimers({ toFake: ['Date'], now: now + 20 * DAY })
  try {
    const { token } = (
      await call('POST', '/api/Auth/Token', {
        body: { userName: account.userName, apiKey: account.apiKey },
      })
    ).body
    await call('POST', path, { token, body: sos(at) })
    const { alerts } = (await call('GET', `/api/devices/${device}/alerts`, { token })).body
    expect(alerts).toHaveLength(1)
    await sweep(env, Date.now())
    expect(
      (await call('GET', `/api/devices/${device}/alerts`, { token })).body.alerts,
    ).toHaveLength(1)
  } finally {
    vi.useRealTimers()
  }
})
