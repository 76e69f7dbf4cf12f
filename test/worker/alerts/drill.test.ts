import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { ledgerOf } from '../../../src/ledger/stub.ts'
import { none } from '../../../src/notify/none.ts'
import {
  callerWith,
  fetchToken,
  fetchTokenWithScopes,
  type TestAccount,
} from '../../support/accounts.ts'
import {
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
import { beginTestsAtNoon, DAY_MS, iso } from '../../support/time.ts'

const ESCALATION = { escalation: { afterMinutes: 10, rounds: 2 } }

let account: TestAccount
let device: string

beginTestsAtNoon()
beforeEach(async () => {
  account = await openAccountWithPeople(ESCALATION)
  device = await createDevice(account)
})

const runDrill = (members: object = {}) => raiseSos(account, device, { test: true, ...members })
const readAlert = async (id: string) => (await account.call('GET', `/api/alerts/${id}`)).body.alert
const readDevice = async () => (await account.call('GET', `/api/devices/${device}`)).body.device
const readAccount = async () => (await account.call('GET', '/api/account')).body.account

interface Message {
  kind: string
  channel: string
  subject: string
  text: string
}

describe('a drill', () => {
  test('goes through the whole chain, and every message begins with TEST', async () => {
    const { status, body } = await runDrill({ alertName: 'LowBattery' })
    expect(status).toBe(201)
    expect(body.alert).toMatchObject({ test: true, emergency: true, alerts: ['LowBattery'] })
    expect(body.warning).toBeUndefined()
    await waitUntilSent(account)
    await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'alert', 'sent')).toEqual(['Email reader@example.com'])
    expect(await recipientsOf(account, 'escalation', 'sent')).toHaveLength(3)
    const { users } = (await account.call('GET', '/api/users')).body
    const { deliveries } = await readAlert(body.alert.id)
    for (const { to, userId } of deliveries)
      expect(userId).toBe(users.find(({ email }: { email: string }) => email === to)?.id ?? null)
    expect(deliveries[0].userId).toMatch(/^usr_/)
    expect(body.alert.deliveries[0].userId).toBe(deliveries[0].userId)
    await account.call('POST', `/api/alerts/${body.alert.id}/cancel`)
    await waitUntilSent(account)
    const messages: Message[] = await readMessages(account)
    expect(new Set(messages.map(({ kind }) => kind))).toEqual(
      new Set(['alert', 'escalation', 'notice']),
    )
    for (const { channel, subject, text } of messages) {
      expect(text).toMatch(/^TEST: /)
      if (channel === 'Email') expect(subject).toMatch(/^TEST: /)
      if (channel === 'Email') expect(text).toContain('There is no emergency.')
    }
  })

  test('notifies the account if it reaches nobody, also as a test', async () => {
    vi.spyOn(none, 'send').mockResolvedValue({ kind: 'refused', reason: 'no-such-mailbox' })
    await runDrill()
    await waitUntilSent(account)
    await passTime(account, 3 * MINUTE_MS)
    const notices = (await readMessages(account)).filter(({ kind }: Message) => kind === 'notice')
    expect(notices.length).toBeGreaterThan(0)
    for (const { text } of notices) expect(text).toMatch(/^TEST: /)
  })

  test('is acknowledged by its link, which says that it is a test', async () => {
    const { alert } = (await runDrill()).body
    await waitUntilSent(account)
    const [message] = await readMessages(account, `?alertId=${alert.id}`)
    const path = /\/a\/[0-9a-z]{16}/.exec(message.text)?.[0] ?? ''
    expect((await account.call('GET', path)).text).toContain('This is a test')
    expect((await account.call('POST', path)).status).toBe(200)
    expect((await readAlert(alert.id)).acknowledged).toBe(true)
    await passTime(account, 30 * MINUTE_MS)
    expect(await recipientsOf(account, 'escalation')).toEqual([])
  })

  test('is outside limits, budgets and usage, and is no sign of the device', async () => {
    const limits = { expires: false, dailyEmailLimit: 0, dailySmsLimit: 0 }
    await account.call('PATCH', `/api/devices/${device}`, { body: { limits } })
    await patchAccount(account, { dailyNoticeLimit: { email: 0, sms: 0 } })
    await runDrill()
    await waitUntilSent(account)
    await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'alert', 'sent')).toEqual(['Email reader@example.com'])
    expect(await recipientsOf(account, 'escalation', 'sent')).toHaveLength(3)
    expect(await readDevice()).toMatchObject({
      lastContact: null,
      usage: { emailsSent: 0, smsSent: 0 },
    })
    expect((await readAccount()).budgetUsage.messages).toMatchObject({ Email: 0, SMS: 0 })
    expect(await readEvents(account, 'limit.reached')).toEqual([])
  })

  test('gives nothing back that a real alert has counted when its messages fail', async () => {
    await raiseSos(account, device)
    await waitUntilSent(account)
    vi.spyOn(none, 'send').mockResolvedValue({ kind: 'refused', reason: 'no-such-mailbox' })
    await runDrill()
    await waitUntilSent(account)
    expect(await readUsage(account, device)).toMatchObject({ emailsSent: 1 })
    expect((await readAccount()).budgetUsage.messages.Email).toBe(1)
  })

  test('joins no emergency, and none joins it', async () => {
    const at = iso(Date.now())
    const first = (await runDrill({ dateTime: at })).body.alert
    const real = (await raiseSos(account, device, { dateTime: at })).body.alert
    const second = (await runDrill({ dateTime: at })).body.alert
    const again = (await raiseSos(account, device, { dateTime: iso(Date.now() + 1000) })).body.alert
    expect(new Set([first.id, real.id, second.id]).size).toBe(3)
    expect(again.id).toBe(real.id)
    expect(real.test).toBe(false)
    expect([first, second].map((alert) => alert.updates)).toEqual([[], []])
    await waitUntilSent(account)
    const messages: Message[] = await readMessages(account, `?alertId=${real.id}`)
    expect(messages).toHaveLength(1)
    expect(messages[0]?.subject).not.toContain('TEST')
  })

  test('is marked in every event about it, and no other event is', async () => {
    const { alert } = (await runDrill()).body
    const real = (await raiseSos(account, device)).body.alert
    await waitUntilSent(account)
    await passTime(account, 10 * MINUTE_MS + 1)
    await account.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    for (const type of ['alert.raised', 'message.sent', 'alert.escalated', 'alert.acknowledged']) {
      const events = await readEvents(account, type)
      const ofDrill = events.filter(({ alertId }) => alertId === alert.id)
      expect(ofDrill.length, type).toBeGreaterThan(0)
      for (const event of ofDrill) expect(event.test).toBe(true)
      for (const event of events.filter(({ alertId }) => alertId === real.id))
        expect(event).not.toHaveProperty('test')
    }
  })

  test('says who was reached, how fast, and who was not', async () => {
    vi.spyOn(none, 'send').mockImplementation(async (_, { to }) =>
      to === 'harbour@example.com'
        ? { kind: 'refused', reason: 'no-such-mailbox' }
        : { kind: 'accepted', providerId: null },
    )
    const { alert } = (await runDrill()).body
    await waitUntilSent(account)
    await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    const { drill } = await readAlert(alert.id)
    const names = (list: { name: string; channel: string }[]) =>
      list.map(({ name, channel }) => `${name} ${channel}`).toSorted()
    expect(names(drill.reached)).toEqual(['Ana Email', 'Harbour office SMS'])
    expect(names(drill.notReached)).toEqual(['Harbour office Email'])
    const [user, contact] = ['user', 'contact'].map((member) =>
      drill.reached.find((one: object) => member in one),
    )
    expect(user.user).toMatch(/^usr_/)
    expect(user.seconds).toBeLessThan(60)
    expect(contact).toMatchObject({ contact: 'Harbour office', channel: 'SMS' })
    expect(contact.seconds).toBeGreaterThanOrEqual(600)
    expect(drill.notReached[0]).toMatchObject({ status: 'failed', reason: 'no-such-mailbox' })

    const real = (await raiseSos(account, device)).body.alert
    expect(await readAlert(real.id)).not.toHaveProperty('drill')
  })

  test('is run at most five times a day and account, also at once', async () => {
    expect(await readAccount()).toMatchObject({ lastDrillAt: null, lastDrillAlertId: null })
    const replies = await Promise.all(Array.from({ length: 8 }, () => runDrill()))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([
      ...[201, 201, 201, 201, 201],
      ...[409, 409, 409],
    ])
    const refused = replies.find(({ status }) => status === 409)
    expect(refused?.body).toMatchObject({ code: 'drill-limit-reached' })
    expect(Date.parse(refused?.body.resetAt)).toBeGreaterThan(Date.now())
    // A real one is not affected.
    expect((await raiseSos(account, device)).status).toBe(201)

    await passTime(account, DAY_MS)
    const tomorrow = callerWith(await fetchToken(account.userName, account.apiKey))
    const reply = await raiseSos(tomorrow, device, { test: true })
    expect(reply.status).toBe(201)
    expect((await tomorrow.call('GET', '/api/account')).body.account).toMatchObject({
      lastDrillAt: iso(Date.now()),
      lastDrillAlertId: reply.body.alert.id,
    })
  })

  test('needs the scope write', async () => {
    const ingest = callerWith(await fetchTokenWithScopes(account, ['ingest']))
    const reply = await raiseSos(ingest, device, { test: true })
    expect(reply.status).toBe(403)
    expect((await raiseSos(ingest, device, { test: false })).status).toBe(201)
    expect(await readEvents(account, 'alert.raised')).toHaveLength(1)
  })

  test('of an expired device is refused and notifies nobody', async () => {
    const limits = { expires: true, expirationDate: '2026-01-01' }
    await account.call('PATCH', `/api/devices/${device}`, { body: { limits } })
    const reply = await runDrill()
    expect([reply.status, reply.body.code]).toEqual([409, 'device-expired'])
    expect((await readDevice()).lastContact).toBe(null)
    expect(await readMessages(account)).toEqual([])
    expect(await readAccount()).toMatchObject({ lastDrillAt: null })
  })

  test('has a limit of messages for a day, over all drills and rounds, and says so', async () => {
    const recipients = Array.from({ length: 60 }, (_, n) => {
      return { channel: 'SMS' as const, to: `+3519200000${10 + n}`, timeZone: 'UTC' }
    })
    const raise = async (id: string) => {
      const outcome = await ledgerOf(env, account.id).raiseAlert(device, {
        alert: { id, name: 'SOSButton', text: '', dateTime: Date.now() },
        isDrill: true,
        reported: null,
        lastKnown: null,
        recipients,
        administrators: [],
        origin: 'https://perigee.example',
      })
      if (!outcome.ok || !outcome.deliveries) throw new Error('not raised')
      const { deliveries, undelivered } = outcome
      const reasons = new Set(deliveries.map(({ reason }) => reason))
      const queued = deliveries.filter(({ status }) => status === 'queued').length
      return { queued, reasons: [...reasons], undelivered: undelivered?.reason }
    }
    const [first, second, third] = ['1', '2', '3'].map((n) => `alr_${n.padStart(22, '0')}`)
    const reason = 'drill-limit-reached'
    expect(await raise(first as string)).toEqual({ queued: 60, reasons: [null] })
    expect(await raise(second as string)).toEqual({ queued: 40, reasons: [null, reason] })
    expect(await raise(third as string)).toEqual({
      queued: 0,
      reasons: [reason],
      undelivered: reason,
    })
    expect((await readEvents(account, 'message.suppressed')).at(-1)).toMatchObject({ reason })
    await waitUntilSent(account)
    await passTime(account, 10 * MINUTE_MS + 1)
    const rounds = await recipientsOf(account, 'escalation', 'queued')
    expect(rounds.filter((to: string) => to.startsWith('SMS'))).toEqual([])
    // A real one is not affected.
    const { deliveries } = (await raiseSos(account, device)).body.alert
    expect(deliveries).toMatchObject([{ status: 'queued' }])
  })

  test('is run once for repeats under one Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'drill-1' }
    const body = { alertName: 'SOSButton', test: true }
    const path = `/api/devices/${device}/alerts`
    const first = await account.call('POST', path, { headers, body })
    const second = await account.call('POST', path, { headers, body })
    expect(second.body).toEqual(first.body)
    expect(await readEvents(account, 'alert.raised')).toHaveLength(1)
  })
})
