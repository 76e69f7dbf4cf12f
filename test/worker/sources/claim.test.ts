import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { keepUnclaimed } from '../../../src/sources/unclaimed/unclaimed.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { callWithBindings, failExecutions, watchBatches } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { callAsOperator } from '../../support/http.ts'
import { garminEvent, garminPush, makeSource, type TestSource } from '../../support/sources.ts'
import { createBoundUser, createUser } from '../../support/users.ts'

let count = 0
const newImei = () => `3004340610${String(++count).padStart(5, '0')}`
const MINUTE = 60_000
const minutesAgo = (minutes: number) => Date.now() - minutes * MINUTE

const point = (latitude: number) => ({
  point: { latitude, longitude: 2, gpsFix: 2, speed: 0, course: 0, altitude: 0 },
})

/** An account with reports of one unknown identifier, which arrived this long ago. */
const holdReports = async (events: (imei: string) => object[], arrivedMinutesAgo = 0) => {
  const account = await openAccount()
  const source = await makeSource(account, 'garmin')
  const imei = newImei()
  await source.push(garminPush(events(imei)))
  const receivedAt = minutesAgo(arrivedMinutesAgo)
  if (arrivedMinutesAgo > 0)
    await env.DB.prepare('UPDATE unclaimed_reports SET received_at = ? WHERE source_id = ?')
      .bind(receivedAt, source.id)
      .run()
  return { account, source, imei, receivedAt }
}

const claimPath = ({ id }: TestSource, imei: string) => `/api/sources/${id}/unclaimed/${imei}/claim`
const trackOf = async (account: TestAccount, id: string) =>
  (await account.call('GET', `/api/devices/${id}/locations`)).body.locations
const unclaimedOf = async (account: TestAccount, { id }: TestSource) =>
  (await account.call('GET', `/api/sources/${id}/unclaimed`)).body.unclaimed
const readDevice = async (account: TestAccount, id: string) =>
  (await account.call('GET', `/api/devices/${id}`)).body.device

describe('reports that are moved', () => {
  test('are those of an SOS, though the account has used up its storage', async () => {
    const { account, source, imei } = await holdReports((id) => [
      garminEvent(id, minutesAgo(1), { messageCode: 4 }),
    ])
    const budgets = { storageBytes: 0 }
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { budgets } })
    const body = { device: { name: 'Tern' } }
    const claimed = await account.call('POST', claimPath(source, imei), { body })
    expect([claimed.status, claimed.body.pending]).toEqual([200, 0])
    const { alerts } = (await account.call('GET', '/api/alerts')).body
    expect(alerts).toMatchObject([{ alerts: ['SOSButton'], emergency: true }])
    expect(await trackOf(account, claimed.body.device.id)).toHaveLength(1)
  })

  test('read little of a long track', async () => {
    const { account, source, imei } = await holdReports((id) => [garminEvent(id, minutesAgo(9))])
    const deviceId = await createDevice(account)
    await env.DB.prepare(
      `INSERT INTO locations (device_key, time, latitude, longitude, received_at)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
       SELECT key, ?2 - i * 1000, 438000000, -701600000, 0 FROM n, devices WHERE id = ?1`,
    )
      .bind(deviceId, minutesAgo(60))
      .run()
    let rowsRead = 0
    const DB = watchBatches(env.DB, (results) => {
      for (const { meta } of results) rowsRead += meta.rows_read
    })
    const { token } = account
    const path = claimPath(source, imei)
    const claimed = await callWithBindings({ DB }, 'POST', path, { token, body: { deviceId } })
    expect(claimed.body).toMatchObject({ imported: 1, pending: 0 })
    expect(rowsRead).toBeGreaterThan(0)
    expect(rowsRead).toBeLessThan(500)
  })

  test('keep the time of their arrival, which is the contact of the device', async () => {
    const { account, source, imei, receivedAt } = await holdReports(
      (id) => [garminEvent(id, minutesAgo(300)), garminEvent(id, minutesAgo(290))],
      240,
    )
    const body = { device: { name: 'Tern' } }
    const claimed = await account.call('POST', claimPath(source, imei), { body })
    expect(claimed.body).toMatchObject({ imported: 2, pending: 0 })
    const { id } = claimed.body.device
    const arrival = new Date(receivedAt).toISOString()
    expect(await trackOf(account, id)).toMatchObject([
      { receivedAt: arrival },
      { receivedAt: arrival },
    ])
    expect(claimed.body.device.lastContact).toBe(arrival)
    expect((await readDevice(account, id)).lastContact).toBe(arrival)
  })

  test('set back neither a later contact nor a later source', async () => {
    const { account, source, imei } = await holdReports(
      (id) => [garminEvent(id, minutesAgo(300), { freeText: 'Hello' })],
      240,
    )
    const other = await makeSource(account, 'osmand')
    const id = await createDevice(account, { identifier: 'phone' })
    await other.push({ query: '?id=phone&lat=1&lon=1' })
    const before = (await readDevice(account, id)).lastContact
    await account.call('POST', claimPath(source, imei), { body: { deviceId: id } })
    expect((await readDevice(account, id)).lastContact).toBe(before)
    const row = await env.DB.prepare('SELECT source_id FROM devices WHERE id = ?').bind(id).first()
    expect(row).toEqual({ source_id: other.id })
  })

  test('are evaluated by the time of their arrival', async () => {
    const { account, source, imei } = await holdReports(
      (id) => [
        garminEvent(id, minutesAgo(60), point(10)),
        // A day and more ahead when it arrived, an hour ago by now.
        garminEvent(id, minutesAgo(50), point(10)),
        garminEvent(id, minutesAgo(40), point(60)),
      ],
      26 * 60,
    )
    const body = { device: { name: 'Tern' } }
    const { device } = (await account.call('POST', claimPath(source, imei), { body })).body
    expect(await trackOf(account, device.id)).toEqual([])
    const { quarantine } = (await account.call('GET', `/api/devices/${device.id}/quarantine`)).body
    expect(quarantine).toHaveLength(3)
    for (const { reason } of quarantine) expect(reason).toBe('clock')
    expect(await unclaimedOf(account, source)).toEqual([])
  })

  test('notify nobody of an old SOS, and everybody of a new one', async () => {
    for (const [minutes, isLate] of [
      [180, true],
      [20, false],
    ] as const) {
      const { account, source, imei } = await holdReports(
        (id) => [garminEvent(id, minutesAgo(minutes), { messageCode: 4 })],
        minutes - 1,
      )
      await createUser(account, { privileges: ['admin'] })
      const before = (await account.call('GET', '/api/account/messages')).body.messages
      const body = { device: { name: 'Tern' } }
      await account.call('POST', claimPath(source, imei), { body })
      const { alerts } = (await account.call('GET', '/api/alerts')).body
      expect(alerts).toMatchObject([{ alerts: ['SOSButton'], late: isLate, emergency: !isLate }])
      const { messages } = (await account.call('GET', '/api/account/messages')).body
      expect(messages.length > before.length).toBe(!isLate)
      const { events } = (await account.call('GET', '/api/events?types=alert.*')).body
      const types = events.map(({ type }: { type: string }) => type)
      expect(types).not.toContain('alert.undelivered')
    }
  })

  test('cancel an alert among them', async () => {
    const { account, source, imei } = await holdReports((id) => [
      garminEvent(id, minutesAgo(30), { messageCode: 4 }),
      garminEvent(id, minutesAgo(20), { messageCode: 7 }),
    ])
    const body = { device: { name: 'Tern' } }
    await account.call('POST', claimPath(source, imei), { body })
    const { alerts } = (await account.call('GET', '/api/alerts')).body
    expect(alerts).toMatchObject([{ alerts: ['SOSButton'], cancelled: true }])
    expect(await unclaimedOf(account, source)).toEqual([])
  })
})

describe('a claim that is interrupted', () => {
  const events = (id: string) => [
    garminEvent(id, minutesAgo(30), { messageCode: 4, freeText: 'Help' }),
    garminEvent(id, minutesAgo(20), { freeText: 'Hello' }),
    garminEvent(id, minutesAgo(10)),
  ]

  const expectEverything = async (account: TestAccount, source: TestSource, id: string) => {
    expect(await unclaimedOf(account, source)).toEqual([])
    expect(await trackOf(account, id)).toHaveLength(3)
    const { commands } = (await account.call('GET', `/api/devices/${id}/commands`)).body
    expect(commands.map(({ command }: { command: string }) => command)).toEqual(['Hello', 'Help'])
    const { alerts } = (await account.call('GET', '/api/alerts')).body
    const raised = alerts.filter(({ deviceId }: { deviceId: string }) => deviceId === id)
    expect(raised).toMatchObject([{ alerts: ['SOSButton'] }])
    const { events: log } = (await account.call('GET', '/api/events?types=message.received')).body
    expect(log).toHaveLength(2)
  }

  test.each([
    ['before its batch', false],
    ['after its batch', true],
  ])('%s says what is pending; the sweep moves the rest, each once', async (_, isCommitted) => {
    const { account, source, imei } = await holdReports(events)
    // So that this isolate knows the account, and the first batch is the right one.
    await createDevice(account, { identifier: 'known' })
    await source.push(garminPush([garminEvent('known', minutesAgo(1), { messageCode: 4 })]))
    const pattern = /DELETE FROM "unclaimed_reports"/
    const failing = failExecutions(env.DB, { pattern, times: 5, isCommitted })
    const claimed = await callWithBindings({ DB: failing.db }, 'POST', claimPath(source, imei), {
      token: account.token,
      body: { device: { name: 'Tern' } },
    })
    expect(failing.runs()).toBeGreaterThan(0)
    expect(claimed.status).toBe(200)
    const unclaimed = isCommitted ? 0 : 6
    expect(claimed.body).toMatchObject({ imported: 6 - unclaimed, pending: unclaimed })
    // The ledger was not reached: the sweep hands the alert over after 30 seconds.
    await sweep(env, Date.now() + MINUTE)
    await expectEverything(account, source, claimed.body.device.id)
  })

  test('leaves the identifier to its device: the sweep does what the claim did not begin', async () => {
    const { account, source, imei } = await holdReports(events)
    // As a crash after the ledger's decision leaves it.
    const id = await createDevice(account, { identifier: imei.toUpperCase() })
    await sweep(env, Date.now())
    await expectEverything(account, source, id)
    // A repeat of the claim finds that it was done.
    const again = await account.call('POST', claimPath(source, imei), { body: { deviceId: id } })
    expect(again.body).toMatchObject({ device: { id }, imported: 0, pending: 0 })
    const other = await createDevice(account, { name: 'Other' })
    const wrong = await account.call('POST', claimPath(source, imei), { body: { deviceId: other } })
    expect(wrong.body.code).toBe('identifier-not-found')
  })

  test('by a new device is the same claim when it is repeated with its key', async () => {
    const { account, source, imei } = await holdReports(events)
    const headers = { 'Idempotency-Key': `claim-${imei}` }
    const options = { headers, body: { device: { name: 'Tern' } } }
    const path = claimPath(source, imei)
    const first = await account.call('POST', path, options)
    // As a crash before the reply was stored leaves it.
    await env.DB.prepare(
      'UPDATE idempotency SET status = NULL, leased_until = 1 WHERE account_id = ? AND key = ?',
    )
      .bind(account.id, headers['Idempotency-Key'])
      .run()
    const again = await account.call('POST', path, options)
    expect(again.body).toMatchObject({ device: { id: first.body.device.id }, pending: 0 })
    await expectEverything(account, source, first.body.device.id)
  })
})

describe('reports that cannot be moved yet', () => {
  test('wait while the device is expired, and hold up no others', async () => {
    const limits = { expires: true, expirationDate: '2020-01-01' }
    const { account, source, imei } = await holdReports((id) => [garminEvent(id, minutesAgo(10))])
    const id = await createDevice(account, { limits })
    const claimed = await account.call('POST', claimPath(source, imei), { body: { deviceId: id } })
    expect(claimed.body).toMatchObject({ imported: 0, pending: 1 })
    const rival = await account.call('POST', claimPath(source, imei), {
      body: { device: { name: 'Rival' } },
    })
    expect(rival.body).toMatchObject({
      code: 'identifier-taken',
      deviceId: id,
      errors: [{ pointer: '#/path/identifier', detail: 'is used by a device' }],
    })
    const next = newImei()
    await source.push(garminPush([garminEvent(next, minutesAgo(5))]))
    const other = await createDevice(account, { name: 'Other', identifier: next })
    await sweep(env, Date.now())
    expect(await trackOf(account, other)).toHaveLength(1)
    expect(await unclaimedOf(account, source)).toMatchObject([{ identifier: imei, count: 1 }])
    const path = `/api/devices/${id}/reactivate`
    await account.call('POST', path, { body: { expirationDate: null } })
    await sweep(env, Date.now() + 11 * MINUTE)
    expect(await trackOf(account, id)).toHaveLength(1)
    expect(await unclaimedOf(account, source)).toEqual([])
  })

  test('wait to be claimed again when the device has lost the identifier', async () => {
    const { account, source, imei } = await holdReports((id) => [garminEvent(id, minutesAgo(10))])
    const limits = { expires: true, expirationDate: '2020-01-01' }
    const id = await createDevice(account, { identifier: imei, limits })
    await account.call('PATCH', `/api/devices/${id}`, { body: { identifier: null } })
    await sweep(env, Date.now() + MINUTE)
    const body = { device: { name: 'Tern' } }
    const claimed = await account.call('POST', claimPath(source, imei), { body })
    expect(claimed.body).toMatchObject({ imported: 1, pending: 0 })
  })

  test('that arrived while the device was being created are found by the sweep', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin')
    const imei = newImei()
    const id = await createDevice(account, { identifier: imei })
    const location = { dateTime: minutesAgo(5), latitude: 1, longitude: 2 }
    await keepUnclaimed(
      openCell(env, 0),
      { accountId: account.id, sourceId: source.id },
      [{ kind: 'location', identifier: imei, key: 'k', location }],
      Date.now(),
    )
    await sweep(env, Date.now())
    expect(await trackOf(account, id)).toHaveLength(1)
  })
})

test('a confined user takes no unclaimed identifier, by creating or editing a device', async () => {
  const { account, source, imei } = await holdReports((id) => [garminEvent(id, minutesAgo(9))])
  const own = await createDevice(account, { name: 'Own', identifier: 'own-7' })
  const { body: group } = await account.call('POST', '/api/groups', {
    body: { name: 'G', devices: [own] },
  })
  const user = await createBoundUser(account, { group: group.id, privileges: ['admin'] })
  const path = `/api/devices/${own}`
  for (const identifier of [imei, ` ${imei}`.toUpperCase().trim()])
    for (const [method, at, body] of [
      ['POST', '/api/devices', { name: 'New', identifier }],
      ['PUT', path, { name: 'Own', identifier }],
      ['PATCH', path, { identifier }],
      ['PATCH', path, [{ op: 'replace', path: '/identifier', value: identifier }]],
    ] as const) {
      const reply = await user.call(method, at, { body })
      expect([method, reply.status, reply.body.code]).toEqual([method, 409, 'identifier-taken'])
    }
  expect(await unclaimedOf(account, source)).toMatchObject([{ identifier: imei, count: 1 }])
  expect((await user.call('PATCH', path, { body: { identifier: 'free-1' } })).status).toBe(200)
  // Somebody with the whole account may.
  expect((await account.call('PATCH', path, { body: { identifier: imei } })).status).toBe(200)
  // Reports may still wait for the device that has the identifier: its edits go on.
  const renamed = { name: 'Own 2', identifier: imei }
  expect((await user.call('PUT', path, { body: renamed })).status).toBe(200)
  expect((await user.call('PATCH', path, { body: { name: 'Own 3' } })).status).toBe(200)
})
