import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { createGroup } from '../../support/groups.ts'
import {
  alertsOf,
  countEntries,
  fixAt,
  random,
  type State,
  start,
} from '../../support/ruleTracks.ts'
import { createUser } from '../../support/users.ts'
import { createRule, createZone } from '../../support/zones.ts'

const report = async (account: TestAccount, device: string, body: unknown) => {
  const reply = await account.call('POST', `/api/devices/${device}/locations`, { body })
  expect(reply.status).toBe(201)
  return reply.body
}

const setUp = async (rule: object = {}) => {
  const account = await openAccount()
  const [zone, device] = [await createZone(account), await createDevice(account)]
  const id = await createRule(account, { when: { type: 'enters', zones: [zone] }, ...rule })
  return { account, zone, device, rule: id, at: start() }
}

test('a device that comes into a zone raises one alert, with its rule, zone and place', async () => {
  const { account, zone, device, rule, at } = await setUp()
  await createUser(account, { notify: { email: true, sms: false } })
  await report(account, device, fixAt(at, 'out'))
  await report(account, device, fixAt(at + 1, 'unknown'))
  expect(await alertsOf(account, device)).toEqual([])
  await report(account, device, fixAt(at + 2, 'in', { speed: 12 }))
  await report(account, device, fixAt(at + 3, 'in'))
  const alerts = await alertsOf(account, device)
  expect(alerts).toHaveLength(1)
  expect(alerts[0]).toMatchObject({
    dateTime: new Date(at + 2).toISOString(),
    latitude: 0,
    longitude: 0.001,
    positionSource: 'reported',
    text: 'Entered Harbour.',
    alerts: ['ZoneEntered'],
    emergency: false,
    late: false,
    ruleId: rule,
    zoneId: zone,
    notifications: ['Email'],
  })
  const { events } = (await account.call('GET', '/api/events?types=zone.*')).body
  expect(events).toHaveLength(1)
  expect(events[0]).toMatchObject({
    type: 'zone.entered',
    data: { deviceId: device, ruleId: rule, zoneId: zone, dateTime: alerts[0].dateTime },
  })
})

test('a repeated report raises nothing', async () => {
  const { account, device, at } = await setUp()
  const body = [fixAt(at, 'out'), fixAt(at + 1, 'in'), fixAt(at + 2, 'out'), fixAt(at + 3, 'in')]
  await report(account, device, body)
  expect(await report(account, device, body)).toMatchObject({ accepted: 0, duplicates: 4 })
  await report(account, device, [...body, fixAt(at + 4, 'in')])
  expect(await alertsOf(account, device)).toHaveLength(2)
})

test('what was before the last change of the rule is not raised', async () => {
  const { account, device } = await setUp()
  const before = Date.now() - 60_000
  await report(account, device, [fixAt(before, 'out'), fixAt(before + 1, 'in')])
  expect(await alertsOf(account, device)).toEqual([])
})

test('a rule is for its devices and the devices of its groups', async () => {
  const account = await openAccount()
  const zone = await createZone(account)
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => createDevice(account)))
  const { id: group } = await createGroup(account, { name: 'North', devices: [two] })
  await createRule(account, {
    when: { type: 'enters', zones: [zone] },
    devices: [one],
    groups: [group],
  })
  const at = start()
  const cross = (device: string | undefined, time: number) =>
    report(account, device ?? '', [fixAt(time, 'out'), fixAt(time + 1, 'in')])
  for (const device of [one, two, three]) await cross(device, at)
  expect(await alertsOf(account, one ?? '')).toHaveLength(1)
  expect(await alertsOf(account, two ?? '')).toHaveLength(1)
  expect(await alertsOf(account, three ?? '')).toHaveLength(0)
  // Who is in the group holds for the next report.
  await account.call('PATCH', `/api/groups/${group}`, { body: { devices: [three] } })
  await cross(two, at + 10)
  await cross(three, at + 10)
  expect(await alertsOf(account, two ?? '')).toHaveLength(1)
  expect(await alertsOf(account, three ?? '')).toHaveLength(1)
})

test('a change of a zone or rule holds for the next report', async () => {
  const { account, zone, device, rule } = await setUp()
  await report(account, device, fixAt(start(), 'out'))
  await account.call('PATCH', `/api/zones/${zone}`, {
    body: { shape: { type: 'Circle', center: [0.1, 0], radius: 1000 } },
  })
  await report(account, device, fixAt(start() + 10, 'in'))
  await report(account, device, fixAt(start() + 20, 'out'))
  expect(await alertsOf(account, device)).toHaveLength(1)
  await account.call('PATCH', `/api/rules/${rule}`, { body: { enabled: false } })
  await report(account, device, fixAt(start() + 30, 'in'))
  await report(account, device, fixAt(start() + 40, 'out'))
  expect(await alertsOf(account, device)).toHaveLength(1)
})

test('locations that a longer retention admits are stored, whatever is remembered', async () => {
  const { account, device, at } = await setUp()
  const old = fixAt(at - 100 * 86_400_000, 'out')
  const send = (body: unknown) => account.call('POST', `/api/devices/${device}/locations`, { body })
  await account.call('PATCH', '/api/account', { body: { retentionDays: 30 } })
  await report(account, device, fixAt(at, 'out'))
  expect((await send(old)).body.code).toBe('report-too-old')
  await account.call('PATCH', '/api/account', { body: { retentionDays: 365 } })
  expect(await report(account, device, old)).toMatchObject({ accepted: 1, duplicates: 0 })
})

test('a late alert has the time of its fix, and notifies only while it is young', async () => {
  const { account, device, rule } = await setUp()
  await createUser(account, { notify: { email: true, sms: false } })
  const past = Date.now() - 30 * 60_000
  const changed = 'UPDATE rules SET last_modified = 0 WHERE id = ?'
  await env.DB.prepare(changed).bind(rule).run()
  await env.DB.prepare('UPDATE zones SET last_modified = 0').run()
  await account.call('PATCH', `/api/rules/${rule}`, { body: { lateMinutes: 60 } })
  await env.DB.prepare(changed).bind(rule).run()
  await report(account, device, [fixAt(past, 'out'), fixAt(past + 1000, 'in')])
  await report(account, device, [fixAt(past - 3_600_000, 'out'), fixAt(past - 3_599_000, 'in')])
  const alerts = await alertsOf(account, device)
  expect(alerts.map(({ late, notifications }: never) => [late, notifications])).toEqual([
    [true, []],
    [false, ['Email']],
  ])
})

test('the cooldown leaves out alerts, not events', async () => {
  const { account, device, at } = await setUp({ cooldownMinutes: 1 })
  const body = [0, 1, 2, 3].flatMap((index) => [
    fixAt(at + index * 2, 'out'),
    fixAt(at + index * 2 + 1, 'in'),
  ])
  await report(account, device, body)
  expect(await alertsOf(account, device)).toHaveLength(1)
  const { events } = (await account.call('GET', '/api/events?types=zone.entered')).body
  expect(events).toHaveLength(4)
})

test('the cooldown holds among late alerts too, after a newer one', async () => {
  const { account, device, at } = await setUp({ cooldownMinutes: 30 })
  await env.DB.batch([
    env.DB.prepare('UPDATE rules SET last_modified = 0 WHERE account_id = ?').bind(account.id),
    env.DB.prepare('UPDATE zones SET last_modified = 0 WHERE account_id = ?').bind(account.id),
  ])
  const enter = (minute: number) => {
    const time = at + minute * 60_000
    return [fixAt(time - 1000, 'out'), fixAt(time, 'in')]
  }
  await report(account, device, enter(0))
  await report(account, device, [-100, -95, -90, -60, -25].flatMap(enter))
  // Between two that were raised.
  await report(account, device, enter(-80))
  const alerts = await alertsOf(account, device)
  const minutes = alerts.map(({ dateTime }: { dateTime: string }) => Date.parse(dateTime) - at)
  expect(minutes.map((ms: number) => ms / 60_000)).toEqual([-100, -60, 0])
})

test('a report raises at most 50 alerts, and the last says how many more there were', async () => {
  const { account, device, at } = await setUp()
  const body = Array.from({ length: 140 }, (_, index) =>
    fixAt(at + index, index % 2 ? 'in' : 'out'),
  )
  await report(account, device, body)
  const alerts = await alertsOf(account, device)
  expect(alerts).toHaveLength(50)
  const summary = alerts.filter(({ ruleId }: { ruleId?: string }) => ruleId === undefined)
  expect(summary).toMatchObject([
    { alerts: ['RuleAlerts'], text: '21 more alerts of rules in one report.' },
  ])
})

test('an expired device raises nothing and its report is refused', async () => {
  const { account, device, at } = await setUp()
  await report(account, device, fixAt(at, 'out'))
  await account.call('PATCH', `/api/devices/${device}`, {
    body: { limits: { expires: true, expirationDate: '2020-01-01' } },
  })
  const reply = await account.call('POST', `/api/devices/${device}/locations`, {
    body: fixAt(at + 1, 'in'),
  })
  expect(reply.body.code).toBe('device-expired')
  expect(await alertsOf(account, device)).toEqual([])
})

test('a hit that a crash has left is raised by the sweep', async () => {
  const { account, device, at } = await setUp()
  await report(account, device, fixAt(at, 'out'))
  await report(account, device, fixAt(at + 1, 'in'))
  const [alert] = await alertsOf(account, device)
  // A second hand-over of the same hit, as after a crash, raises nothing again.
  const raise = {
    deviceId: device,
    alert: { id: alert.id, name: 'ZoneEntered', text: 'x', dateTime: at + 1 },
    emergency: false,
    reported: null,
    notifications: [],
    origin: 'https://perigee.test',
    rule: { ruleId: alert.ruleId, zoneId: alert.zoneId, cooldownMinutes: 0, event: 'zone.entered' },
  }
  const insert = env.DB.prepare(
    'INSERT INTO pending_raises (id, account_id, creation, raise) VALUES (?, ?, 1, ?)',
  )
  const left = { ...raise, alert: { ...raise.alert, id: `alr_left${alert.id.slice(8)}` } }
  await insert.bind(alert.id, account.id, JSON.stringify(raise)).run()
  await insert.bind(left.alert.id, account.id, JSON.stringify(left)).run()
  const { sweep } = await import('../../../src/sweep/sweep.ts')
  await sweep(env as never, Date.now())
  const alerts = await alertsOf(account, device)
  expect(alerts.map(({ id }: { id: string }) => id).sort()).toEqual(
    [alert.id, left.alert.id].sort(),
  )
  const { events } = (await account.call('GET', '/api/events?types=zone.entered')).body
  expect(events).toHaveLength(2)
})

describe('under load', () => {
  test('alerts equal the crossings of the track, whatever the order of arrival', async () => {
    const seed = Number((env as { MODEL_SEED?: string }).MODEL_SEED ?? Date.now() % 1e9)
    const next = random(seed)
    const { account, at } = await setUp()
    for (let round = 0; round < 4; round++) {
      const device = await createDevice(account)
      const states = Array.from({ length: 90 }, (): State => {
        const value = next()
        return value < 0.42 ? 'in' : value < 0.84 ? 'out' : 'unknown'
      })
      const fixes = states.map((state, index) => fixAt(at + index * 3, state))
      const shuffled = fixes
        .map((fix) => ({ fix, key: next() }))
        .sort((a, b) => a.key - b.key)
        .map(({ fix }) => fix)
      const reports: unknown[][] = []
      while (shuffled.length > 0) reports.push(shuffled.splice(0, 1 + Math.floor(next() * 5)))
      // In parallel, and some of them twice.
      for (let i = 0; i < reports.length; i += 6) {
        const some = reports.slice(i, i + 6)
        const repeated = some.filter(() => next() < 0.3)
        await Promise.all([...some, ...repeated].map((body) => report(account, device, body)))
      }
      const alerts = await alertsOf(account, device)
      expect([seed, alerts.length]).toEqual([seed, countEntries(states)])
    }
  }, 120_000)
})

test('a very long span of stored locations is evaluated around each new one', async () => {
  const { account, device, at } = await setUp()
  const fill = env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)
      INSERT INTO locations (device_key, time, latitude, longitude, received_at)
      SELECT key, ?1 + i * 10, 0, 1000000, ?1 FROM n, devices WHERE id = ?2`,
  )
  await fill.bind(at, device).run()
  await report(account, device, [fixAt(at + 5, 'in'), fixAt(at + 29_985, 'in')])
  expect(await alertsOf(account, device)).toHaveLength(2)
})
