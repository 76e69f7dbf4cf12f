import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { addDays, dayStart, localDay } from '../../../src/domain/time/day.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { deliveryStatusesIn, raiseAlert } from '../../support/alerts/alerts.ts'
import { readMessages, waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice, readUsage } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import type { Reply } from '../../support/http.ts'
import { crashLedger, ledgerStub } from '../../support/ledger.ts'
import { createUser } from '../../support/users.ts'

const both = { email: true, sms: true }
const count = (replies: Reply[], what: string) =>
  replies.flatMap(deliveryStatusesIn).filter((status) => status === what).length
const patchLimits = (account: TestAccount, id: string, limits: object) =>
  account.call('PATCH', `/api/devices/${id}`, { body: { limits } })

describe('a daily limit', () => {
  test('is exact for each channel over a hundred concurrent alerts, which are all stored', async () => {
    const account = await openAccount()
    await createUser(account, { phone: '+351910000010', notify: both })
    const id = await createDevice(account, { limits: { dailyEmailLimit: 30, dailySmsLimit: 7 } })
    const replies = await Promise.all(Array.from({ length: 100 }, () => raiseAlert(account, id)))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]))
    expect([count(replies, 'Email queued'), count(replies, 'SMS queued')]).toEqual([30, 7])
    expect([count(replies, 'Email suppressed'), count(replies, 'SMS suppressed')]).toEqual([70, 93])
    expect(await readUsage(account, id)).toMatchObject({ emailsSent: 30, smsSent: 7 })
    await waitUntilSent(account)
    expect(await readMessages(account, '?status=sent&channel=Email')).toHaveLength(30)
    expect(await readMessages(account, '?status=sent&channel=SMS')).toHaveLength(7)
    expect((await account.call('GET', '/api/alerts')).body.alerts).toHaveLength(100)
    const today = new Date().toISOString().slice(0, 10)
    expect(
      (await readEvents(account, 'limit.reached')).toSorted((a, b) => a.limit - b.limit),
    ).toMatchObject([
      { deviceId: id, channel: 'SMS', limit: 7, date: today },
      { deviceId: id, channel: 'Email', limit: 30, date: today },
    ])
  })

  test('that is nearly used up goes to the first recipients; the reply, event, usage and log show the rest', async () => {
    const lines = vi.spyOn(console, 'warn')
    const account = await openAccount({ timeZone: 'Europe/Lisbon' })
    for (let n = 0; n < 5; n++) await createUser(account)
    const id = await createDevice(account, { limits: { dailyEmailLimit: 3 } })
    const reply = await raiseAlert(account, id)
    expect(deliveryStatusesIn(reply)).toEqual([
      'Email queued',
      'Email queued',
      'Email queued',
      'Email suppressed',
      'Email suppressed',
    ])
    const { alert } = reply.body
    const resetAt = new Date(
      dayStart(addDays(localDay(Date.now(), 'Europe/Lisbon'), 1), 'Europe/Lisbon'),
    ).toISOString()
    expect(alert.deliveries[4]).toMatchObject({
      status: 'suppressed',
      reason: 'daily-limit-reached',
      resetAt,
    })
    expect(alert.notifications).toEqual(['Email'])
    expect((await raiseAlert(account, id)).body.alert.notifications).toEqual([])
    const data = {
      deviceId: id,
      alertId: alert.id,
      channel: 'Email',
      messages: 2,
      reason: 'daily-limit-reached',
      resetAt,
    }
    expect((await readEvents(account, 'message.suppressed'))[0]).toEqual(data)
    const usage = (await account.call('GET', `/api/devices/${id}/usage`)).body.usage
    expect(usage.at(-1)).toEqual({
      date: localDay(Date.now(), 'Europe/Lisbon'),
      emailsSent: 3,
      smsSent: 0,
      emailsSuppressed: 7,
    })
    expect(usage.at(-2)).toEqual({
      date: addDays(localDay(Date.now(), 'Europe/Lisbon'), -1),
      emailsSent: 0,
      smsSent: 0,
    })
    const logged = lines.mock.calls
      .map(([line]) => String(line))
      .filter((line) => line.includes(alert.id))
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'message-suppressed', channel: 'Email', messages: 2 },
    ])
    expect(logged.join()).not.toContain('@')
    lines.mockRestore()
  })

  test.each([
    ['evicted', (account: TestAccount) => evictDurableObject(ledgerStub(account)).catch(() => {})],
    ['crashed', crashLedger],
  ])(
    'is not exceeded when the object is %s under load, and each granted message is sent once',
    async (_, stop) => {
      const account = await openAccount()
      await createUser(account)
      const id = await createDevice(account, { limits: { dailyEmailLimit: 20 } })
      const storm = Array.from({ length: 60 }, () => raiseAlert(account, id))
      await stop(account)
      await Promise.all(storm)
      await stop(account)
      await Promise.all(Array.from({ length: 40 }, () => raiseAlert(account, id)))
      await waitUntilSent(account)
      expect(await readMessages(account, '?status=sent')).toHaveLength(20)
      expect(await readUsage(account, id)).toMatchObject({ emailsSent: 20 })
      expect(await readEvents(account, 'message.sent')).toHaveLength(20)
      expect(await readEvents(account, 'limit.reached')).toHaveLength(1)
    },
  )

  test('of one device does not affect another', async () => {
    const account = await openAccount()
    await createUser(account)
    const [first, second] = [
      await createDevice(account, { limits: { dailyEmailLimit: 2 } }),
      await createDevice(account, { limits: { dailyEmailLimit: 2 } }),
    ]
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => raiseAlert(account, n % 2 ? first : second)),
    )
    expect(count(replies, 'Email queued')).toBe(4)
    for (const id of [first, second])
      expect(await readUsage(account, id)).toMatchObject({ emailsSent: 2 })
  })
})

test('a raised or lowered limit applies to the next message', async () => {
  const account = await openAccount()
  await createUser(account)
  const id = await createDevice(account, { limits: { dailyEmailLimit: 1 } })
  expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email queued'])
  expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email suppressed'])
  await patchLimits(account, id, { dailyEmailLimit: 3 })
  expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email queued'])
  await patchLimits(account, id, { dailyEmailLimit: 2 })
  expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email suppressed'])
  await patchLimits(account, id, { dailyEmailLimit: 0 })
  expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email suppressed'])
  await patchLimits(account, id, { dailyEmailLimit: 3 })
  expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email queued'])
  expect(await readUsage(account, id)).toMatchObject({ emailsSent: 3 })
  expect(await readEvents(account, 'limit.reached')).toHaveLength(1)
})

describe('days', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  /** Sets the clock and returns the account with a new token: tokens last an hour. */
  const travel = async (account: TestAccount, at: number): Promise<TestAccount> => {
    vi.setSystemTime(at)
    const { body } = await account.call('POST', '/api/Auth/Token', {
      body: { userName: account.userName, apiKey: account.apiKey },
    })
    const { token } = body
    return {
      ...account,
      token,
      call: (method, path, options = {}) => account.call(method, path, { token, ...options }),
    }
  }

  test.each([
    ['UTC', '2031-06-15', 24],
    ['America/New_York', '2031-11-02', 25],
    ['America/New_York', '2031-03-09', 23],
    ['Europe/Lisbon', '2031-10-26', 25],
    ['America/Santiago', '2031-09-07', 23],
    ['Asia/Kolkata', '2031-06-15', 24],
    ['Australia/Lord_Howe', '2031-04-06', 24.5],
    ['Pacific/Kiritimati', '2031-06-15', 24],
  ])(
    'in %s the limit of %s applies for its %f hours, to the millisecond',
    async (timeZone, date, hours) => {
      const [begins, ends] = [dayStart(date, timeZone), dayStart(addDays(date, 1), timeZone)]
      expect((ends - begins) / 3_600_000).toBe(hours)
      vi.setSystemTime(begins - 1)
      let account = await openAccount({ timeZone })
      await createUser(account)
      const id = await createDevice(account, { limits: { dailyEmailLimit: 1 } })
      expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email queued'])
      const late = await raiseAlert(account, id)
      expect(late.body.alert.deliveries[0]).toMatchObject({
        status: 'suppressed',
        resetAt: new Date(begins).toISOString(),
      })
      account = await travel(account, begins)
      expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email queued'])
      for (const at of [begins + 1, (begins + ends) / 2, ends - 1]) {
        account = await travel(account, at)
        const suppressed = await raiseAlert(account, id)
        expect(suppressed.body.alert.deliveries[0]).toMatchObject({
          status: 'suppressed',
          resetAt: new Date(ends).toISOString(),
        })
      }
      account = await travel(account, ends)
      expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email queued'])
      const { usage } = (
        await account.call(
          'GET',
          `/api/devices/${id}/usage?from=${addDays(date, -1)}&to=${addDays(date, 1)}`,
        )
      ).body
      expect(usage.map(({ emailsSent }: { emailsSent: number }) => emailsSent)).toEqual([1, 1, 1])
      expect(await readEvents(account, 'limit.reached')).toHaveLength(3)
    },
  )

  test('a clock that goes back resets no limit, neither of the day it leaves nor of the day it returns to', async () => {
    vi.setSystemTime(Date.parse('2031-06-15T12:00:00Z'))
    let account = await openAccount()
    await createUser(account)
    const id = await createDevice(account, { limits: { dailyEmailLimit: 1 } })
    expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email queued'])
    account = await travel(account, Date.parse('2031-06-17T12:00:00Z'))
    expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email queued'])
    account = await travel(account, Date.parse('2031-06-15T12:00:00Z'))
    const suppressed = await raiseAlert(account, id)
    expect(suppressed.body.alert.deliveries[0]).toMatchObject({
      status: 'suppressed',
      resetAt: '2031-06-18T00:00:00.000Z',
    })
    account = await travel(account, Date.parse('2031-06-16T12:00:00Z'))
    expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email suppressed'])
    await evictDurableObject(ledgerStub(account))
    expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email suppressed'])
    account = await travel(account, Date.parse('2031-06-18T00:00:00Z'))
    expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email queued'])
  })

  test('a time zone with another date has that date’s counter; changing back finds the old one used', async () => {
    vi.setSystemTime(Date.parse('2031-06-15T06:00:00Z'))
    const account = await openAccount({ timeZone: 'Asia/Tokyo' })
    await createUser(account)
    const id = await createDevice(account, { limits: { dailyEmailLimit: 1 } })
    const moved = async (timeZone: string) => {
      expect((await account.call('PATCH', '/api/account', { body: { timeZone } })).status).toBe(200)
      return deliveryStatusesIn(await raiseAlert(account, id))
    }
    expect(deliveryStatusesIn(await raiseAlert(account, id))).toEqual(['Email queued'])
    expect(await moved('Pacific/Honolulu')).toEqual(['Email queued'])
    expect(await moved('Asia/Tokyo')).toEqual(['Email suppressed'])
    expect(await moved('Europe/Lisbon')).toEqual(['Email suppressed'])
    expect(await moved('Pacific/Honolulu')).toEqual(['Email suppressed'])
    const { usage } = (
      await account.call('GET', `/api/devices/${id}/usage?from=2031-06-14&to=2031-06-15`)
    ).body
    expect(usage.map(({ emailsSent }: { emailsSent: number }) => emailsSent)).toEqual([1, 1])
  })

  test('a time zone with a date used before shows that date’s counters for every device', async () => {
    vi.setSystemTime(Date.parse('2031-06-15T06:00:00Z'))
    const account = await openAccount({ timeZone: 'Asia/Tokyo', licenses: 100 })
    await createUser(account, { phone: '+351910000011', notify: both })
    // More than one batch of the outbox.
    const devices = await Promise.all(Array.from({ length: 60 }, () => createDevice(account)))
    const shown = async (timeZone: string) => {
      expect((await account.call('PATCH', '/api/account', { body: { timeZone } })).status).toBe(200)
      const { body } = await account.call('GET', '/api/devices')
      return [
        ...new Set(body.devices.map(({ usage }: { usage: object }) => JSON.stringify(usage))),
      ].map((usage) => JSON.parse(String(usage)))
    }
    await Promise.all(devices.map((id) => raiseAlert(account, id, { notifications: ['Email'] })))
    expect(await shown('Pacific/Honolulu')).toEqual([
      { date: '2031-06-14', emailsSent: 0, smsSent: 0 },
    ])
    await Promise.all(devices.map((id) => raiseAlert(account, id)))
    expect(await shown('Asia/Tokyo')).toEqual([{ date: '2031-06-15', emailsSent: 1, smsSent: 0 }])
    expect(await shown('Pacific/Honolulu')).toEqual([
      { date: '2031-06-14', emailsSent: 1, smsSent: 1 },
    ])
  })

  test('no date sends more than its limit, whatever the clock and the time zone do', async () => {
    vi.setSystemTime(Date.parse('2031-06-15T06:00:00Z'))
    let account = await openAccount({ timeZone: 'UTC' })
    await createUser(account)
    const id = await createDevice(account, { limits: { dailyEmailLimit: 2 } })
    const zones = [
      'Asia/Tokyo',
      'Pacific/Honolulu',
      'Pacific/Kiritimati',
      'UTC',
      'America/St_Johns',
    ]
    let random = 42
    const next = (most: number) => {
      random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((random / 2 ** 32) * most)
    }
    for (let step = 0; step < 100; step++) {
      const what = next(4)
      if (what === 0) account = await travel(account, Date.now() + (next(72) - 24) * 3_600_000)
      else if (what === 1)
        await account.call('PATCH', '/api/account', {
          body: { timeZone: zones[next(zones.length)] },
        })
      else await raiseAlert(account, id)
    }
    const { results } = await env.DB.prepare(
      'SELECT count(*) AS n FROM messages WHERE account_id = ? AND status <> ?',
    )
      .bind(account.id, 'suppressed')
      .all<{ n: number }>()
    const { usage } = (
      await account.call('GET', `/api/devices/${id}/usage?from=2031-05-01&to=2032-05-01`)
    ).body
    const sent = usage.map(({ emailsSent }: { emailsSent: number }) => emailsSent)
    expect(Math.max(...sent)).toBe(2)
    expect(sent.reduce((sum: number, n: number) => sum + n, 0)).toBe(results[0]?.n)
  })

  test('a suppressed message can be retried on another day and counts there; at the limit it is refused', async () => {
    vi.setSystemTime(Date.parse('2031-06-15T12:00:00Z'))
    let account = await openAccount()
    await createUser(account)
    await createUser(account)
    const id = await createDevice(account, { limits: { dailyEmailLimit: 1 } })
    const { deliveries } = (await raiseAlert(account, id)).body.alert
    const path = (n: number) => `/api/account/messages/${deliveries[n].id}/retry`
    expect((await account.call('POST', path(0))).body.code).toBe('message-not-failed')
    const refused = await account.call('POST', path(1))
    expect([refused.status, refused.body.code, refused.body.resetAt]).toEqual([
      409,
      'daily-limit-reached',
      '2031-06-16T00:00:00.000Z',
    ])
    account = await travel(account, Date.parse('2031-06-16T12:00:00Z'))
    const headers = { 'Idempotency-Key': 'again' }
    const again = await account.call('POST', path(1), { headers })
    expect(again.status).toBe(200)
    expect(again.body.message).toMatchObject({
      id: deliveries[1].id,
      status: 'queued',
      reason: null,
      resetAt: null,
    })
    expect(await readUsage(account, id)).toEqual({ date: '2031-06-16', emailsSent: 1, smsSent: 0 })
    expect((await account.call('POST', path(1))).body.code).toBe('message-not-failed')
    await env.DB.prepare(
      'UPDATE idempotency SET status = NULL, leased_until = 1 WHERE account_id = ?',
    )
      .bind(account.id)
      .run()
    expect((await account.call('POST', path(1), { headers })).status).toBe(200)
    expect(await readUsage(account, id)).toMatchObject({ emailsSent: 1 })
    await waitUntilSent(account)
    expect((await readMessages(account)).map(({ status }: { status: string }) => status)).toEqual([
      'sent',
      'sent',
    ])
  })
})
