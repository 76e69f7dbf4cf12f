import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { fetchTokenWithScopes, openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice, readUsage } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { createBoundUser, createUser } from '../../support/users.ts'

const pointers = (reply: { body: { errors: { pointer: string }[] } }) =>
  reply.body.errors.map(({ pointer }) => pointer)

describe('raising an alert', () => {
  test('stores it and sends it to each user by the channels they want', async () => {
    const account = await openAccount()
    const [ana, bob] = [
      await createUser(account),
      await createUser(account, { phone: '+351910000001', notify: { email: false, sms: true } }),
    ]
    await createUser(account, { notify: { email: false, sms: false } })
    await createUser(account, { notify: { email: false, sms: true } })
    const id = await createDevice(account)
    const place = { latitude: 38.7223, longitude: -9.1393 }
    const reply = await raiseAlert(account, id, {
      alertName: 'SOSButton',
      text: 'Help',
      dateTime: '2026-11-14T10:30:00+01:00',
      ...place,
    })
    const userId = expect.stringMatching(/^usr_/)
    const state = { userId, name: null, changedAt: expect.any(String) }
    expect(reply.status).toBe(201)
    const { alert } = reply.body
    expect(reply.headers.get('Location')).toBe(`/api/alerts/${alert.id}`)
    const queued = {
      id: expect.stringMatching(/^msg_/),
      kind: 'alert',
      status: 'queued',
      reason: null,
      resetAt: null,
    }
    expect(reply.body).toEqual({
      success: true,
      alert: {
        id: expect.stringMatching(/^alr_/),
        deviceId: id,
        dateTime: '2026-11-14T09:30:00.000Z',
        ...place,
        positionTime: '2026-11-14T09:30:00.000Z',
        positionSource: 'reported',
        place: 'in Lisbon',
        text: 'Help',
        alerts: ['SOSButton'],
        emergency: true,
        late: true,
        notifications: ['Email', 'SMS'],
        test: false,
        state: 'open',
        acknowledged: false,
        acknowledgedAt: null,
        acknowledgedBy: null,
        resolvedAt: null,
        resolvedBy: null,
        cancelled: false,
        cancelledAt: null,
        cancelledBy: null,
        updates: [],
        newestPosition: {
          ...place,
          dateTime: '2026-11-14T09:30:00.000Z',
          source: 'alert',
          place: 'in Lisbon',
        },
        deliveries: [
          { ...queued, channel: 'Email', to: ana.email, ...state },
          { ...queued, channel: 'SMS', to: bob.phone, ...state },
        ],
      },
    })
    await waitUntilSent(account)
    const read = await account.call('GET', `/api/alerts/${alert.id}`)
    expect(read.body.alert).toEqual({
      ...alert,
      deliveries: alert.deliveries.map((delivery: object) => ({
        ...delivery,
        status: 'sent',
        name: expect.any(String),
        changedAt: expect.any(String),
      })),
      log: [{ at: expect.any(String), action: 'raised', by: expect.any(String), text: null }],
    })
    expect(await readEvents(account, 'alert.raised')).toEqual([
      {
        deviceId: id,
        alertId: alert.id,
        alertName: 'SOSButton',
        text: 'Help',
        dateTime: '2026-11-14T09:30:00.000Z',
        ...place,
        positionTime: '2026-11-14T09:30:00.000Z',
        positionSource: 'reported',
        emergency: true,
        late: true,
      },
    ])
    expect(await readEvents(account, 'message.sent')).toEqual(
      alert.deliveries.map((delivery: { id: string; channel: string }) => ({
        deviceId: id,
        alertId: alert.id,
        messageId: delivery.id,
        channel: delivery.channel,
      })),
    )
    expect(await readUsage(account, id)).toMatchObject({ emailsSent: 1, smsSent: 1 })
  })

  test('works wrapped or bare, with the last location and the current time as defaults', async () => {
    const account = await openAccount()
    const id = await createDevice(account)
    const before = Date.now()
    const first = await account.call('POST', `/api/devices/${id}/alerts`, {
      body: { alert: { alertName: 'LowBattery' } },
    })
    expect(first.body.alert).toMatchObject({
      latitude: null,
      longitude: null,
      alerts: ['LowBattery'],
      text: '',
    })
    expect(Date.parse(first.body.alert.dateTime)).toBeGreaterThanOrEqual(before)
    const location = { dateTime: new Date().toISOString(), latitude: 1.5, longitude: -2.25 }
    await account.call('POST', `/api/devices/${id}/locations`, { body: location })
    expect((await raiseAlert(account, id)).body.alert).toMatchObject({
      latitude: 1.5,
      longitude: -2.25,
    })
    const zero = await account.call('POST', `/api/devices/${id}/alerts`, {
      body: '{"alertName":"x","latitude":-0,"longitude":-0.0}',
    })
    expect(zero.text).toContain('"latitude":0,"longitude":0')
    const sentBack = { success: true, alert: { ...first.body.alert, alertName: 'Mine' } }
    const again = await account.call('POST', `/api/devices/${id}/alerts`, { body: sentBack })
    expect([again.status, again.body.alert.alerts]).toEqual([201, ['Mine']])
    expect(again.body.alert.id).not.toBe(first.body.alert.id)
  })

  test('sends it only to active users who can see the device, once to each address', async () => {
    const account = await openAccount()
    const [inside, outside] = [await createDevice(account), await createDevice(account)]
    const { body: north } = await account.call('POST', '/api/groups', {
      body: { name: 'North', devices: [inside] },
    })
    const phone = '+351910000002'
    const both = { email: true, sms: true }
    const seeing = await createUser(account, { group: north.id, phone, notify: both })
    const everywhere = await createUser(account, {
      phone,
      notify: both,
      from: '2020-01-01T00:00:00Z',
      expires: '2099-01-01T00:00:00Z',
    })
    await createUser(account, { disabled: true, phone: '+351910000003', notify: both })
    await createUser(account, { from: '2099-01-01T00:00:00Z' })
    await createUser(account, { expires: '2021-01-01T00:00:00Z' })
    const tos = async (id: string, alert = {}) =>
      (await raiseAlert(account, id, alert)).body.alert.deliveries
        .map(({ to }: { to: string }) => to)
        .sort()
    expect(await tos(inside)).toEqual([phone, everywhere.email, seeing.email].sort())
    expect(await tos(outside)).toEqual([phone, everywhere.email].sort())
    expect(await tos(inside, { notifications: ['SMS', 'SMS'] })).toEqual([phone])
    expect(await tos(inside, { notifications: ['Email'] })).toEqual(
      [everywhere.email, seeing.email].sort(),
    )
    const silent = await raiseAlert(account, inside, { notifications: [] })
    expect(silent.body.alert).toMatchObject({ notifications: [], deliveries: [] })
  })

  test.each<[string, unknown, string[]]>([
    ['no name', {}, ['/alertName']],
    ['an empty name', { alertName: '  ' }, ['/alertName']],
    ['a name of 65', { alertName: 'x'.repeat(65) }, ['/alertName']],
    ['a name that is a number', { alertName: 7 }, ['/alertName']],
    ['a latitude alone', { alertName: 'x', latitude: 1 }, ['/longitude']],
    [
      'a longitude alone, wrapped',
      { alert: { alertName: 'x', longitude: 1 } },
      ['/alert/latitude'],
    ],
    [
      'places that are none',
      { alertName: 'x', latitude: 90.1, longitude: '5' },
      ['/latitude', '/longitude'],
    ],
    [
      'a channel that is none',
      { alertName: 'x', notifications: ['Email', 'Fax'] },
      ['/notifications/1'],
    ],
    [
      'tomorrow',
      { alertName: 'x', dateTime: new Date(Date.now() + 86_400_000).toISOString() },
      ['/dateTime'],
    ],
    ['last century', { alertName: 'x', dateTime: '1999-12-31T23:59:59Z' }, ['/dateTime']],
    ['a text too long', { alertName: 'x', text: 'x'.repeat(2001) }, ['/text']],
    ['an unknown member', { alertName: 'x', severity: 1 }, ['/severity']],
    ['a list', [{ alertName: 'x' }], ['']],
  ])('with %s is refused, and nothing is stored', async (_, body, expected) => {
    const account = await openAccount()
    const id = await createDevice(account)
    const reply = await account.call('POST', `/api/devices/${id}/alerts`, { body })
    expect(reply.status).toBe(400)
    expect(pointers(reply)).toEqual(expected)
    expect((await account.call('GET', '/api/alerts')).body.alerts).toEqual([])
  })

  test('for an expired device is refused, stores and sends nothing, and updates its last contact', async () => {
    const account = await openAccount()
    await createUser(account)
    const id = await createDevice(account, {
      limits: { expires: true, expirationDate: '2020-01-01' },
    })
    const before = Date.now()
    const reply = await raiseAlert(account, id)
    expect([reply.status, reply.body.code]).toEqual([409, 'device-expired'])
    expect((await account.call('GET', '/api/alerts')).body.alerts).toEqual([])
    expect((await account.call('GET', '/api/account/messages')).body.messages).toEqual([])
    const { lastContact } = (await account.call('GET', `/api/devices/${id}`)).body.device
    expect(Date.parse(lastContact)).toBeGreaterThanOrEqual(before)
    expect(await readEvents(account, 'alert.raised')).toEqual([])
  })

  test('updates the last contact of an active device too', async () => {
    const account = await openAccount()
    const id = await createDevice(account)
    const before = Date.now()
    await raiseAlert(account, id, { dateTime: '2025-01-01T00:00:00Z' })
    expect(
      Date.parse((await account.call('GET', `/api/devices/${id}`)).body.device.lastContact),
    ).toBeGreaterThanOrEqual(before)
  })

  test('needs ingest or write; a query needs read', async () => {
    const account = await openAccount()
    const id = await createDevice(account)
    const path = `/api/devices/${id}/alerts`
    const query = { from: '2026-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' }
    const tried = async (scopes: string[], body: object) =>
      (
        await account.call('POST', path, {
          token: await fetchTokenWithScopes(account, scopes),
          body,
        })
      ).status
    expect(await tried(['ingest'], { alertName: 'x' })).toBe(201)
    expect(await tried(['ingest'], query)).toBe(403)
    expect(await tried(['read'], { alertName: 'x' })).toBe(403)
    expect(await tried(['read'], query)).toBe(200)
    expect(await tried(['write'], { alertName: 'x' })).toBe(201)
  })

  test('is 404 for a device of another account or outside of a confined user’s group', async () => {
    const [account, other] = [await openAccount(), await openAccount()]
    const id = await createDevice(account)
    expect((await raiseAlert(other, id)).status).toBe(404)
    const { body: north } = await account.call('POST', '/api/groups', { body: { name: 'North' } })
    const confined = await createBoundUser(account, { group: north.id, privileges: ['write'] })
    expect((await raiseAlert(confined, id)).status).toBe(404)
    expect((await confined.call('GET', `/api/devices/${id}/alerts`)).status).toBe(404)
    expect((await account.call('GET', `/api/devices/${id}/alerts`)).body.alerts).toEqual([])
  })

  test.each(['SOSButton', 'LowBattery'])(
    '%s again with the same Idempotency-Key makes one alert, even when the first reply was lost',
    async (alertName) => {
      const account = await openAccount()
      await createUser(account)
      const id = await createDevice(account)
      const headers = { 'Idempotency-Key': 'sos-1' }
      const first = await raiseAlert(account, id, { alertName }, headers)
      const replayed = await raiseAlert(account, id, { alertName }, headers)
      expect([replayed.text, replayed.headers.get('Idempotent-Replayed')]).toEqual([
        first.text,
        'true',
      ])
      // As after a crash before the reply was stored: claimed long ago, without a reply.
      await env.DB.prepare(
        'UPDATE idempotency SET status = NULL, leased_until = 1 WHERE account_id = ?',
      )
        .bind(account.id)
        .run()
      await waitUntilSent(account)
      const repeated = await raiseAlert(account, id, { alertName }, headers)
      expect(repeated.status).toBe(201)
      expect(repeated.body.alert.id).toBe(first.body.alert.id)
      expect(repeated.body.alert.updates).toEqual([])
      expect(repeated.body.alert.deliveries).toMatchObject([
        { id: first.body.alert.deliveries[0].id, status: 'sent' },
      ])
      expect((await account.call('GET', '/api/alerts')).body.alerts).toHaveLength(1)
      expect((await account.call('GET', '/api/account/messages')).body.messages).toHaveLength(1)
      expect(await readUsage(account, id)).toMatchObject({ emailsSent: 1 })
      expect(await readEvents(account, 'alert.raised')).toHaveLength(1)
    },
  )
})

test('an alert goes to 200 users, administrators among them, and says how many are left out', async () => {
  const account = await openAccount()
  const id = await createDevice(account, { limits: { dailyEmailLimit: 500, dailySmsLimit: 0 } })
  const { id: first } = await createUser(account, { notify: { email: true, sms: false } })
  const own = {
    id: `'usr_' || printf('%022d', i)`,
    email: `i || '@example.com'`,
    email_key: `i || '@example.com'`,
    privileges: `iif(i = 230, '["admin"]', '["read"]')`,
  }
  const { results } = await env.DB.prepare('SELECT name FROM pragma_table_info(?)')
    .bind('users')
    .all<{ name: string }>()
  const columns = results.map(({ name }) => name)
  const values = columns.map((name) => own[name as keyof typeof own] ?? name)
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 230)
     INSERT INTO users (${columns}) SELECT ${values} FROM users, n WHERE id = ?`,
  )
    .bind(first)
    .run()
  const { body } = await raiseAlert(account, id)
  expect(body.recipientsOmitted).toBe(31)
  expect(body.alert.deliveries).toHaveLength(200)
  const addresses = body.alert.deliveries.map(({ to }: { to: string }) => to)
  expect(addresses).toContain('230@example.com')
  expect(addresses).not.toContain('229@example.com')
})

describe('the reply to an SOS', () => {
  /** Two hours apart, so that none joins another. */
  const warningOf = async (account: TestAccount, id: string, hoursAgo: number) => {
    const dateTime = new Date(Date.now() - hoursAgo * 3_600_000).toISOString()
    return (await raiseAlert(account, id, { alertName: 'SOSButton', dateTime })).body.warning
  }

  test('has a warning when no message is sent; other alerts, or one message, give none', async () => {
    const account = await openAccount()
    const id = await createDevice(account, { limits: { dailyEmailLimit: 1, dailySmsLimit: 0 } })
    expect(await warningOf(account, id, 4)).toMatch(/no user/)
    await createUser(account, { phone: '+351910000004', notify: { email: true, sms: true } })
    expect(await warningOf(account, id, 2)).toBeUndefined()
    expect(await warningOf(account, id, 0)).toMatch(/daily limits/)
    expect((await raiseAlert(account, id)).body).not.toHaveProperty('warning')
  })

  test('says that nobody is notified where there is nobody', async () => {
    const account = await openAccount()
    const ended = { limits: { expires: true, expirationDate: '2020-01-01' } }
    const none = 'No administrator or emergency contact is notified either.'
    expect(await warningOf(account, await createDevice(account), 0)).toContain(none)
    expect(await warningOf(account, await createDevice(account, ended), 0)).toMatch(
      new RegExp(`: the device has expired\\. ${none}`),
    )
    await createUser(account, { privileges: ['admin'] })
    const body = { dailyNoticeLimit: { email: 0, sms: 0 } }
    await account.call('PATCH', '/api/account', { body })
    const limited = await createDevice(account, { limits: { dailyEmailLimit: 0 } })
    expect(await warningOf(account, limited, 0)).toMatch(
      new RegExp(`: the device has reached its daily limits\\. ${none}`),
    )
  })
})
