import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { sendTimeoutMs } from '../../src/notify/provider.ts'
import { twilio } from '../../src/notify/twilio.ts'
import { eraseAccount, openAccount, type TestAccount } from '../support/accounts.ts'
import { raiseAlert } from '../support/alerts/alerts.ts'
import { readMessages } from '../support/alerts/messages.ts'
import {
  readProviderRecord,
  scriptProvider,
  uniqueEmail,
  uniquePhone,
} from '../support/alerts/recipients.ts'
import { createDevice, readUsage } from '../support/devices.ts'
import { readEvents } from '../support/feed/events.ts'
import { crashLedger, ledgerStub } from '../support/ledger.ts'
import { eventually } from '../support/time.ts'
import { createUser } from '../support/users.ts'

const HOUR = 3_600_000

/** An account with a device and a user who is notified by e-mail and SMS. */
const scene = async (limits: object = {}) => {
  const account = await openAccount()
  const [email, phone] = [uniqueEmail(), uniquePhone()]
  await createUser(account, { email, phone, notify: { email: true, sms: true } })
  return { account, email, phone, id: await createDevice(account, { limits }) }
}

const byEmail = { notifications: ['Email'] }
const bySms = { notifications: ['SMS'] }
const urgently = { ...byEmail, alertName: 'SOSButton' }
const statesOf = async (account: TestAccount) =>
  (await readMessages(account)).map(({ status, reason, attempts }: Record<string, unknown>) => ({
    status,
    reason,
    attempts,
  }))

const readBudgetUsage = async (account: TestAccount) =>
  (await account.call('GET', '/api/account')).body.account.budgetUsage.messages

const until = (account: TestAccount, status: string) =>
  eventually(async () => {
    await runDurableObjectAlarm(ledgerStub(account))
    for (const message of await readMessages(account)) expect(message.status).toBe(status)
  })

describe('over time', () => {
  // Ahead of the real clock, so that no alarm fires by itself.
  beforeEach(
    () => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2031-06-15T08:00:00Z') }),
  )
  afterEach(() => void vi.useRealTimers())

  const alarmAt = (account: TestAccount) =>
    runInDurableObject(ledgerStub(account), (_, state) => state.storage.getAlarm())

  /** Advances the clock, running each alarm when it is due. */
  const pass = async (account: TestAccount, milliseconds: number): Promise<void> => {
    const end = Date.now() + milliseconds
    for (let at = await alarmAt(account); at !== null && at <= end; at = await alarmAt(account)) {
      vi.setSystemTime(Math.max(Date.now(), at))
      await runDurableObjectAlarm(ledgerStub(account))
    }
    vi.setSystemTime(end)
  }

  const withNewToken = async (account: TestAccount): Promise<TestAccount> => {
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

  test('both channels send at once, each by its provider', async () => {
    const { account, email, phone, id } = await scene()
    const { alert } = (await raiseAlert(account, id)).body
    await pass(account, 1000)
    const [sms, mail] = await readMessages(account)
    expect([mail, sms]).toMatchObject([
      {
        channel: 'Email',
        to: email,
        status: 'sent',
        provider: 'resend',
        attempts: 1,
        reason: null,
      },
      { channel: 'SMS', to: phone, status: 'sent', provider: 'twilio', attempts: 1, reason: null },
    ])
    const [box, smsBox] = [await readProviderRecord(email), await readProviderRecord(phone)]
    expect(box.requests[0]?.headers['idempotency-key']).toBe(alert.deliveries[0].id)
    // The list shows an ellipsis in place of the secret part of the link.
    const sentText = (shown: string) =>
      expect.stringMatching(`^${RegExp.escape(shown).replaceAll('…', '[0-9a-z]{16}')}$`)
    const body = { subject: mail.subject, text: sentText(mail.text) }
    expect(box.sent[0]).toMatchObject({ body })
    expect(smsBox.sent[0]).toMatchObject({ to: phone, body: sentText(sms.text) })
    expect(await readEvents(account, 'message.sent')).toHaveLength(2)
  })

  test('a temporary failure is retried with growing delays under the same key, and counts once', async () => {
    const { account, email, id } = await scene()
    await scriptProvider(email, '503', '500', 'reset', 'throttle 20')
    await raiseAlert(account, id, byEmail)
    await pass(account, 1000)
    expect(await statesOf(account)).toEqual([
      { status: 'queued', reason: 'provider-unavailable', attempts: 1 },
    ])
    await pass(account, 10 * 60_000)
    expect(await statesOf(account)).toEqual([{ status: 'sent', reason: null, attempts: 5 }])
    const { requests, sent } = await readProviderRecord(email)
    expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(sent).toHaveLength(1)
    expect(await readUsage(account, id)).toMatchObject({ emailsSent: 1 })
    expect(await readEvents(account, 'message.sent')).toHaveLength(1)
  })

  test('a refused message fails with its reason, is uncounted that day, and counts again when retried', async () => {
    const { account, email, id } = await scene({ dailyEmailLimit: 1 })
    await scriptProvider(email, '422')
    const { alert } = (await raiseAlert(account, id, byEmail)).body
    await pass(account, 1000)
    expect(await statesOf(account)).toEqual([
      { status: 'failed', reason: 'resend-validation_error', attempts: 1 },
    ])
    expect(await readEvents(account, 'message.failed')).toEqual([
      {
        deviceId: id,
        messageId: alert.deliveries[0].id,
        alertId: alert.id,
        channel: 'Email',
        reason: 'resend-validation_error',
      },
    ])
    expect(await readUsage(account, id)).toMatchObject({ emailsSent: 0 })
    expect(await readBudgetUsage(account)).toMatchObject({ Email: 0, SMS: 0 })
    const path = `/api/account/messages/${alert.deliveries[0].id}/retry`
    expect((await account.call('POST', path)).body.message.status).toBe('queued')
    await pass(account, 1000)
    expect(await statesOf(account)).toEqual([{ status: 'sent', reason: null, attempts: 1 }])
    expect(await readUsage(account, id)).toMatchObject({ emailsSent: 1 })
    expect(await readBudgetUsage(account)).toMatchObject({ Email: 1, SMS: 0 })
    const [first, second] = (await readProviderRecord(email)).requests.map(
      ({ headers }) => headers['idempotency-key'],
    )
    expect(first).toBe(alert.deliveries[0].id)
    expect(second).toMatch(new RegExp(`^${first}-`))
    expect((await raiseAlert(account, id, byEmail)).body.alert.deliveries[0].status).toBe(
      'suppressed',
    )
  })

  test('everyone gets the text, which is stored once, and a refused SMS is uncounted by it', async () => {
    const { account, email, phone, id } = await scene()
    const [otherEmail, otherPhone] = [uniqueEmail(), uniquePhone()]
    const notify = { email: true, sms: true }
    await createUser(account, { email: otherEmail, phone: otherPhone, notify })
    await scriptProvider(otherPhone, '422')
    // Cyrillic: three segments.
    await raiseAlert(account, id, { text: 'Якорь не держит, нас сносит на камни у входа в бухту' })
    await pass(account, 1000)
    for (const address of [email, otherEmail, phone]) {
      const { sent } = await readProviderRecord(address)
      expect(JSON.stringify(sent), address).toContain('Якорь не держит')
    }
    expect(await readBudgetUsage(account)).toMatchObject({ Email: 2, SMS: 3 })
    const { sent } = await readProviderRecord(otherPhone)
    expect(sent).toEqual([])
  })

  test('the daily limit is exact even if some messages are refused', async () => {
    const { account, phone, id } = await scene({ dailySmsLimit: 3 })
    await scriptProvider(phone, 'accept', '21610', '21211', 'accept', 'accept', 'accept')
    for (let n = 0; n < 10; n++) {
      await raiseAlert(account, id, bySms)
      await pass(account, 1000)
    }
    expect((await readProviderRecord(phone)).sent).toHaveLength(3)
    expect(await readUsage(account, id)).toMatchObject({ smsSent: 3 })
    expect(await readEvents(account, 'limit.reached')).toHaveLength(1)
  })

  test('a refused message that may have been accepted earlier stays counted', async () => {
    const { account, email, id } = await scene()
    await scriptProvider(email, '500', '422')
    await raiseAlert(account, id, byEmail)
    await pass(account, 60_000)
    expect(await statesOf(account)).toMatchObject([{ status: 'failed', attempts: 2 }])
    expect(await readUsage(account, id)).toMatchObject({ emailsSent: 1 })
  })

  test('Retry-After holds back the whole channel and not the other one', async () => {
    const { account, email, phone, id } = await scene()
    await scriptProvider(email, 'throttle 300')
    await raiseAlert(account, id, byEmail)
    await pass(account, 1000)
    await raiseAlert(account, id)
    await pass(account, 290_000)
    expect((await readProviderRecord(email)).requests).toHaveLength(1)
    expect((await readProviderRecord(phone)).sent).toHaveLength(1)
    await pass(account, 60_000)
    expect((await readProviderRecord(email)).sent).toHaveLength(2)
  })

  test('an SOS goes out before all waiting messages and is retried soonest', async () => {
    const { account, email, id } = await scene()
    const sos = uniqueEmail()
    await scriptProvider(email, 'throttle 60')
    await raiseAlert(account, id, byEmail)
    await pass(account, 1000)
    for (let n = 0; n < 5; n++) await raiseAlert(account, id, byEmail)
    const other = await openAccount()
    await createUser(account, { email: sos, notify: { email: true, sms: false } })
    await scriptProvider(sos, '503')
    await raiseAlert(account, id, urgently)
    await pass(account, 62_000)
    const first = (await readProviderRecord(sos)).requests[0]?.order ?? 0
    const others = (await readProviderRecord(email)).requests
      .slice(1)
      .map(({ order, body }) => ({ order, sos: String(body.subject).startsWith('SOS') }))
    for (const request of others) if (!request.sos) expect(request.order).toBeGreaterThan(first)
    await pass(account, 6_000)
    expect((await readProviderRecord(sos)).sent).toHaveLength(1)
    expect(await readMessages(other)).toEqual([])
  })

  test('the lease of an attempt covers both the query to Twilio and the send', async () => {
    const { account, id } = await scene()
    const { promise: hanging, resolve: answer } = Promise.withResolvers<{
      kind: 'accepted'
      providerId: string
    }>()
    const send = vi.spyOn(twilio, 'send').mockReturnValue(hanging)
    send.mockResolvedValueOnce({ kind: 'retry', reason: 'timeout', maybeAccepted: true })
    try {
      await raiseAlert(account, id, { ...bySms, alertName: 'SOSButton' })
      while (send.mock.calls.length < 2) await pass(account, 100)
      await pass(account, 2 * sendTimeoutMs(env) + 4_800)
      expect(send).toHaveBeenCalledTimes(2)
    } finally {
      answer({ kind: 'accepted', providerId: 'SM1' })
      send.mockRestore()
    }
    await eventually(async () =>
      expect(await statesOf(account)).toMatchObject([{ status: 'sent', attempts: 2 }]),
    )
  })

  test('an outage of an hour loses nothing and sends nothing twice', async () => {
    const { account, email, phone, id } = await scene({
      dailyEmailLimit: 1000,
      dailySmsLimit: 1000,
    })
    await scriptProvider(email, '503*')
    await scriptProvider(phone, '503*')
    for (let n = 0; n < 6; n++) await raiseAlert(account, id, { text: `Alert ${n}` })
    await raiseAlert(account, id, { alertName: 'SOSButton' })
    await pass(account, HOUR)
    const tries = { normal: 0, urgent: 0 }
    for (const { body } of (await readProviderRecord(email)).requests)
      tries[String(body.subject).startsWith('SOS') ? 'urgent' : 'normal'] += 1
    expect(tries.urgent).toBeGreaterThan((3 * tries.normal) / 6)
    expect((await readProviderRecord(email)).sent).toEqual([])
    await scriptProvider(email)
    await scriptProvider(phone)
    await evictDurableObject(ledgerStub(account))
    await pass(account, HOUR)
    const then = await withNewToken(account)
    for (const message of await readMessages(then)) expect(message.status).toBe('sent')
    const [box, smsBox] = [await readProviderRecord(email), await readProviderRecord(phone)]
    expect([box.sent.length, smsBox.sent.length]).toEqual([7, 7])
    expect(new Set(box.sent.map(({ key }) => key)).size).toBe(7)
    expect(new Set(smsBox.sent.map(({ body }) => body)).size).toBe(7)
    expect(await readUsage(then, id)).toMatchObject({ emailsSent: 7, smsSent: 7 })
    expect(await readEvents(account, 'message.sent')).toHaveLength(14)
  })

  test('a message is given up after a day, with its reason, and uncounted on its own day', async () => {
    const { account, email, id } = await scene()
    await scriptProvider(email, '503*')
    await raiseAlert(account, id, byEmail)
    await pass(account, 24 * HOUR - 1)
    const late = await withNewToken(account)
    expect(await statesOf(late)).toMatchObject([{ status: 'queued' }])
    await pass(account, 1)
    expect(await statesOf(late)).toMatchObject([
      { status: 'failed', reason: 'provider-unavailable' },
    ])
    const { requests } = await readProviderRecord(email)
    expect(requests.length).toBeGreaterThan(20)
    expect(requests.length).toBeLessThan(80)
    const { usage } = (
      await late.call('GET', `/api/devices/${id}/usage?from=2031-06-15&to=2031-06-16`)
    ).body
    expect(usage.map(({ emailsSent }: { emailsSent: number }) => emailsSent)).toEqual([0, 0])
    await pass(account, 4 * 24 * HOUR)
    expect((await readProviderRecord(email)).requests).toHaveLength(requests.length)
  })

  test('a message that a provider defers beyond the day is given up at once', async () => {
    const { account, email, id } = await scene()
    await scriptProvider(email, 'throttle 86399', 'throttle 60')
    await raiseAlert(account, id, byEmail)
    await pass(account, 24 * HOUR)
    expect(await statesOf(await withNewToken(account))).toMatchObject([
      { status: 'failed', reason: 'throttled', attempts: 2 },
    ])
  })

  test('the ledger deletes finished messages after days; the cell keeps them and they can be retried', async () => {
    const { account, email, id } = await scene()
    await scriptProvider(email, '422')
    const { alert } = (await raiseAlert(account, id, byEmail)).body
    await pass(account, 5 * 24 * HOUR)
    const kept = await runInDurableObject(ledgerStub(account), (_, state) =>
      state.storage.sql.exec('SELECT id FROM messages').toArray(),
    )
    expect(kept).toEqual([])
    const later = await withNewToken(account)
    expect(await statesOf(later)).toMatchObject([{ status: 'failed' }])
    expect(
      (await later.call('POST', `/api/account/messages/${alert.deliveries[0].id}/retry`)).status,
    ).toBe(200)
    await pass(account, 1000)
    expect(await statesOf(later)).toMatchObject([{ status: 'sent' }])
    expect(
      (await later.call('POST', `/api/account/messages/${alert.deliveries[0].id}/retry`)).status,
    ).toBe(409)
  })
})

describe('a crash', () => {
  test('between send and record repeats the attempt under the same key, and Resend sends once', async () => {
    const { account, email, id } = await scene()
    await scriptProvider(email, 'accept-and-hang')
    await raiseAlert(account, id, urgently)
    await eventually(async () => expect((await readProviderRecord(email)).sent).toHaveLength(1))
    await crashLedger(account)
    await until(account, 'sent')
    const { requests, sent } = await readProviderRecord(email)
    expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect([requests.length, sent.length]).toEqual([2, 1])
    expect(await readUsage(account, id)).toMatchObject({ emailsSent: 1 })
    expect(await readEvents(account, 'message.sent')).toHaveLength(1)
  })

  test('between send and record makes the next attempt query Twilio, which sends once', async () => {
    const { account, phone, id } = await scene()
    await scriptProvider(phone, 'accept-and-hang')
    await raiseAlert(account, id, { ...bySms, alertName: 'SOSButton' })
    await eventually(async () => expect((await readProviderRecord(phone)).sent).toHaveLength(1))
    await crashLedger(account)
    await until(account, 'sent')
    const { requests, sent, lookups } = await readProviderRecord(phone)
    expect([requests.length, sent.length, lookups]).toEqual([1, 1, 1])
  })

  test('before the first attempt loses no message and sends each once', async () => {
    const { account, email, phone, id } = await scene()
    await raiseAlert(account, id)
    await crashLedger(account)
    await until(account, 'sent')
    expect([
      (await readProviderRecord(email)).sent.length,
      (await readProviderRecord(phone)).sent.length,
    ]).toEqual([1, 1])
  })
})

describe('a provider that hangs', () => {
  /** More messages than slots: each hanging attempt occupies one until it times out. */
  const raiseMany = async ({ account, email, id }: Awaited<ReturnType<typeof scene>>) => {
    await scriptProvider(email, 'hang*')
    await Promise.all(Array.from({ length: MANY }, () => raiseAlert(account, id, byEmail)))
  }
  const MANY = 40
  const triedBefore = async (
    email: string,
    { requests }: Awaited<ReturnType<typeof readProviderRecord>>,
  ) =>
    (await readProviderRecord(email)).requests.filter(
      ({ order }) => order < (requests[0]?.order ?? 0),
    ).length

  test('delays neither replies nor the other channel nor another account', async () => {
    const [mine, other] = [await scene({ dailyEmailLimit: 100 }), await scene()]
    await raiseMany(mine)
    await raiseAlert(mine.account, mine.id, bySms)
    await raiseAlert(other.account, other.id)
    expect(
      (await mine.account.call('GET', `/api/devices/${mine.id}/alerts`)).body.alerts,
    ).toHaveLength(MANY + 1)
    await eventually(async () => {
      expect((await readProviderRecord(mine.phone)).sent).toHaveLength(1)
      expect((await readProviderRecord(other.email)).sent).toHaveLength(1)
    })
    for (const box of [await readProviderRecord(mine.phone), await readProviderRecord(other.email)])
      expect(await triedBefore(mine.email, box)).toBeLessThan(MANY)
    expect((await readProviderRecord(mine.email)).sent).toEqual([])
    await eventually(async () => {
      const [sms] = await readMessages(mine.account, '?channel=SMS')
      expect(sms.status).toBe('sent')
    })
  })

  test('leaves a slot for an SOS, which is attempted at once', async () => {
    const busy = await scene({ dailyEmailLimit: 100 })
    await raiseMany(busy)
    await eventually(async () =>
      expect((await readProviderRecord(busy.email)).requests.length).toBeGreaterThan(0),
    )
    const sos = uniqueEmail()
    await createUser(busy.account, { email: sos })
    await raiseAlert(busy.account, busy.id, urgently)
    await eventually(async () => expect((await readProviderRecord(sos)).sent).toHaveLength(1))
    expect(await triedBefore(busy.email, await readProviderRecord(sos))).toBeLessThan(MANY)
  })
})

describe('nothing more is sent', () => {
  test('about a deleted device', async () => {
    const { account, email, id } = await scene()
    await scriptProvider(email, 'later 2', 'later 2')
    await raiseAlert(account, id, urgently)
    await eventually(async () => expect((await readProviderRecord(email)).requests).toHaveLength(1))
    await account.call('DELETE', `/api/devices/${id}`)
    await scheduler.wait(5_000)
    await runDurableObjectAlarm(ledgerStub(account))
    expect((await readProviderRecord(email)).requests).toHaveLength(1)
    expect((await account.call('GET', '/api/account/messages')).body.messages).toEqual([])
  })

  test('from an erased account', async () => {
    const { account, email, id } = await scene()
    await scriptProvider(email, 'later 2', 'later 2')
    await raiseAlert(account, id, urgently)
    await eventually(async () => expect((await readProviderRecord(email)).requests).toHaveLength(1))
    expect((await eraseAccount(account)).status).toBe(200)
    await scheduler.wait(5_000)
    await runDurableObjectAlarm(ledgerStub(account))
    expect((await readProviderRecord(email)).requests).toHaveLength(1)
  })
})

test('a failing cell delays no message, and shows their status once it recovers', async () => {
  const { account, email, id } = await scene()
  await scriptProvider(email, 'later 2')
  await raiseAlert(account, id, urgently)
  await eventually(async () => expect((await readProviderRecord(email)).requests).toHaveLength(1))
  await runInDurableObject(ledgerStub(account), (ledger) => {
    const { env: bound } = ledger as unknown as { env: object }
    Object.defineProperty(ledger, 'env', {
      value: { ...bound, DB: brokenDatabase },
      configurable: true,
    })
  })
  await eventually(async () => expect((await readProviderRecord(email)).sent).toHaveLength(1))
  expect((await readMessages(account))[0].status).toBe('queued')
  await evictDurableObject(ledgerStub(account))
  await until(account, 'sent')
})

const statement = { bind: () => statement }
const brokenDatabase = {
  prepare: () => statement,
  batch: async () => {
    throw new Error('D1_ERROR: the test says no')
  },
}
