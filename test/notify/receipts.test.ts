import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { sendTimeoutMs } from '../../src/notify/provider.ts'
import { resend } from '../../src/notify/resend.ts'
import { twilio } from '../../src/notify/twilio.ts'
import { openAccount, type TestAccount } from '../support/accounts.ts'
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
import { call } from '../support/http.ts'
import { eventually } from '../support/time.ts'
import { createUser } from '../support/users.ts'
import { resendReceipt, twilioReceipt } from './signedReceipts.ts'

const post = (path: string, receipt: { body: string; headers: Record<string, string> }) =>
  call('POST', path, receipt)

/** An account with one message of this channel, which its provider accepted. */
const sentMessage = async (channel: 'Email' | 'SMS') => {
  const account = await openAccount()
  const [email, phone] = [uniqueEmail(), uniquePhone()]
  await createUser(account, { email, phone, notify: { email: true, sms: true } })
  const deviceId = await createDevice(account)
  const { alert } = (await raiseAlert(account, deviceId, { notifications: [channel] })).body
  await untilStatus(account, 'sent')
  return {
    account,
    deviceId,
    id: alert.deliveries[0].id as string,
    to: channel === 'Email' ? email : phone,
  }
}

const untilStatus = (account: TestAccount, status: string) =>
  eventually(async () => expect((await readMessages(account))[0]).toMatchObject({ status }))

describe('a receipt from Resend', () => {
  test('delivered marks a message as delivered, with svix- or webhook- headers, at the account’s URL or the common one', async () => {
    for (const [prefix, at] of [
      ['svix', null],
      ['webhook', 'all'],
    ] as const) {
      const { account, id } = await sentMessage('Email')
      const receipt = await resendReceipt(
        'email.delivered',
        { account: account.id, message: id },
        { prefix },
      )
      const reply = await post(`/hooks/resend/${at ?? account.id}`, receipt)
      expect([reply.status, reply.body]).toEqual([200, { success: true }])
      expect((await readMessages(account))[0]).toMatchObject({
        status: 'delivered',
        reason: null,
        provider: 'resend',
      })
    }
  })

  test.each(['bounced', 'failed', 'suppressed'])(
    '%s fails a sent message, which stays counted and can be retried',
    async (what) => {
      const { account, deviceId, id, to } = await sentMessage('Email')
      const path = `/hooks/resend/${account.id}`
      await post(path, await resendReceipt(`email.${what}`, { account: account.id, message: id }))
      expect((await readMessages(account))[0]).toMatchObject({
        status: 'failed',
        reason: `resend-${what}`,
      })
      expect(await readEvents(account, 'message.failed')).toMatchObject([
        { deviceId, messageId: id, reason: `resend-${what}` },
      ])
      expect(await readUsage(account, deviceId)).toMatchObject({ emailsSent: 1 })
      expect((await account.call('POST', `/api/account/messages/${id}/retry`)).status).toBe(200)
      await untilStatus(account, 'sent')
      expect(await readUsage(account, deviceId)).toMatchObject({ emailsSent: 2 })
      expect((await readProviderRecord(to)).sent).toHaveLength(2)
      // A late receipt of the first send does not concern the second.
      const late = await post(
        path,
        await resendReceipt('email.bounced', { account: account.id, message: id }),
      )
      expect([late.status, late.body]).toEqual([200, { success: true }])
      expect((await readMessages(account))[0]).toMatchObject({ status: 'sent' })
    },
  )

  test('that does not concern delivery changes nothing', async () => {
    const { account, id } = await sentMessage('Email')
    for (const type of ['email.opened', 'email.clicked', 'email.delivery_delayed', 'email.sent']) {
      expect(
        (
          await post(
            `/hooks/resend/${account.id}`,
            await resendReceipt(type, { account: account.id, message: id }),
          )
        ).status,
      ).toBe(200)
    }
    expect((await readMessages(account))[0]).toMatchObject({ status: 'sent' })
  })

  test('a replay changes nothing; a bounce may follow the delivery and is final', async () => {
    const { account, id } = await sentMessage('Email')
    const path = `/hooks/resend/${account.id}`
    const tags = { account: account.id, message: id }
    const receipt = await resendReceipt('email.delivered', tags, { id: 'msg_first' })
    expect((await post(path, receipt)).status).toBe(200)
    const replayed = await post(path, receipt)
    expect([replayed.status, replayed.body]).toEqual([200, { success: true }])
    const newReceipt = await resendReceipt('email.bounced', tags, {
      id: 'msg_first',
      at: Date.now() + 2_000,
    })
    expect((await post(path, newReceipt)).status).toBe(200)
    expect((await readMessages(account))[0]).toMatchObject({ status: 'failed' })
    for (const type of ['email.delivered', 'email.sent'])
      expect((await post(path, await resendReceipt(type, tags))).status).toBe(200)
    expect((await readMessages(account))[0]).toMatchObject({ status: 'failed' })
  })

  test('that is forged, stale, altered or unsigned is refused and changes nothing', async () => {
    const { account, id } = await sentMessage('Email')
    const path = `/hooks/resend/${account.id}`
    const tags = { account: account.id, message: id }
    const good = await resendReceipt('email.bounced', tags)
    const bad = [
      await resendReceipt('email.bounced', tags, { secret: 'guessed' }),
      await resendReceipt('email.bounced', tags, { at: Date.now() - 301_000 }),
      await resendReceipt('email.bounced', tags, { at: Date.now() + 400_000 }),
      { ...good, body: good.body.replace('bounced', 'delivered') },
      { ...good, headers: { ...good.headers, 'svix-id': 'msg_other' } },
      { ...good, headers: { ...good.headers, 'svix-signature': 'v1,!' } },
      { body: good.body, headers: {} },
      { body: '', headers: good.headers },
    ]
    for (const receipt of bad) {
      const reply = await post(path, receipt)
      expect([reply.status, reply.body.code]).toEqual([401, 'invalid-signature'])
      expect(reply.headers.get('WWW-Authenticate')).toBe('Signature')
    }
    expect((await readMessages(account))[0]).toMatchObject({ status: 'sent' })
  })

  test('one for a message that is not there is accepted and changes nothing; at the address of another account it is not found', async () => {
    const [{ account, id }, other] = [await sentMessage('Email'), await openAccount()]
    for (const [path, tags, status] of [
      [`/hooks/resend/${other.id}`, { account: account.id, message: id }, 404],
      [`/hooks/resend/${other.id}`, { account: other.id, message: id }, 200],
      [`/hooks/resend/${account.id}`, { account: account.id, message: 'msg_none' }, 200],
      ['/hooks/resend/all', { account: 'acc_none', message: id }, 200],
    ] as const) {
      expect((await post(path, await resendReceipt('email.bounced', tags))).status).toBe(status)
    }
    expect((await readMessages(account))[0]).toMatchObject({ status: 'sent' })
  })

  test('is verified by the test vector of Standard Webhooks', async () => {
    const receipt = await resend.readReceipt?.(
      { RESEND_WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      {
        url: 'https://perigee.test/hooks/resend/all',
        headers: new Headers({
          'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
          'webhook-timestamp': '1614265330',
          'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
        }),
        body: '{"test": 2432232314}',
      },
      1_614_265_330_000,
    )
    expect(receipt).toMatchObject({ status: null, mark: 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330' })
  })
})

describe('a receipt from Twilio', () => {
  const pathOf = (account: TestAccount, id: string) => `/hooks/twilio/${account.id}?message=${id}`

  test('delivered and undelivered move a sent message, and a replay changes nothing', async () => {
    for (const [MessageStatus, expected] of [
      ['delivered', { status: 'delivered', reason: null }],
      ['undelivered', { status: 'failed', reason: 'twilio-30003' }],
      ['failed', { status: 'failed', reason: 'twilio-30003' }],
    ] as const) {
      const { account, id } = await sentMessage('SMS')
      const path = pathOf(account, id)
      for (const early of ['queued', 'sent']) {
        expect(
          (await post(path, await twilioReceipt(path, { MessageSid: 'SM1', MessageStatus: early })))
            .status,
        ).toBe(200)
      }
      const receipt = await twilioReceipt(path, {
        MessageSid: 'SM1',
        MessageStatus,
        ErrorCode: '30003',
        To: '+351910000000',
      })
      expect((await post(path, receipt)).status).toBe(200)
      expect((await readMessages(account))[0]).toMatchObject(expected)
      expect((await post(path, receipt)).status).toBe(200)
      expect((await readMessages(account))[0]).toMatchObject(expected)
    }
  })

  test('with another token, other fields or for another URL is refused', async () => {
    const { account, id } = await sentMessage('SMS')
    const path = pathOf(account, id)
    const form = { MessageSid: 'SM1', MessageStatus: 'failed' }
    const good = await twilioReceipt(path, form)
    for (const [at, receipt] of [
      [path, await twilioReceipt(path, form, 'guessed')],
      [path, { ...good, body: `${good.body}&ErrorCode=1` }],
      [`${path}0`, good],
      [path, { ...good, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }],
    ] as const) {
      expect(
        (await post(at, receipt as { body: string; headers: Record<string, string> })).status,
      ).toBe(401)
    }
    expect((await readMessages(account))[0]).toMatchObject({ status: 'sent' })
  })

  test('is verified by the test vector of Twilio', async () => {
    const body = new URLSearchParams({
      CallSid: 'CA1234567890ABCDE',
      Caller: '+14158675309',
      Digits: '1234',
      From: '+14158675309',
      To: '+18005551212',
    }).toString()
    const request = (signature: string) => ({
      url: 'https://perigee.test/myapp.php?foo=1&bar=2',
      headers: new Headers({ 'X-Twilio-Signature': signature }),
      body,
    })
    const known = { TWILIO_AUTH_TOKEN: '12345', PUBLIC_URL: 'https://mycompany.com' }
    expect(
      await twilio.readReceipt?.(known, request('RSOYDt4T1cUTdK1PDd93/VVr8B8='), 0),
    ).toMatchObject({ status: null })
    expect(await twilio.readReceipt?.(known, request('RSOYDt4T1cUTdK1PDd93/VVr8B9='), 0)).toBeNull()
  })

  test('settles an attempt of unknown outcome: it is not repeated and has one message.sent event', async () => {
    const account = await openAccount()
    const phone = uniquePhone()
    await createUser(account, { phone, notify: { email: false, sms: true } })
    await scriptProvider(phone, 'accept-and-hang', 'accept-and-hang')
    const { alert } = (
      await raiseAlert(account, await createDevice(account), { alertName: 'SOSButton' })
    ).body
    const { id } = alert.deliveries[0]
    await eventually(async () => expect((await readProviderRecord(phone)).sent).toHaveLength(1))
    const path = pathOf(account, id)
    expect(
      (
        await post(
          path,
          await twilioReceipt(path, { MessageSid: 'SM1', MessageStatus: 'delivered' }),
        )
      ).status,
    ).toBe(200)
    // The attempt has timed out by then, and a second one would have been due.
    await scheduler.wait(sendTimeoutMs(env) + 4_500)
    expect((await readMessages(account))[0]).toMatchObject({ status: 'delivered' })
    expect((await readProviderRecord(phone)).requests).toHaveLength(1)
    expect(await readEvents(account, 'message.sent')).toMatchObject([
      { messageId: id, alertId: alert.id, channel: 'SMS' },
    ])
  })

  test('before the first attempt is not found', async () => {
    const account = await openAccount()
    const phone = uniquePhone()
    await createUser(account, { phone, notify: { email: false, sms: true } })
    const { alert } = (
      await raiseAlert(account, await createDevice(account, { limits: { dailySmsLimit: 0 } }))
    ).body
    const path = pathOf(account, alert.deliveries[0].id)
    expect(
      (
        await post(
          path,
          await twilioReceipt(path, { MessageSid: 'SM1', MessageStatus: 'delivered' }),
        )
      ).status,
    ).toBe(200)
    expect((await readMessages(account))[0]).toMatchObject({ status: 'suppressed' })
  })
})

test('unknown providers, other methods and large bodies are refused', async () => {
  for (const provider of ['outbox', 'cloudflare', 'nobody', '__proto__']) {
    expect((await call('POST', `/hooks/${provider}/acc_1`, { body: '{}' })).status).toBe(404)
  }
  expect((await call('GET', '/hooks/resend/acc_1')).status).toBe(405)
  const large = await call('POST', '/hooks/resend/acc_1', { body: 'x'.repeat(1_048_577) })
  expect([large.status, large.body.code]).toEqual([413, 'body-too-large'])
})
