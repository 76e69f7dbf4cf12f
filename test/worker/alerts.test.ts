import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { fetchTokenWithScopes, openAccount, type TestAccount } from '../support/accounts.ts'
import { raiseAlert } from '../support/alerts.ts'
import { createDevice, readUsage } from '../support/devices.ts'
import { readEvents } from '../support/events.ts'
import { waitUntilSent } from '../support/messages.ts'
import { createBoundUser, createUser } from '../support/users.ts'

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
        text: 'Help',
        alerts: ['SOSButton'],
        emergency: true,
        late: true,
        notifications: ['Email', 'SMS'],
        acknowledged: false,
        acknowledgedAt: null,
        acknowledgedBy: null,
        cancelled: false,
        cancelledAt: null,
        cancelledBy: null,
        updates: [],
        deliveries: [
          { ...queued, channel: 'Email', to: ana.email },
          { ...queued, channel: 'SMS', to: bob.phone },
        ],
      },
    })
    await waitUntilSent(account)
    const read = await account.call('GET', `/api/alerts/${alert.id}`)
    expect(read.body.alert).toEqual({
      ...alert,
      deliveries: alert.deliveries.map((delivery: object) => ({ ...delivery, status: 'sent' })),
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
})

describe('listing alerts', () => {
  const seeded = async () => {
    const account = await openAccount()
    await createUser(account)
    const [first, second] = [await createDevice(account), await createDevice(account)]
    const days = [3, 1, 2, 5, 4]
    for (const day of days) {
      const name = day % 2 ? 'SOSButton' : 'LowBattery'
      await raiseAlert(account, first, { alertName: name, dateTime: `2026-11-0${day}T00:00:00Z` })
    }
    await raiseAlert(account, second, { alertName: 'SOSButton', dateTime: '2026-11-02T12:00:00Z' })
    return { account, first, second }
  }
  const days = (body: { alerts: { dateTime: string }[] }) =>
    body.alerts.map(({ dateTime }) => Number(dateTime.slice(8, 10)))

  test('of a device filters by span and name, by POST and by GET, both ends included', async () => {
    const { account, first } = await seeded()
    const path = `/api/devices/${first}/alerts`
    const query = { from: '2026-11-02T00:00:00Z', to: '2026-11-04T01:00:00+01:00' }
    const asked = await account.call('POST', path, { body: query })
    expect([asked.status, days(asked.body), asked.body.nextCursor]).toEqual([200, [2, 3, 4], null])
    const got = await account.call('GET', `${path}?${new URLSearchParams(query)}`)
    expect(got.text).toBe(asked.text)
    expect(
      days((await account.call('POST', path, { body: { ...query, alertName: 'SOSButton' } })).body),
    ).toEqual([3])
    expect(
      days((await account.call('GET', `${path}?alertName=SOSButton&sort=-dateTime`)).body),
    ).toEqual([5, 3, 1])
    expect(days((await account.call('GET', path)).body)).toEqual([1, 2, 3, 4, 5])
    expect((await account.call('GET', path)).body.alerts[0].deliveries).toHaveLength(1)
    expect(
      (await account.call('POST', path, { body: { from: '2026-11-02T00:00:00Z' } })).status,
    ).toBe(200)
    const wrong = await account.call('POST', path, { body: { from: query.to, to: query.from } })
    expect([wrong.status, pointers(wrong)]).toEqual([400, ['/from']])
    expect(pointers(await account.call('GET', `${path}?from=yesterday`))).toEqual(['#/query/from'])
    expect((await account.call('GET', '/api/devices/dev_none/alerts')).status).toBe(404)
  })

  test('filters by whether they are acknowledged, in every list', async () => {
    const { account, first } = await seeded()
    const { alerts } = (await account.call('GET', `/api/devices/${first}/alerts`)).body
    for (const { id } of alerts.slice(1, 3))
      await account.call('POST', `/api/alerts/${id}/acknowledge`)
    const path = `/api/devices/${first}/alerts`
    const listed = async (query: string) => days((await account.call('GET', query)).body)
    expect(await listed(`${path}?acknowledged=true`)).toEqual([2, 3])
    expect(await listed(`${path}?acknowledged=false&alertName=SOSButton`)).toEqual([1, 5])
    expect(await listed('/api/alerts?acknowledged=false')).toEqual([5, 4, 2, 1])
    expect(await listed('/api/alerts?acknowledged=true&alertName=SOSButton')).toEqual([3])
    const query = { from: '2026-11-01T00:00:00Z', acknowledged: false }
    for (const limit of [{}, { limit: 10 }]) {
      const posted = await account.call('POST', path, { body: { ...query, ...limit } })
      expect([posted.status, days(posted.body)]).toEqual([200, [1, 4, 5]])
    }
    const page = await account.call('GET', '/api/alerts?acknowledged=false&limit=1')
    const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('Link') ?? '')?.[1] ?? ''
    expect(next).toContain('acknowledged=false')
    expect(await listed(next)).toEqual([4])
    const { nextCursor: cursor } = page.body
    const other = await account.call(
      'GET',
      `/api/alerts?acknowledged=true&cursor=${encodeURIComponent(cursor)}`,
    )
    expect(other.body.code).toBe('invalid-cursor')
    for (const wrong of ['yes', '1', '']) {
      const refused = await account.call('GET', `/api/alerts?acknowledged=${wrong}`)
      expect([refused.status, pointers(refused)]).toEqual([400, ['#/query/acknowledged']])
    }
  })

  test('of the account returns the newest first, and pages without gaps or repeats', async () => {
    const { account, first, second } = await seeded()
    const seen: string[] = []
    let path = '/api/alerts?limit=2'
    for (let pages = 0; pages < 5; pages++) {
      const { body, headers } = await account.call('GET', path)
      seen.push(
        ...body.alerts.map(
          ({ deviceId, dateTime }: { deviceId: string; dateTime: string }) =>
            `${deviceId} ${dateTime.slice(8, 10)}`,
        ),
      )
      const next = /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1]
      if (body.nextCursor === null) break
      expect(next).toContain(encodeURIComponent(body.nextCursor))
      path = next ?? ''
      // Alerts that arrive between two pages change nothing.
      await raiseAlert(account, first, { dateTime: '2026-11-09T00:00:00Z' })
    }
    expect(seen).toEqual([
      `${first} 05`,
      `${first} 04`,
      `${first} 03`,
      `${second} 02`,
      `${first} 02`,
      `${first} 01`,
    ])
    expect(
      days((await account.call('GET', '/api/alerts?alertName=SOSButton&sort=dateTime')).body),
    ).toEqual([1, 2, 3, 5])
    expect((await account.call('GET', '/api/alerts?cursor=x.y')).body.code).toBe('invalid-cursor')
  })

  test('accepts a cursor from POST in GET, but not with another filter', async () => {
    const { account, first } = await seeded()
    const path = `/api/devices/${first}/alerts`
    const { nextCursor } = (
      await account.call('POST', path, { body: { from: '2026-11-01T00:00:00Z', limit: 2 } })
    ).body
    const query = new URLSearchParams({ from: '2026-11-01T00:00:00.000Z', cursor: nextCursor })
    expect(days((await account.call('GET', `${path}?${query}`)).body)).toEqual([3, 4, 5])
    const other = await account.call('POST', path, {
      body: { from: '2026-11-02T00:00:00Z', cursor: nextCursor },
    })
    expect([other.body.code, pointers(other)]).toEqual(['invalid-cursor', ['/cursor']])
  })

  test('shows a confined user only alerts and messages of its group’s devices', async () => {
    const { account, first, second } = await seeded()
    const { body: north } = await account.call('POST', '/api/groups', {
      body: { name: 'North', devices: [second] },
    })
    const confined = await createBoundUser(account, { group: north.id, privileges: ['write'] })
    const { alerts } = (await confined.call('GET', '/api/alerts')).body
    expect(alerts.map(({ deviceId }: { deviceId: string }) => deviceId)).toEqual([second])
    const { messages } = (await confined.call('GET', '/api/account/messages')).body
    expect(messages.map(({ deviceId }: { deviceId: string }) => deviceId)).toEqual([second])
    const [hidden] = (await account.call('GET', `/api/devices/${first}/alerts`)).body.alerts
    for (const [method, path] of [
      ['GET', `/api/alerts/${hidden.id}`],
      ['POST', `/api/alerts/${hidden.id}/acknowledge`],
      ['POST', `/api/account/messages/${hidden.deliveries[0].id}/retry`],
    ] as const) {
      expect((await confined.call(method, path)).status, path).toBe(404)
    }
    expect((await account.call('GET', `/api/alerts/${hidden.id}`)).body.alert.acknowledged).toBe(
      false,
    )
  })

  test('leaves out the alerts of a deleted device', async () => {
    const { account, first } = await seeded()
    const [alert] = (await account.call('GET', `/api/devices/${first}/alerts`)).body.alerts
    await account.call('DELETE', `/api/devices/${first}`)
    expect((await account.call('GET', `/api/alerts/${alert.id}`)).status).toBe(404)
    expect((await account.call('GET', '/api/alerts')).body.alerts).toHaveLength(1)
    expect((await account.call('GET', '/api/account/messages')).body.messages).toHaveLength(1)
  })
})

describe('acknowledging an alert', () => {
  test('records who and when, once', async () => {
    const account = await openAccount()
    const id = await createDevice(account)
    const bound = await createBoundUser(account, { privileges: ['write'] })
    const { alert } = (await raiseAlert(account, id, { notifications: [] })).body
    const before = Date.now()
    const first = await bound.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    expect(first.status).toBe(200)
    expect(first.body.alert).toMatchObject({ acknowledged: true, acknowledgedBy: bound.id })
    expect(Date.parse(first.body.alert.acknowledgedAt)).toBeGreaterThanOrEqual(before)
    const second = await account.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    expect(second.text).toBe(first.text)
    expect((await account.call('GET', `/api/alerts/${alert.id}`)).headers.get('ETag')).toBe(
      first.headers.get('ETag'),
    )
    expect(await readEvents(account, 'alert.acknowledged')).toEqual([
      { deviceId: id, alertId: alert.id, acknowledgedBy: bound.id },
    ])
  })

  test('of a deleted device is 404, and no event is logged', async () => {
    const account = await openAccount()
    const id = await createDevice(account)
    const { alert } = (await raiseAlert(account, id, { alertName: 'Offline' })).body
    await account.call('DELETE', `/api/devices/${id}`)
    expect((await account.call('POST', `/api/alerts/${alert.id}/acknowledge`)).status).toBe(404)
    expect(await readEvents(account, 'alert.acknowledged')).toEqual([])
  })

  test('twice at the same time counts once', async () => {
    const account = await openAccount()
    const { alert } = (await raiseAlert(account, await createDevice(account))).body
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => account.call('POST', `/api/alerts/${alert.id}/acknowledge`)),
    )
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    expect(await readEvents(account, 'alert.acknowledged')).toHaveLength(1)
  })
})
