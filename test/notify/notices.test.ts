import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { AccountFeed } from '../../src/feed/feed.ts'
import { confirmDisabled, recordDisableIntent } from '../../src/feed/webhooks/disableNotice.ts'
import type { AccountNotice } from '../../src/ledger/messages/notices.ts'
import { ledgerOf } from '../../src/ledger/stub.ts'
import { sendTimeoutMs } from '../../src/notify/provider.ts'
import { openAccount, type TestAccount } from '../support/accounts.ts'
import { readMessages } from '../support/alerts/messages.ts'
import {
  readProviderRecord,
  scriptProvider,
  uniqueEmail,
  uniquePhone,
} from '../support/alerts/recipients.ts'
import { createDevice, readUsage } from '../support/devices.ts'
import { readEvents } from '../support/feed/events.ts'
import { feedStub } from '../support/feed/feed.ts'
import { call } from '../support/http.ts'
import { crashLedger, ledgerStub } from '../support/ledger.ts'
import { eventually } from '../support/time.ts'
import { createUser } from '../support/users.ts'
import { resendReceipt } from './signedReceipts.ts'

const DAY_MS = 86_400_000

let made = 0

const noticeTo = (...recipients: AccountNotice['recipients']): AccountNotice => ({
  id: `ntc_${String(++made).padStart(22, '0')}`,
  content: {
    kind: 'webhook-disabled',
    webhookId: 'whk_0000000000000000000001',
    url: 'https://receiver.example/path',
    reason: 'gone',
  },
  recipients,
  isUrgent: false,
})

const byEmail = (to: string) => ({ channel: 'Email' as const, to, timeZone: 'Europe/Lisbon' })
const bySms = (to: string) => ({ channel: 'SMS' as const, to, timeZone: 'Europe/Lisbon' })

const notify = (account: TestAccount, notice: AccountNotice) =>
  ledgerOf(env, account.id).sendNotice(notice)

const untilStatus = (account: TestAccount, status: string) =>
  eventually(async () => {
    await runDurableObjectAlarm(ledgerStub(account))
    const messages = await readMessages(account)
    expect(messages.length).toBeGreaterThan(0)
    for (const message of messages) expect(message).toMatchObject({ status })
    return messages
  })

const postReceipt = async (account: TestAccount, type: string, message: string) =>
  call(
    'POST',
    `/hooks/resend/${account.id}`,
    await resendReceipt(type, { account: account.id, message }),
  )

/** Ahead of the real clock, so that no alarm fires by itself. */
const stopClock = () =>
  void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2031-06-15T08:00:00Z') })

describe('an account notice', () => {
  afterEach(() => void vi.useRealTimers())

  test('goes out by both channels, without a device, outside its limits and without events', async () => {
    const account = await openAccount()
    const [email, phone] = [uniqueEmail(), uniquePhone()]
    const deviceId = await createDevice(account, {
      limits: { dailyEmailLimit: 0, dailySmsLimit: 0 },
    })
    await notify(account, noticeTo(byEmail(email), bySms(phone)))
    const [sms, mail] = await untilStatus(account, 'sent')
    expect(mail).toMatchObject({
      id: expect.stringMatching(/^msg_[0-9a-z]{26}$/),
      alertId: null,
      deviceId: null,
      channel: 'Email',
      to: email,
      subject: 'Webhook disabled: receiver.example',
      text: expect.stringContaining('to receiver.example/path was disabled'),
      provider: 'resend',
      attempts: 1,
    })
    expect(sms).toMatchObject({ channel: 'SMS', to: phone, subject: '', provider: 'twilio' })
    expect((await readProviderRecord(email)).sent).toMatchObject([{ key: mail.id }])
    expect((await readProviderRecord(phone)).sent).toMatchObject([{ body: sms.text }])
    expect(await readUsage(account, deviceId)).toMatchObject({ emailsSent: 0, smsSent: 0 })
    for (const type of ['message.sent', 'limit.reached', 'message.suppressed'])
      expect(await readEvents(account, type)).toEqual([])
  })

  test('is sent once, however often it is requested and whatever crashes in between', async () => {
    stopClock()
    const account = await openAccount()
    const [email, late] = [uniqueEmail(), uniqueEmail()]
    const notice = noticeTo(byEmail(email))
    await Promise.all([notify(account, notice), notify(account, notice)])
    await crashLedger(account)
    await notify(account, { ...notice, recipients: [...notice.recipients, byEmail(late)] })
    await untilStatus(account, 'sent')
    await notify(account, notice)
    expect(await readMessages(account)).toHaveLength(1)
    expect((await readProviderRecord(email)).sent).toHaveLength(1)
    expect((await readProviderRecord(late)).requests).toEqual([])
  })

  test('is retried under the same key after a crash while it was sent', async () => {
    stopClock()
    const account = await openAccount()
    const email = uniqueEmail()
    await scriptProvider(email, 'accept-and-hang')
    await notify(account, { ...noticeTo(byEmail(email)), isUrgent: true })
    await runDurableObjectAlarm(ledgerStub(account))
    await eventually(async () => expect((await readProviderRecord(email)).sent).toHaveLength(1))
    await crashLedger(account)
    vi.setSystemTime(Date.now() + 2 * sendTimeoutMs(env) + 10_000)
    await untilStatus(account, 'sent')
    expect((await readProviderRecord(email)).sent).toHaveLength(1)
  })

  test('that is refused fails, uncounts nothing and makes no event', async () => {
    const account = await openAccount()
    const email = uniqueEmail()
    await scriptProvider(email, '422')
    const deviceId = await createDevice(account)
    await notify(account, noticeTo(byEmail(email)))
    expect(await untilStatus(account, 'failed')).toMatchObject([
      { reason: 'resend-validation_error', attempts: 1 },
    ])
    expect(await readUsage(account, deviceId)).toMatchObject({ emailsSent: 0 })
    expect(await readEvents(account, 'message.failed')).toEqual([])
  })

  test('moves with receipts: a late bounce counts, a replay and another account change nothing', async () => {
    const account = await openAccount()
    await notify(account, noticeTo(byEmail(uniqueEmail())))
    const [{ id }] = await untilStatus(account, 'sent')
    expect((await postReceipt(account, 'email.opened', id)).status).toBe(200)
    expect(await readMessages(account)).toMatchObject([{ status: 'sent' }])
    const receipt = await resendReceipt('email.delivered', { account: account.id, message: id })
    const path = `/hooks/resend/${account.id}`
    expect((await call('POST', path, receipt)).status).toBe(200)
    expect((await call('POST', path, receipt)).status).toBe(200)
    expect(await readMessages(account)).toMatchObject([{ status: 'delivered', reason: null }])
    expect((await postReceipt(account, 'email.bounced', id)).status).toBe(200)
    expect((await call('POST', path, receipt)).status).toBe(200)
    expect(await readMessages(account)).toMatchObject([
      { status: 'failed', reason: 'resend-bounced' },
    ])
    expect(await readEvents(account, 'message.sent')).toEqual([])
    const other = await openAccount()
    expect((await postReceipt(other, 'email.delivered', id)).status).toBe(200)
    expect((await postReceipt(account, 'email.delivered', `${id}x`)).status).toBe(200)
    expect(await readMessages(account)).toHaveLength(1)
  })

  test('that was given up after a timeout is delivered if the provider says so later', async () => {
    const account = await openAccount()
    const email = uniqueEmail()
    await scriptProvider(email, 'accept-and-hang*')
    stopClock()
    await notify(account, noticeTo(byEmail(email)))
    await runDurableObjectAlarm(ledgerStub(account))
    await eventually(async () => expect((await readProviderRecord(email)).sent).toHaveLength(1))
    await crashLedger(account)
    vi.setSystemTime(Date.now() + DAY_MS)
    await runDurableObjectAlarm(ledgerStub(account))
    await eventually(async () => {
      const { results } = await env.DB.prepare('SELECT * FROM messages WHERE account_id = ?')
        .bind(account.id)
        .all()
      expect(results).toMatchObject([{ status: 'failed', reason: 'timeout' }])
    })
    const [{ key }] = (await readProviderRecord(email)).sent as [{ key: string }]
    expect((await postReceipt(account, 'email.delivered', key)).status).toBe(200)
    const status = await env.DB.prepare('SELECT status FROM messages WHERE account_id = ?')
      .bind(account.id)
      .first('status')
    expect(status).toBe('delivered')
  })

  test('is deleted from the ledger after some days and stays in the cell', async () => {
    const account = await openAccount()
    await notify(account, noticeTo(byEmail(uniqueEmail())))
    await untilStatus(account, 'sent')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 4 * DAY_MS })
    await runDurableObjectAlarm(ledgerStub(account))
    vi.useRealTimers()
    const left = await runInDurableObject(ledgerStub(account), (_, { storage: { sql } }) =>
      ['notices', 'messages'].map((table) => sql.exec(`SELECT * FROM ${table}`).toArray()),
    )
    expect(left).toEqual([[], []])
    expect(await readMessages(account)).toMatchObject([{ status: 'sent' }])
  })

  test('is not accepted for an account that does not exist', async () => {
    const outcome = await ledgerOf(env, 'acc_none').sendNotice(noticeTo(byEmail(uniqueEmail())))
    expect(outcome).toEqual({ ok: false, refusal: 'account-not-found' })
  })
})

test('the notice about a disabled webhook goes to the administrators, by the ledger’s queue', async () => {
  const account = await openAccount()
  const to = uniqueEmail()
  await createUser(account, { email: to, privileges: ['admin'] })
  await scriptProvider(to, '503')
  const { webhook } = (
    await account.call('POST', '/api/webhooks', {
      body: { url: 'https://receiver.example/', events: ['key.*'] },
    })
  ).body
  await env.DB.prepare(`UPDATE webhooks SET enabled = 0, disabled_reason = 'gone' WHERE id = ?`)
    .bind(webhook.id)
    .run()
  await runInDurableObject(feedStub(account), async (feed: AccountFeed, { storage }) => {
    const now = Date.now()
    recordDisableIntent(storage.sql, webhook.id, 'gone', now)
    confirmDisabled(storage.sql, webhook.id, now)
    await feed.alarm()
  })
  await eventually(async () =>
    expect(await readMessages(account)).toMatchObject([{ reason: 'provider-unavailable' }]),
  )
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  const [{ id }] = await untilStatus(account, 'sent')
  vi.useRealTimers()
  expect((await readProviderRecord(to)).sent).toHaveLength(1)
  expect((await postReceipt(account, 'email.delivered', id)).status).toBe(200)
  expect(await readMessages(account)).toMatchObject([{ status: 'delivered', attempts: 2 }])
})
