import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import type { Message, NotifyEnv, SendOutcome } from '../../src/notify/provider.ts'
import { providerAt, providerFor } from '../../src/notify/providers.ts'
import { twilio } from '../../src/notify/twilio.ts'
import { twilioVoice } from '../../src/notify/twilioVoice.ts'
import { openAccount, type TestAccount } from '../support/accounts.ts'
import { raiseAlert, readAlert } from '../support/alerts/alerts.ts'
import { MINUTE_MS, passTime, patchAccount } from '../support/alerts/emergencies.ts'
import { readMessages } from '../support/alerts/messages.ts'
import { readProviderRecord, scriptProvider, uniquePhone } from '../support/alerts/recipients.ts'
import { createDevice } from '../support/devices.ts'
import { readEvents } from '../support/feed/events.ts'
import { call } from '../support/http.ts'
import { crashLedger, ledgerStub } from '../support/ledger.ts'
import { beginTestsAtNoon, eventually } from '../support/time.ts'
import { createUser } from '../support/users.ts'
import { twilioReceipt } from './signedReceipts.ts'

const VOICE_ONLY = { email: false, sms: false, push: false, voice: true }

const message = (to: string, changes: Partial<Message> = {}): Message => ({
  key: `msg_${crypto.randomUUID().slice(0, 8)}`,
  accountId: 'acc_1',
  cell: 0,
  kind: 'alert',
  isUrgent: false,
  isTest: false,
  alertId: null,
  link: null,
  to,
  subject: '',
  text: 'Emergency. SOS button from Tern 7.',
  unsureSince: null,
  ...changes,
})

/** The TwiML of the calls to a number. */
const twimlTo = async (phone: string): Promise<string[]> =>
  (await readProviderRecord(phone)).requests.map(({ body }) => String(body.Twiml))

const retry = (reason: string, maybeAccepted: boolean): SendOutcome => ({
  kind: 'retry',
  reason,
  maybeAccepted,
})

describe('a call through Twilio', () => {
  test('has a text, a question for one key, and the URLs for the key and for receipts', async () => {
    const to = uniquePhone()
    const sending = message(to)
    const outcome = await twilioVoice.send(env, sending)
    const { requests, sent, lookups } = await readProviderRecord(to)
    expect(outcome).toEqual({ kind: 'accepted', providerId: sent[0]?.sid })
    expect([requests.length, lookups]).toEqual([1, 0])
    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: '/2010-04-01/Accounts/AC00000000000000000000000000000001/Calls.json',
      headers: {
        authorization: `Basic ${btoa(`${env.TWILIO_ACCOUNT_SID}:${env.TWILIO_AUTH_TOKEN}`)}`,
      },
    })
    const hook = 'https://perigee.test/hooks/twilio-voice/acc_1'
    expect(requests[0]?.body).toEqual({
      To: to,
      From: '+15005550006',
      Twiml:
        '<?xml version="1.0" encoding="UTF-8"?><Response>' +
        `<Gather numDigits="1" finishOnKey="" timeout="10" action="${hook}/digits?message=${sending.key}">` +
        '<Say language="en-GB" loop="2">Emergency. SOS button from Tern 7. ' +
        'Press 1 to acknowledge, or 2 to listen again.</Say></Gather>' +
        '<Say language="en-GB">No key was pressed. Goodbye.</Say></Response>',
      TimeLimit: '300',
      StatusCallback: `${hook}?message=${sending.key}`,
      StatusCallbackEvent: 'completed',
    })
  })

  test('escapes its text, leaves out what XML cannot have, and is short enough for Twilio', async () => {
    const to = uniquePhone()
    const bad = '</Say><Hangup/> & "quoted" \u{0}\u{b}\u{ffff}\ud800'
    const key = `msg_${'k'.repeat(30)}-${'r'.repeat(22)}`
    await twilioVoice.send(env, message(to, { text: bad }))
    await twilioVoice.send(env, message(to, { key, text: '"'.repeat(5000) }))
    const [escaped = '', long = ''] = await twimlTo(to)
    expect(escaped).toContain('&lt;/Say&gt;&lt;Hangup/&gt; &amp; &quot;quoted&quot;')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    expect(escaped).not.toMatch(/[\u{0}-\u{8}\u{b}\u{fffe}\u{ffff}]/u)
    expect(escaped.match(/<Say/g)).toHaveLength(2)
    expect(long.length).toBeLessThanOrEqual(4000)
    expect(long).toMatch(/&quot; Press 1 to acknowledge/)
  })

  test.each<[string, SendOutcome]>([
    ['500', retry('provider-failed', true)],
    ['503', retry('provider-unavailable', false)],
    ['throttle 7', { kind: 'throttled', reason: 'throttled', afterMs: 7_000 }],
    ['reset', retry('unreachable', true)],
    ['401', retry('twilio-20003', false)],
    ['21211', { kind: 'refused', reason: 'twilio-21211' }],
    ['21215', retry('twilio-21215', false)],
    ['redirect', retry('twilio-307', false)],
    ['html', retry('twilio-no-sid', true)],
  ])('that is answered with %s', async (behaviour, outcome) => {
    const to = uniquePhone()
    await scriptProvider(to, behaviour)
    expect(await twilioVoice.send(env, message(to))).toEqual(outcome)
    expect((await readProviderRecord(to)).requests).toHaveLength(1)
  })

  test('is looked up after an attempt of unknown outcome, and not taken for another one', async () => {
    const to = uniquePhone()
    const since = Date.now()
    const sending = message(to)
    await scriptProvider(to, 'accept-and-reset')
    expect(await twilioVoice.send(env, sending)).toEqual(retry('unreachable', true))
    const [made] = (await readProviderRecord(to)).sent
    const again = { ...sending, unsureSince: since }
    expect(await twilioVoice.send(env, again)).toEqual({ kind: 'accepted', providerId: made?.sid })
    expect((await readProviderRecord(to)).requests).toHaveLength(1)
    // An SMS to the same number is no call.
    await twilio.send(env, message(to, { text: 'An SMS' }))
    for (const other of [
      { ...again, isOfOther: (id: string) => id === made?.sid },
      { ...again, unsureSince: Date.now() + 5_000 },
    ])
      expect(await twilioVoice.send(env, other)).toMatchObject({ kind: 'accepted' })
    const calls = (await readProviderRecord(to)).sent.filter(({ body }) => body === undefined)
    expect(calls).toHaveLength(3)
  })

  const NOT_CONFIGURED = 'not-configured: TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, TWILIO_VOICE_FROM'
  test.each<[Partial<NotifyEnv>, string]>([
    [{ TWILIO_ACCOUNT_SID: '' }, NOT_CONFIGURED],
    [{ TWILIO_AUTH_TOKEN: '' }, NOT_CONFIGURED],
    [{ TWILIO_FROM: '' }, NOT_CONFIGURED],
    [{ TWILIO_FROM: 'MG0001' }, NOT_CONFIGURED],
    [{ PUBLIC_URL: '' }, 'not-configured: PUBLIC_URL'],
  ])('with %o waits until the operator has corrected it', async (changes, reason) => {
    const to = uniquePhone()
    const outcome = await twilioVoice.send({ ...env, ...changes }, message(to))
    expect(outcome).toEqual(retry(reason, false))
    expect((await readProviderRecord(to)).requests).toEqual([])
  })

  test('comes from a number of its own where one is set, and is chosen by the name twilio', async () => {
    const to = uniquePhone()
    const own = { ...env, TWILIO_FROM: 'MG0001', TWILIO_VOICE_FROM: '+15005550001' }
    await twilioVoice.send(own, message(to))
    expect((await readProviderRecord(to)).requests[0]?.body.From).toBe('+15005550001')
    expect(providerFor({ VOICE_PROVIDER: 'twilio' }, 'Voice')).toBe(twilioVoice)
    expect(providerFor({ SMS_PROVIDER: 'twilio' }, 'SMS')).toBe(twilio)
    expect([providerAt('twilio'), providerAt('twilio-voice')]).toEqual([twilio, twilioVoice])
  })
})

const hookOf = (account: TestAccount, id: string, part = '') =>
  `/hooks/twilio-voice/${account.id}${part}?message=${id}`

const press = async (path: string, Digits: string) =>
  call('POST', path, await twilioReceipt(path, { CallSid: 'CA1', Digits }))

const report = async (account: TestAccount, id: string, CallStatus: string) => {
  const path = hookOf(account, id)
  const reply = await call('POST', path, await twilioReceipt(path, { CallSid: 'CA1', CallStatus }))
  expect([reply.status, reply.body]).toEqual([200, { success: true }])
}

/** Runs the ledger's alarm as if every message were due. */
const sendNow = async (account: TestAccount) => {
  await runInDurableObject(ledgerStub(account), (_, { storage }) => {
    storage.sql.exec('UPDATE messages SET next_try = 0 WHERE next_try IS NOT NULL')
  })
  await runDurableObjectAlarm(ledgerStub(account))
}

const untilStatus = (account: TestAccount, status: string) =>
  eventually(async () => {
    const messages = await readMessages(account)
    expect(messages.map((one: { status: string }) => one.status)).toEqual([status])
  })

/** An account with a user who wants calls, and a device. */
const openScene = async () => {
  const account = await openAccount()
  const phone = uniquePhone()
  const user = await createUser(account, { phone, notify: VOICE_ONLY })
  return { account, phone, user, deviceId: await createDevice(account, { name: 'Tern 7' }) }
}

/** An emergency about which Twilio calls a user. */
const raiseCall = async () => {
  const scene = await openScene()
  const { account, deviceId } = scene
  const { alert } = (await raiseAlert(account, deviceId, { alertName: 'SOSButton' })).body
  await untilStatus(account, 'sent')
  const id: string = alert.deliveries[0].id
  return { ...scene, alertId: alert.id as string, id, digits: hookOf(account, id, '/digits') }
}

describe('a key that is pressed in a call', () => {
  test('1 acknowledges as the user who was called, once, and shows that a person was reached', async () => {
    const { account, user, phone, alertId, deviceId } = await raiseCall()
    const [twiml = ''] = await twimlTo(phone)
    expect(twiml).toContain('Emergency. SOS button from Tern 7')
    const action = new URL(/action="([^"]+)"/.exec(twiml)?.[1]?.replaceAll('&amp;', '&') ?? '')
    const path = action.pathname + action.search
    for (let n = 0; n < 2; n++) {
      const reply = await press(path, '1')
      expect(reply.status).toBe(200)
      expect(reply.headers.get('Content-Type')).toBe('text/xml; charset=utf-8')
      expect(reply.text).toBe(
        '<?xml version="1.0" encoding="UTF-8"?><Response><Say language="en-GB">' +
          'Thank you. You have acknowledged this. Goodbye.</Say></Response>',
      )
    }
    expect(await readAlert(account, alertId)).toMatchObject({
      acknowledged: true,
      acknowledgedBy: user.id,
    })
    expect(await readEvents(account, 'alert.acknowledged')).toEqual([
      { deviceId, alertId, acknowledgedBy: user.id },
    ])
    expect(await readMessages(account)).toMatchObject([
      { channel: 'Voice', to: phone, provider: 'twilio', status: 'delivered', reason: null },
    ])
  })

  test('1 says who was first, and what has become of an alert that is over', async () => {
    const { account, alertId, digits } = await raiseCall()
    await account.call('POST', `/api/alerts/${alertId}/acknowledge`)
    const { acknowledgedBy } = await readAlert(account, alertId)
    expect((await press(digits, '1')).text).toContain('Somebody has acknowledged this already.')
    await account.call('POST', `/api/alerts/${alertId}/resolve`)
    expect((await press(digits, '1')).text).toContain('This is over already.')
    expect(await readAlert(account, alertId)).toMatchObject({ acknowledgedBy, state: 'resolved' })
    expect(await readEvents(account, 'alert.acknowledged')).toHaveLength(1)
    const other = await raiseCall()
    await other.account.call('POST', `/api/alerts/${other.alertId}/cancel`)
    expect((await press(other.digits, '1')).text).toContain('This was a false alarm and is over.')
  })

  test('2 reads the text again as often as wanted; another key once, and then the call ends', async () => {
    const { account, alertId, digits } = await raiseCall()
    for (let n = 0; n < 3; n++) {
      const { text } = await press(digits, '2')
      expect(text).toContain('Emergency. SOS button from Tern 7')
      expect(text).toContain(`action="https://perigee.test${digits}"`)
    }
    for (const wrong of ['9', '#', '']) {
      const { text } = await press(digits, wrong)
      expect(text).toContain('Emergency. SOS button from Tern 7')
      expect(text).toContain(`action="https://perigee.test${digits}&amp;wrong=1"`)
    }
    const second = `${digits}&wrong=1`
    expect((await press(second, '2')).text).toContain('<Gather')
    expect((await press(second, '9')).text).not.toContain('<Gather')
    expect(await readAlert(account, alertId)).toMatchObject({ acknowledged: false })
    expect((await readMessages(account))[0]).toMatchObject({ status: 'delivered' })
    expect((await press(second, '1')).text).toContain('You have acknowledged this')
  })

  test('is refused with a wrong signature, and no other provider takes any', async () => {
    const { account, id, alertId, digits } = await raiseCall()
    const form = { CallSid: 'CA1', Digits: '1' }
    const good = await twilioReceipt(digits, form)
    for (const [path, request] of [
      [digits, await twilioReceipt(digits, form, 'guessed')],
      [digits, { ...good, body: good.body.replace('Digits=1', 'Digits=2') }],
      [`${digits}0`, good],
      [digits, { body: good.body }],
    ] as const) {
      const reply = await call('POST', path, request)
      expect([reply.status, reply.body.code]).toEqual([401, 'invalid-signature'])
    }
    for (const provider of ['twilio', 'resend', 'outbox', 'nobody', '__proto__']) {
      const path = `/hooks/${provider}/${account.id}/digits?message=${id}`
      expect((await press(path, '1')).status).toBe(404)
    }
    expect((await call('GET', digits)).status).toBe(405)
    expect(await readAlert(account, alertId)).toMatchObject({ acknowledged: false })
    expect((await readMessages(account))[0]).toMatchObject({ status: 'sent' })
  })

  test('acknowledges nothing at the address of another account, for another message or for nobody', async () => {
    const { account, id, alertId } = await raiseCall()
    const [other, sms] = [await openAccount(), await openAccount()]
    await createUser(sms, { phone: uniquePhone(), notify: { email: false, sms: true } })
    const { alert } = (await raiseAlert(sms, await createDevice(sms))).body
    await untilStatus(sms, 'sent')
    for (const path of [
      hookOf(other, id, '/digits'),
      hookOf({ ...other, id: 'acc_none' }, id, '/digits'),
      hookOf(account, 'msg_none', '/digits'),
      hookOf(sms, alert.deliveries[0].id, '/digits'),
    ]) {
      const reply = await press(path, '1')
      expect(reply.status).toBe(200)
      expect(reply.text).toContain('can no longer be acknowledged by this call')
    }
    for (const [owner, alertOf] of [
      [account, alertId],
      [sms, alert.id],
    ] as const)
      expect(await readAlert(owner, alertOf)).toMatchObject({ acknowledged: false })
    for (const owner of [account, sms])
      expect((await readMessages(owner))[0]).toMatchObject({ status: 'sent' })
  })

  test('shows nobody where no key was pressed, and acknowledges nothing when no link would', async () => {
    const { account, id, alertId, digits } = await raiseCall()
    for (const none of ['', 'hangup', '11']) await press(digits, none)
    expect((await readMessages(account))[0]).toMatchObject({ status: 'sent' })
    await env.DB.prepare('UPDATE messages SET changed = changed - ? WHERE id = ?')
      .bind(8 * 86_400_000, id)
      .run()
    expect((await press(digits, '1')).text).toContain('can no longer be acknowledged')
    expect(await readAlert(account, alertId)).toMatchObject({ acknowledged: false })
  })

  test('acknowledges nothing for a user who may not see the device any more', async () => {
    const { account, user, alertId, digits } = await raiseCall()
    await account.call('PATCH', `/api/users/${user.id}`, { body: { disabled: true } })
    for (const digit of ['1', '2'])
      expect((await press(digits, digit)).text).toContain('can no longer be acknowledged')
    expect(await readAlert(account, alertId)).toMatchObject({ acknowledged: false })
  })
})

describe('how a call ends', () => {
  test.each([
    ['completed', 'voice-not-confirmed'],
    ['busy', 'voice-busy'],
    ['no-answer', 'voice-no-answer'],
    ['failed', 'voice-failed'],
    ['canceled', 'voice-canceled'],
  ])('%s without a key has reached nobody, and the account is notified', async (what, reason) => {
    const { account, alertId, id } = await raiseCall()
    for (const early of ['initiated', 'ringing', 'in-progress', 'unknown'])
      await report(account, id, early)
    expect((await readMessages(account))[0]).toMatchObject({ status: 'sent' })
    await report(account, id, what)
    expect((await readMessages(account))[0]).toMatchObject({ status: 'failed', reason })
    expect(await readEvents(account, 'message.failed')).toMatchObject([{ messageId: id, reason }])
    await eventually(async () => {
      await runDurableObjectAlarm(ledgerStub(account))
      const reported = await readEvents(account, 'alert.undelivered')
      expect(reported).toMatchObject([{ alertId, reason: 'not-delivered' }])
    })
  })

  test('does not matter once a key was pressed, whichever report comes first', async () => {
    for (const isKeyFirst of [true, false]) {
      const { account, id, digits } = await raiseCall()
      if (isKeyFirst) await press(digits, '9')
      await report(account, id, 'completed')
      if (!isKeyFirst) await press(digits, '9')
      expect((await readMessages(account))[0]).toMatchObject({ status: 'delivered', reason: null })
      if (isKeyFirst) {
        await runDurableObjectAlarm(ledgerStub(account))
        expect(await readEvents(account, 'alert.undelivered')).toEqual([])
      }
    }
  })

  test('is not reported by anybody but Twilio', async () => {
    const { account, id } = await raiseCall()
    const path = hookOf(account, id)
    const forged = await twilioReceipt(path, { CallStatus: 'completed' }, 'guessed')
    expect((await call('POST', path, forged)).status).toBe(401)
    expect((await readMessages(account))[0]).toMatchObject({ status: 'sent' })
  })

  test('badly, and it can be made again: under another key, which the first call does not settle', async () => {
    const { account, phone, id, alertId, digits } = await raiseCall()
    await report(account, id, 'busy')
    expect((await account.call('POST', `/api/account/messages/${id}/retry`)).status).toBe(200)
    await untilStatus(account, 'sent')
    const { requests } = await readProviderRecord(phone)
    expect(requests).toHaveLength(2)
    const key = new URL(String(requests[1]?.body.StatusCallback)).searchParams.get('message') ?? ''
    expect(key).toMatch(new RegExp(`^${id}-`))
    await report(account, id, 'no-answer')
    expect((await readMessages(account))[0]).toMatchObject({ status: 'sent' })
    await press(hookOf(account, key, '/digits'), '1')
    expect((await readMessages(account))[0]).toMatchObject({ status: 'delivered' })
    expect(await readAlert(account, alertId)).toMatchObject({ acknowledged: true })
    expect((await press(digits, '1')).text).toContain('You have acknowledged this')
  })
})

describe('an emergency contact', () => {
  beginTestsAtNoon()

  test('who is called in a round acknowledges by a key', async () => {
    const { account, deviceId } = await openScene()
    const phone = uniquePhone()
    await patchAccount(account, {
      emergencyContacts: [{ name: 'Harbour office', phone }],
      escalation: { afterMinutes: 10, rounds: 1, voice: true },
    })
    const { alert } = (await raiseAlert(account, deviceId, { alertName: 'SOSButton' })).body
    await passTime(account, 10 * MINUTE_MS + 1)
    const id = await eventually(async () => {
      await passTime(account, 1_000)
      const calls = await readMessages(account, '?channel=Voice')
      const made = calls.find(({ to }: { to: string }) => to === phone)
      expect(made).toMatchObject({ kind: 'escalation', status: 'sent' })
      return made.id as string
    })
    const { text } = await press(hookOf(account, id, '/digits'), '1')
    expect(text).toContain('You have acknowledged this')
    expect(await readAlert(account, alert.id)).toMatchObject({ acknowledgedBy: 'Harbour office' })
  })
})

describe('nobody is called twice', () => {
  test('after a crash while the provider had not answered', async () => {
    const { account, phone, deviceId } = await openScene()
    await scriptProvider(phone, 'accept-and-hang')
    await raiseAlert(account, deviceId, { alertName: 'SOSButton' })
    await eventually(async () => expect((await readProviderRecord(phone)).sent).toHaveLength(1))
    await crashLedger(account)
    await sendNow(account)
    await untilStatus(account, 'sent')
    const { requests, lookups } = await readProviderRecord(phone)
    expect([requests.length, lookups]).toEqual([1, 1])
  })

  test('when Twilio reports a call whose acceptance was lost', async () => {
    const { account, phone, deviceId } = await openScene()
    await scriptProvider(phone, 'accept-and-reset')
    const { alert } = (await raiseAlert(account, deviceId, { alertName: 'SOSButton' })).body
    await eventually(async () => expect((await readProviderRecord(phone)).sent).toHaveLength(1))
    await report(account, alert.deliveries[0].id, 'initiated')
    await sendNow(account)
    expect((await readMessages(account))[0]).toMatchObject({ status: 'sent', provider: 'twilio' })
    const { requests, lookups } = await readProviderRecord(phone)
    expect([requests.length, lookups]).toEqual([1, 0])
  })

  test('but about each of two alerts, though only one call was made at first', async () => {
    const { account, phone, deviceId } = await openScene()
    const second = await createDevice(account)
    await scriptProvider(phone, 'reset')
    await raiseAlert(account, deviceId, { alertName: 'SOSButton' })
    await eventually(async () =>
      expect((await readMessages(account))[0]).toMatchObject({ reason: 'unreachable' }),
    )
    await raiseAlert(account, second, { alertName: 'SOSButton' })
    await eventually(async () =>
      expect(await readMessages(account, `?status=sent&deviceId=${second}`)).toHaveLength(1),
    )
    await sendNow(account)
    await eventually(async () => expect(await readMessages(account, '?status=queued')).toEqual([]))
    expect((await readProviderRecord(phone)).sent).toHaveLength(2)
  })

  test('nor at all once somebody has acknowledged the alert', async () => {
    const { account, phone, deviceId } = await openScene()
    await scriptProvider(phone, '503*')
    const { alert } = (await raiseAlert(account, deviceId, { alertName: 'SOSButton' })).body
    await eventually(async () =>
      expect((await readMessages(account))[0]).toMatchObject({ reason: 'provider-unavailable' }),
    )
    await account.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    const { requests } = await readProviderRecord(phone)
    await sendNow(account)
    await untilStatus(account, 'suppressed')
    expect((await readMessages(account))[0]).toMatchObject({ reason: 'acknowledged' })
    expect((await readProviderRecord(phone)).requests).toHaveLength(requests.length)
  })
})
