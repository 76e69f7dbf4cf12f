import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { none } from '../../../src/notify/none.ts'
import { callerWith, fetchTokenWithScopes, openAccount } from '../../support/accounts.ts'
import { deliveryStatusesIn, raiseAlert } from '../../support/alerts/alerts.ts'
import {
  HARBOUR,
  MINUTE_MS,
  openAccountWithPeople,
  passTime,
  patchAccount,
  raiseSos,
  recipientsOf,
} from '../../support/alerts/emergencies.ts'
import { readMessages, waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice, readUsage } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { crashLedger } from '../../support/ledger.ts'
import { daysAgo, eventually, iso } from '../../support/time.ts'
import { createUser } from '../../support/users.ts'

const EVERYONE_OF_THE_ACCOUNT = [
  'Email admin@example.com',
  `Email ${HARBOUR.email}`,
  'SMS +351910000090',
  `SMS ${HARBOUR.phone}`,
]
const EXPIRED = { limits: { expires: true, expirationDate: '2020-01-01' } }

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Providers accept nothing until the mock is restored. */
const failToSend = () =>
  vi
    .spyOn(none, 'send')
    .mockResolvedValue({ kind: 'retry', reason: 'provider-down', maybeAccepted: false })

describe('the position of an alert', () => {
  test('says where it comes from and when it was taken', async () => {
    const account = await openAccount()
    const id = await createDevice(account)
    const bare = (await raiseAlert(account, id)).body.alert
    expect(bare).toMatchObject({ latitude: null, positionTime: null, positionSource: 'none' })
    const taken = iso(daysAgo(3))
    const location = { dateTime: taken, latitude: 1.5, longitude: -2.25 }
    await account.call('POST', `/api/devices/${id}/locations`, { body: location })
    const { alert } = (await raiseAlert(account, id)).body
    expect(alert).toMatchObject({
      latitude: 1.5,
      longitude: -2.25,
      positionTime: taken,
      positionSource: 'last-known',
    })
    const own = { latitude: 3, longitude: 4, dateTime: iso(Date.now() - 5 * MINUTE_MS) }
    expect((await raiseAlert(account, id, own)).body.alert).toMatchObject({
      latitude: 3,
      positionTime: own.dateTime,
      positionSource: 'reported',
      late: false,
    })
    expect((await account.call('GET', `/api/alerts/${alert.id}`)).body.alert).toMatchObject(alert)
    const old = { dateTime: iso(Date.now() - 61 * MINUTE_MS) }
    expect((await raiseAlert(account, id, old)).body.alert).toMatchObject({ late: true })
  })
})

describe('which alerts are emergencies', () => {
  test('the account’s names are, and those that a raiser with more than ingest calls so', async () => {
    const account = await openAccount()
    await patchAccount(account, { emergencyAlerts: ['ManOverboard'] })
    const id = await createDevice(account)
    const ingest = callerWith(await fetchTokenWithScopes(account, ['ingest']))
    const write = callerWith(await fetchTokenWithScopes(account, ['write']))
    const isEmergency = async (caller: typeof ingest, alert: object) =>
      (await raiseAlert(caller, id, alert)).body.alert.emergency
    expect(await isEmergency(ingest, { alertName: 'ManOverboard' })).toBe(true)
    expect(await isEmergency(ingest, { alertName: 'SOSButton' })).toBe(false)
    expect(await isEmergency(ingest, { alertName: 'Fire', emergency: true })).toBe(false)
    expect(await isEmergency(write, { alertName: 'Fire', emergency: true })).toBe(true)
    expect(await isEmergency(write, { alertName: 'Fire', emergency: null })).toBe(false)
    const names = async (query: string) =>
      (await account.call('GET', query)).body.alerts.map(({ alerts }: { alerts: string[] }) =>
        alerts.join(),
      )
    expect((await names('/api/alerts?emergency=true')).toSorted()).toEqual(['Fire', 'ManOverboard'])
    expect((await names(`/api/devices/${id}/alerts?emergency=false`)).toSorted()).toEqual([
      'Fire',
      'Fire',
      'SOSButton',
    ])
    const body = { from: '2020-01-01T00:00:00Z', emergency: true }
    const queried = await account.call('POST', `/api/devices/${id}/alerts`, { body })
    expect(queried.body.alerts).toHaveLength(2)
    expect((await account.call('GET', '/api/alerts?emergency=yes')).status).toBe(400)
  })
})

describe('an emergency that reaches nobody', () => {
  test('because the limit is reached notifies administrators and contacts, beside the limit', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account, { limits: { dailyEmailLimit: 3, dailySmsLimit: 0 } })
    for (let n = 0; n < 3; n++) await raiseAlert(account, id)
    const { status, body } = await raiseSos(account, id)
    expect([status, body.warning]).toEqual([201, expect.stringMatching(/limits.* sent 4 mess/)])
    expect(body.alert.deliveries).toMatchObject([
      { status: 'suppressed', reason: 'daily-limit-reached' },
    ])
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'notice', 'sent')).toEqual(EVERYONE_OF_THE_ACCOUNT)
    expect(await readUsage(account, id)).toMatchObject({ emailsSent: 3, smsSent: 0 })
    expect(await readEvents(account, 'alert.undelivered')).toEqual([
      {
        deviceId: id,
        alertId: body.alert.id,
        alertName: 'SOSButton',
        reason: 'daily-limit-reached',
        notices: 4,
        noticesSuppressed: 0,
      },
    ])
    const read = await account.call('GET', `/api/alerts/${body.alert.id}`)
    // The reply to the raise does not know users' names.
    expect(read.body.alert.deliveries).toEqual([{ ...body.alert.deliveries[0], name: 'Ana' }])
  })

  test('because there is nobody to notify is reported too, and once though time passes', async () => {
    const account = await openAccount()
    await patchAccount(account, { emergencyContacts: [HARBOUR] })
    const id = await createDevice(account)
    await raiseSos(account, id)
    await passTime(account, 3 * MINUTE_MS)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'notice')).toEqual([
      `Email ${HARBOUR.email}`,
      `SMS ${HARBOUR.phone}`,
    ])
    expect(await readEvents(account, 'alert.undelivered')).toMatchObject([
      { reason: 'nobody-to-tell' },
    ])
  })

  test('because no provider accepts its messages is reported after two minutes, across a crash', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account)
    failToSend()
    await raiseSos(account, id)
    await passTime(account, 110_000)
    expect(await readEvents(account, 'alert.undelivered')).toEqual([])
    await crashLedger(account)
    await passTime(account, 11_000)
    expect(await readEvents(account, 'alert.undelivered')).toMatchObject([
      { reason: 'not-accepted', notices: 4 },
    ])
    await crashLedger(account)
    await passTime(account, MINUTE_MS)
    expect(await readEvents(account, 'alert.undelivered')).toHaveLength(1)
    vi.restoreAllMocks()
    await passTime(account, 5 * MINUTE_MS)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'notice', 'sent')).toEqual(EVERYONE_OF_THE_ACCOUNT)
  })

  test('is reported at once when every message is refused for good', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account)
    const refused = vi
      .spyOn(none, 'send')
      .mockResolvedValueOnce({ kind: 'refused', reason: 'bad-address' })
    await raiseSos(account, id)
    await eventually(async () => {
      await passTime(account, 0)
      expect(await readEvents(account, 'alert.undelivered')).toMatchObject([
        { reason: 'not-accepted' },
      ])
    })
    expect(refused).toHaveBeenCalled()
  })

  test('is not reported when one message was accepted, or someone acknowledged it', async () => {
    const account = await openAccountWithPeople()
    const [first, second] = [await createDevice(account), await createDevice(account)]
    await raiseSos(account, first)
    await waitUntilSent(account)
    failToSend()
    const { alert } = (await raiseSos(account, second)).body
    await account.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    await passTime(account, 5 * MINUTE_MS)
    expect(await readEvents(account, 'alert.undelivered')).toEqual([])
    expect(await recipientsOf(account, 'notice')).toEqual([])
  })

  test('notices have an exact daily limit; beyond it they are suppressed and the event comes', async () => {
    const account = await openAccountWithPeople({ dailyNoticeLimit: { email: 3, sms: 1 } })
    const none = { limits: { dailyEmailLimit: 0, dailySmsLimit: 0 } }
    const devices = await Promise.all(Array.from({ length: 5 }, () => createDevice(account, none)))
    await Promise.all(devices.map((id) => raiseSos(account, id)))
    await waitUntilSent(account)
    const sent = await recipientsOf(account, 'notice', 'sent')
    expect(sent.filter((text: string) => text.startsWith('Email'))).toHaveLength(3)
    expect(sent.filter((text: string) => text.startsWith('SMS'))).toHaveLength(1)
    expect(await recipientsOf(account, 'notice', 'suppressed')).toHaveLength(16)
    const [suppressed] = await readMessages(account, '?status=suppressed')
    expect(suppressed.resetAt).not.toBeNull()
    const notices = await readEvents(account, 'alert.undelivered')
    expect(notices).toHaveLength(5)
    expect(notices.reduce((sum, { notices: sent }) => sum + sent, 0)).toBe(4)
  })

  test('an ingest key cannot buy SMS beyond the limits of device and account', async () => {
    const account = await openAccountWithPeople({ dailyNoticeLimit: { email: 4, sms: 2 } })
    await createUser(account, { phone: '+351910000091', notify: { email: false, sms: true } })
    const id = await createDevice(account, { limits: { dailyEmailLimit: 2, dailySmsLimit: 3 } })
    const ingest = callerWith(await fetchTokenWithScopes(account, ['ingest']))
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        raiseSos(ingest, id, {
          dateTime: iso(Date.now() - n * 61 * MINUTE_MS),
          emergency: true,
          notifications: ['SMS'],
        }),
      ),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]))
    await waitUntilSent(account)
    const sent = await readMessages(account, '?status=sent&channel=SMS')
    expect(sent).toHaveLength(5)
    expect(await readUsage(account, id)).toMatchObject({ emailsSent: 0, smsSent: 3 })
  })
})

describe('the emergency reserve', () => {
  test('is kept from ordinary alerts; emergencies have the whole limit, exactly', async () => {
    const account = await openAccountWithPeople()
    const limits = { dailyEmailLimit: 5, emergencyReserve: { email: 2, sms: 0 } }
    const id = await createDevice(account, { limits })
    const replies = await Promise.all(Array.from({ length: 6 }, () => raiseAlert(account, id)))
    const deliveries = replies.flatMap(({ body }) => body.alert.deliveries)
    const withStatus = (status: string) =>
      deliveries.filter((delivery: { status: string }) => delivery.status === status)
    expect(withStatus('queued')).toHaveLength(3)
    expect(withStatus('suppressed')).toMatchObject(
      Array.from({ length: 3 }, () => ({ reason: 'reserved-for-emergencies' })),
    )
    expect(await readEvents(account, 'limit.reached')).toEqual([])
    const hours = (n: number) => ({ dateTime: iso(Date.now() - n * 120 * MINUTE_MS) })
    expect(deliveryStatusesIn(await raiseSos(account, id, hours(0)))).toEqual(['Email queued'])
    expect(deliveryStatusesIn(await raiseSos(account, id, hours(1)))).toEqual(['Email queued'])
    const over = await raiseSos(account, id, hours(2))
    expect(over.body.alert.deliveries).toMatchObject([
      { status: 'suppressed', reason: 'daily-limit-reached' },
    ])
    expect(await readUsage(account, id)).toMatchObject({ emailsSent: 5 })
    expect(await readEvents(account, 'limit.reached')).toMatchObject([{ limit: 5 }])
  })

  test('that emergencies have used leaves ordinary alerts their part', async () => {
    const account = await openAccountWithPeople()
    const limits = { dailyEmailLimit: 3, emergencyReserve: { email: 1, sms: 0 } }
    const id = await createDevice(account, { limits })
    await raiseSos(account, id)
    const statuses = []
    for (let n = 0; n < 3; n++) statuses.push(...deliveryStatusesIn(await raiseAlert(account, id)))
    expect(statuses).toEqual(['Email queued', 'Email queued', 'Email suppressed'])
  })

  test('above the limit is refused; by default it is nothing', async () => {
    const account = await openAccount()
    const limits = { dailyEmailLimit: 5, emergencyReserve: { email: 6, sms: 21 } }
    const reply = await account.call('POST', '/api/devices', { body: { name: 'Tern 7', limits } })
    expect(reply.status).toBe(400)
    expect(reply.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/limits/emergencyReserve/email',
      '/limits/emergencyReserve/sms',
    ])
    const id = await createDevice(account)
    const { device } = (await account.call('GET', `/api/devices/${id}`)).body
    expect(device.limits.emergencyReserve).toEqual({ email: 0, sms: 0 })
    const patched = await account.call('PATCH', `/api/devices/${id}`, {
      body: { limits: { emergencyReserve: { email: 100 } } },
    })
    expect(patched.body.device.limits.emergencyReserve).toEqual({ email: 100, sms: 0 })
    const lowered = { limits: { dailyEmailLimit: 99 } }
    expect((await account.call('PATCH', `/api/devices/${id}`, { body: lowered })).status).toBe(400)
  })
})

describe('an emergency of an expired device', () => {
  test('is stored and reported to the account, once in ten minutes, without a message of the device', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account, EXPIRED)
    const { status, body } = await raiseSos(account, id, { latitude: 1, longitude: 2 })
    expect([status, body.alert.deliveries]).toEqual([201, []])
    expect(body.warning).toMatch(/expired\. .* are sent 4 messages\./)
    const again = await raiseSos(account, id)
    expect([again.status, again.body.code]).toEqual([409, 'device-expired'])
    expect((await raiseAlert(account, id)).status).toBe(409)
    expect((await account.call('GET', '/api/alerts')).body.alerts).toHaveLength(1)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'notice')).toEqual(EVERYONE_OF_THE_ACCOUNT)
    expect(await recipientsOf(account, 'alert')).toEqual([])
    const [notice] = await readMessages(account, '?channel=Email')
    expect(notice.text).toContain('Tern 7, whose license has expired, sent an SOS')
    expect(await readEvents(account, 'alert.undelivered')).toMatchObject([
      { reason: 'device-expired' },
    ])
    await passTime(account, 9 * MINUTE_MS)
    expect((await raiseSos(account, id)).status).toBe(409)
    await passTime(account, 2 * MINUTE_MS)
    expect((await raiseSos(account, id)).status).toBe(201)
  })
})

test('an emergency after the device was reactivated goes to its users', async () => {
  const account = await openAccountWithPeople()
  const id = await createDevice(account, EXPIRED)
  const { alert } = (await raiseSos(account, id)).body
  await account.call('POST', `/api/devices/${id}/reactivate`)
  const again = await raiseSos(account, id)
  expect(again.body.alert.id).not.toBe(alert.id)
  expect(deliveryStatusesIn(again)).toEqual(['Email queued'])
})

describe('a later emergency', () => {
  test('of the same device and name joins the open one and sends nothing, thirty at once too', async () => {
    const account = await openAccountWithPeople()
    const [id, other] = [await createDevice(account), await createDevice(account)]
    const start = Date.now() - 30 * MINUTE_MS
    const at = (n: number) => ({
      dateTime: iso(start + n * MINUTE_MS),
      latitude: 1 + n / 100,
      longitude: 2,
    })
    const first = (await raiseSos(account, id, at(0))).body.alert
    const later = Array.from({ length: 29 }, (_, n) => at(n + 1))
    const replies = await Promise.all(later.map((place) => raiseSos(account, id, place)))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(replies.map(({ body }) => body.alert.id))).toEqual(new Set([first.id]))
    const { alert } = (await account.call('GET', `/api/alerts/${first.id}`)).body
    expect(alert.updates).toMatchObject(later)
    expect((await account.call('GET', '/api/alerts')).body.alerts).toHaveLength(1)
    await waitUntilSent(account)
    expect(await readMessages(account)).toHaveLength(1)
    expect(await readEvents(account, 'alert.raised')).toHaveLength(1)
    expect((await raiseSos(account, other)).body.alert.id).not.toBe(first.id)
    const fire = await raiseAlert(account, id, { alertName: 'Fire', emergency: true })
    expect(fire.body.alert.id).not.toBe(first.id)
  })

  test('is an alert of its own after an hour, and once the open one is acknowledged or cancelled', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account)
    const ids = new Set<string>()
    const raise = async (minutesAgo: number) => {
      const dateTime = iso(Date.now() - minutesAgo * MINUTE_MS)
      const { alert } = (await raiseSos(account, id, { dateTime })).body
      ids.add(alert.id)
      return alert.id as string
    }
    await raise(200)
    await raise(139)
    const open = await raise(0)
    expect(ids.size).toBe(3)
    await account.call('POST', `/api/alerts/${open}/acknowledge`)
    const second = await raise(0)
    await account.call('POST', `/api/alerts/${second}/cancel`)
    await raise(0)
    expect(ids.size).toBe(5)
    await raise(0)
    expect(ids.size).toBe(5)
  })

  test('that is repeated under its Idempotency-Key adds its place once', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account)
    const { alert } = (await raiseSos(account, id)).body
    const headers = { 'Idempotency-Key': 'press-2' }
    const press = () => raiseAlert(account, id, { alertName: 'SOSButton' }, headers)
    await press()
    await press()
    // As after a crash before the reply was stored.
    await env.DB.prepare(
      'UPDATE idempotency SET status = NULL, leased_until = 1 WHERE account_id = ?',
    )
      .bind(account.id)
      .run()
    expect((await press()).body.alert.id).toBe(alert.id)
    const read = await account.call('GET', `/api/alerts/${alert.id}`)
    expect(read.body.alert.updates).toEqual([
      { dateTime: expect.any(String), latitude: null, longitude: null, place: null },
    ])
  })
})
