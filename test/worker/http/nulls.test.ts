import { expect, test } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'

const DEFAULT_LIMITS = {
  expires: false,
  expirationDate: null,
  dailyEmailLimit: 100,
  dailySmsLimit: 20,
  emergencyReserve: { email: 0, sms: 0 },
}

test('null in POST and PUT sets a member to its default, at every level', async () => {
  const account = await openAccount()
  const full = { description: 'Blue', model: 'M1', tags: { a: 'b' } }
  const created = await account.call('POST', '/api/devices', {
    body: { name: 'Tern', ...full, limits: { dailyEmailLimit: 7, dailySmsLimit: null } },
  })
  expect([created.status, created.body.device.limits]).toEqual([
    201,
    { ...DEFAULT_LIMITS, dailyEmailLimit: 7 },
  ])
  const path = `/api/devices/${created.body.device.id}`
  const replaced = await account.call('PUT', path, {
    body: { device: { name: 'Tern', description: null, model: null, tags: null, limits: null } },
  })
  expect(replaced.body.device).toMatchObject({
    description: '',
    model: '',
    tags: {},
    limits: DEFAULT_LIMITS,
  })
})

test('null is still refused for a required member, in a record, and in a JSON Patch', async () => {
  const account = await openAccount()
  const device = await createDevice(account, 'Tern')
  const path = `/api/devices/${device}`
  const pointerOf = async (method: string, body: unknown) => {
    const reply = await account.call(method, path, { body })
    return [reply.status, reply.body.errors[0].pointer]
  }
  expect(await pointerOf('PUT', { name: null })).toEqual([400, '/name'])
  expect(await pointerOf('PUT', { name: 'Tern', tags: { a: null } })).toEqual([400, '/tags/a'])
  expect(await pointerOf('PUT', { name: 'Tern', unknown: null })).toEqual([400, '/unknown'])
  const step = { op: 'replace', path: '/limits/dailySmsLimit', value: null }
  expect(await pointerOf('PATCH', [step])).toEqual([400, '/limits/dailySmsLimit'])
})

test('null in a merge patch sets a member back to its default', async () => {
  const account = await openAccount()
  const { device } = (
    await account.call('POST', '/api/devices', {
      body: { name: 'Tern', description: 'Blue', limits: { dailySmsLimit: 3 } },
    })
  ).body
  const patched = await account.call('PATCH', `/api/devices/${device.id}`, {
    body: { description: null, limits: { dailySmsLimit: null } },
  })
  expect(patched.body.device).toMatchObject({ description: '', limits: DEFAULT_LIMITS })
})

test('a location may have null for what was not measured, and a query null for a location', async () => {
  const account = await openAccount()
  const path = `/api/devices/${await createDevice(account, 'Tern')}/locations`
  const measured = { dateTime: '2026-01-14T09:30:00.000Z', latitude: 38.7, longitude: -9.1 }
  const attributes = { own: null }
  for (const location of [
    { ...measured, altitude: null, alerts: null, source: null, sensorTime1: null, attributes },
    // Numbers in `alerts` are for the schema, not for the fast reader.
    { ...measured, dateTime: '2026-01-14T09:31:00.000Z', speed: null, alerts: [7] },
  ]) {
    const reply = await account.call('POST', path, { body: { location, error: null } })
    expect(reply.status, reply.text).toBe(201)
  }
  const span = { from: '2026-01-14T00:00:00Z', to: '2026-01-15T00:00:00Z' }
  const found = await account.call('POST', path, {
    body: { ...span, location: null, limit: null, cursor: null, apiUsage: 4 },
  })
  expect(found.status, found.text).toBe(200)
  const receivedAt = expect.any(String)
  expect(found.body.locations).toEqual([
    { ...measured, attributes, receivedAt },
    { ...measured, dateTime: '2026-01-14T09:31:00.000Z', alerts: [7], receivedAt },
  ])
  const refused = await account.call('POST', path, { body: { ...measured, latitude: null } })
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/latitude'])
})

test('an alert may have null for its optional members, and a query null for all names', async () => {
  const account = await openAccount()
  const path = `/api/devices/${await createDevice(account, 'Tern')}/alerts`
  const alert = { alertName: 'SOSButton', text: null, dateTime: null, notifications: null }
  const raised = await account.call('POST', path, { body: { alert, from: null, to: null } })
  expect(raised.status, raised.text).toBe(201)
  expect(raised.body.alert).toMatchObject({ text: '', alerts: ['SOSButton'] })
  const span = { from: '2000-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' }
  for (const [alertName, count] of [
    [null, 1],
    ['SOSButton', 1],
    ['LowBattery', 0],
  ] as const) {
    const found = await account.call('POST', path, { body: { ...span, alertName, alert: null } })
    expect([found.status, found.body.alerts.length], String(alertName)).toEqual([200, count])
  }
})

test('a key for which `userId` is null belongs to no user', async () => {
  const account = await openAccount()
  const { body } = await account.call('POST', '/api/account/keys', {
    body: { name: 'Dispatch', scopes: ['read'], userId: null, expires: null },
  })
  expect(body.key).toMatchObject({ userId: null, expires: null })
})
