import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { createGroup } from '../../support/groups.ts'
import { createRule, createZone } from '../../support/zones.ts'

const versionOf = (account: TestAccount) =>
  env.DB.prepare('SELECT rules_version FROM accounts WHERE id = ?')
    .bind(account.id)
    .first<string | null>('rules_version')

test('a rule is created with its defaults, read, replaced, changed and deleted', async () => {
  const account = await openAccount()
  const zone = await createZone(account)
  const created = await account.call('POST', '/api/rules', {
    body: { name: 'Watch', when: { type: 'enters', zones: [zone] } },
  })
  expect(created.status).toBe(201)
  const { rule } = created.body
  expect(rule).toEqual({
    id: expect.stringMatching(/^rul_/),
    name: 'Watch',
    enabled: true,
    devices: [],
    groups: [],
    when: { type: 'enters', zones: [zone] },
    schedule: [],
    alertName: 'ZoneEntered',
    text: '',
    notifications: ['Email', 'SMS', 'Push', 'Voice'],
    emergency: false,
    hysteresis: { metres: 0, fixes: 1 },
    cooldownMinutes: 0,
    lateMinutes: 60,
    creation: expect.any(String),
    lastModified: rule.creation,
  })
  const path = `/api/rules/${rule.id}`
  const read = await account.call('GET', path)
  expect(read.body).toEqual(created.body)
  const replaced = await account.call('PUT', path, {
    body: {
      ...read.body,
      rule: {
        ...rule,
        // Typed clients write null for what is left out.
        when: { type: 'speed', above: 90, below: null, zones: null },
        alertName: 'SpeedLimit',
      },
    },
    headers: { 'If-Match': read.headers.get('ETag') ?? '' },
  })
  expect(replaced.body.rule.when).toEqual({ type: 'speed', above: 90 })
  const patched = await account.call('PATCH', path, { body: { enabled: false } })
  expect(patched.body.rule).toMatchObject({ enabled: false, alertName: 'SpeedLimit' })
  expect((await account.call('GET', '/api/rules')).body.rules).toEqual([patched.body.rule])
  expect((await account.call('DELETE', path)).body).toEqual({ success: true })
  expect((await account.call('GET', path)).body.code).toBe('rule-not-found')
})

test('what a rule names must be of the account, and its condition complete', async () => {
  const account = await openAccount()
  const other = await openAccount()
  const [zone, device] = [await createZone(other), await createDevice(other)]
  const enters = { type: 'enters', zones: [await createZone(account)] }
  for (const [body, pointer] of [
    [{ when: { type: 'enters', zones: [zone] } }, '/when/zones/0'],
    [{ when: { type: 'enters', zones: [] } }, '/when/zones'],
    [{ when: enters, devices: [device] }, '/devices/0'],
    [{ when: enters, groups: ['grp_none'] }, '/groups/0'],
    [{ when: { type: 'speed' } }, '/when/above'],
    [{ when: { type: 'speed', above: 1, below: 2 } }, '/when/above'],
    [{ when: { type: 'value', member: 'battery' } }, '/when/above'],
    [{ when: { type: 'inside', zones: enters.zones } }, '/when/minutes'],
    [{ when: { type: 'flies' } }, '/when/type'],
    [{ when: { type: 'returns', minutes: 5 } }, '/when/minutes'],
    [
      { when: enters, schedule: [{ days: ['mon'], from: '25:00', to: '06:00' }] },
      '/schedule/0/from',
    ],
    [{ when: enters, hysteresis: { fixes: 0 } }, '/hysteresis/fixes'],
  ] as const) {
    const reply = await account.call('POST', '/api/rules', { body: { name: 'X', ...body } })
    expect([reply.status, reply.body.errors?.[0].pointer]).toEqual([400, pointer])
  }
  expect((await account.call('GET', '/api/rules')).body.rules).toEqual([])
  expect(await versionOf(account)).toBeNull()
})

test('the token that reports evaluate rules by is new after each change, and gone without rules', async () => {
  const account = await openAccount()
  const [zone, device] = [await createZone(account), await createDevice(account)]
  const { body: group } = await account.call('POST', '/api/groups', { body: { name: 'North' } })
  expect(await versionOf(account)).toBeNull()
  const rule = await createRule(account, { when: { type: 'enters', zones: [zone] } })
  const seen = new Set([await versionOf(account)])
  const expectNew = async () => {
    const version = await versionOf(account)
    expect(version).toEqual(expect.any(String))
    expect(seen.has(version)).toBe(false)
    seen.add(version)
  }
  await account.call('PATCH', `/api/zones/${zone}`, { body: { name: 'Other' } })
  await expectNew()
  await account.call('PATCH', `/api/groups/${group.id}`, { body: { devices: [device] } })
  await expectNew()
  await account.call('PATCH', `/api/rules/${rule}`, { body: { text: 'Look' } })
  await expectNew()
  await createRule(account, { when: { type: 'silent', minutes: 60 } })
  await expectNew()
  await account.call('PATCH', `/api/rules/${rule}`, { body: { enabled: false } })
  expect(await versionOf(account)).toBeNull()
  await account.call('PATCH', `/api/rules/${rule}`, { body: { enabled: true } })
  await expectNew()
  // A change of the account's own record leaves it alone.
  const version = await versionOf(account)
  await account.call('PATCH', '/api/account', { body: { name: 'Renamed' } })
  expect(await versionOf(account)).toBe(version)
  await account.call('DELETE', `/api/rules/${rule}`)
  expect(await versionOf(account)).toBeNull()
})

test('a rule whose last device or group is deleted is disabled, not for all', async () => {
  const account = await openAccount()
  const [one, two] = [await createDevice(account), await createDevice(account)]
  const { id: group } = await createGroup(account, { name: 'North' })
  const when = { type: 'speed', above: 90 }
  const both = await createRule(account, { when, devices: [one, two] })
  const single = await createRule(account, { when, devices: [one], groups: [group] })
  await account.call('DELETE', `/api/devices/${one}`)
  const read = async (id: string) => (await account.call('GET', `/api/rules/${id}`)).body.rule
  expect(await read(both)).toMatchObject({ devices: [two], enabled: true })
  expect(await read(single)).toMatchObject({ devices: [], groups: [group], enabled: true })
  expect((await account.call('DELETE', `/api/groups/${group}`)).status).toBe(200)
  expect(await read(single)).toMatchObject({ devices: [], groups: [], enabled: false })
  await account.call('DELETE', `/api/devices/${two}`)
  expect(await read(both)).toMatchObject({ devices: [], enabled: false })
  expect(await versionOf(account)).toBeNull()
})

const MINUTE = 60_000
const START = Date.UTC(2026, 10, 13, 8)
const at = (minute: number) => new Date(START + minute * MINUTE).toISOString()

test('a rule is tried on history and raises nothing', async () => {
  const account = await openAccount()
  const [zone, device] = [await createZone(account), await createDevice(account)]
  const fix = (minute: number, longitude: number, more: object = {}) => ({
    dateTime: at(minute),
    latitude: 0,
    longitude,
    ...more,
  })
  await account.call('POST', `/api/devices/${device}/locations`, {
    body: [
      fix(0, 0.1),
      fix(10, 0.001),
      fix(15, 0.005, { accuracy: 10_000 }),
      fix(20, 0.1, { attributes: { tank: 3 } }),
      fix(30, 0.001, { attributes: { tank: 1 }, speed: 12.345 }),
    ],
  })
  const span = { deviceId: device, from: at(0), to: at(60) }
  const tryRule = async (body: object) => {
    const id = await createRule(account, { enabled: false, ...body })
    const reply = await account.call('POST', `/api/rules/${id}/test`, { body: span })
    expect(reply.status).toBe(200)
    return reply.body.alerts
  }
  const alerts = await tryRule({ when: { type: 'enters', zones: [zone] } })
  expect(alerts).toHaveLength(2)
  expect(alerts[0]).toEqual({
    deviceId: device,
    dateTime: at(10),
    latitude: 0,
    longitude: 0.001,
    text: 'Entered Harbour.',
    alerts: ['ZoneEntered'],
    emergency: false,
    ruleId: expect.stringMatching(/^rul_/),
    zoneId: zone,
    sinceChange: false,
  })
  const timesOf = (list: { dateTime: string }[]) => list.map(({ dateTime }) => dateTime)
  const cool = { when: { type: 'enters', zones: [zone] }, cooldownMinutes: 30 }
  expect(timesOf(await tryRule(cool))).toEqual([at(10)])
  const tank = await tryRule({ when: { type: 'value', member: 'tank', below: 2 }, text: 'Empty' })
  expect([timesOf(tank), tank[0].text]).toEqual([[at(30)], 'Empty'])
  expect((await account.call('GET', '/api/alerts')).body.alerts).toEqual([])
  const id = await createRule(account, { when: { type: 'moves', metres: 100 } })
  const wrong = await account.call('POST', `/api/rules/${id}/test`, {
    body: { ...span, deviceId: 'dev_none' },
  })
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/deviceId'])
})

test('a rule about contact is tried as the sweep would evaluate it', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const { id: group } = await createGroup(account, { name: 'North' })
  const { id: own } = await createGroup(account, { name: 'South', devices: [device] })
  for (const minute of [0, 10, 50])
    await account.call('POST', `/api/devices/${device}/locations`, {
      body: { dateTime: at(minute), latitude: 1, longitude: 2 },
    })
  await env.DB.prepare(
    `UPDATE locations SET received_at = time
      WHERE device_key = (SELECT key FROM devices WHERE id = ?)`,
  )
    .bind(device)
    .run()
  const tryRule = async (id: string, to: number) => {
    const body = { deviceId: device, from: at(0), to: at(to) }
    const { alerts } = (await account.call('POST', `/api/rules/${id}/test`, { body })).body
    return alerts.map(({ dateTime }: { dateTime: string }) => dateTime)
  }
  const silent = await createRule(account, { when: { type: 'silent', minutes: 30 }, groups: [own] })
  const returns = await createRule(account, { when: { type: 'returns' } })
  // The last silence has no end yet.
  expect(await tryRule(silent, 79)).toEqual([at(40)])
  expect(await tryRule(silent, 80)).toEqual([at(40), at(80)])
  // A rule for devices of another group finds none silent.
  await createRule(account, { when: { type: 'silent', minutes: 5 }, groups: [group] })
  expect(await tryRule(returns, 80)).toEqual([at(50)])
})

test('a rule is not tried on more than 100,000 locations', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const rule = await createRule(account, { when: { type: 'moves', metres: 100 } })
  const at = Date.now() - 86_400_000
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO locations (device_key, time, latitude, longitude, received_at)
      SELECT key, ?1 + i, 0, 0, ?1 FROM n, devices WHERE id = ?2`,
  )
    .bind(at, device)
    .run()
  const span = { from: new Date(at).toISOString(), to: new Date(at + 200_000).toISOString() }
  const tried = await account.call('POST', `/api/rules/${rule}/test`, {
    body: { deviceId: device, ...span },
  })
  expect([tried.status, tried.body.code]).toEqual([400, 'span-too-large'])
}, 60_000)
