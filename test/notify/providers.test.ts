import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { cloudflare } from '../../src/notify/cloudflare.ts'
import type { Message, NotifyEnv, SendOutcome } from '../../src/notify/provider.ts'
import { providerFor } from '../../src/notify/providers.ts'
import { resend } from '../../src/notify/resend.ts'
import { twilio } from '../../src/notify/twilio.ts'
import {
  readProviderRecord,
  scriptProvider,
  uniqueEmail,
  uniquePhone,
} from '../support/alerts/recipients.ts'

let keys = 0
const message = (to: string, changes: Partial<Message> = {}): Message => ({
  key: `msg_${++keys}${crypto.randomUUID().slice(0, 8)}`,
  accountId: 'acc_1',
  cell: 0,
  kind: 'alert',
  isUrgent: false,
  isTest: false,
  alertId: null,
  link: null,
  to,
  subject: 'SOSButton: Tern 7',
  text: 'SOSButton from Tern 7\nMap: https://www.openstreetmap.org/?mlat=1.00000&mlon=2.00000 <b>',
  unsureSince: null,
  ...changes,
})

const retry = (reason: string, maybeAccepted: boolean): SendOutcome => ({
  kind: 'retry',
  reason,
  maybeAccepted,
})
const refused = (reason: string): SendOutcome => ({ kind: 'refused', reason })
const throttled = (afterMs: number): SendOutcome => ({
  kind: 'throttled',
  reason: 'throttled',
  afterMs,
})

/** For a provider that does not answer. */
const impatient: NotifyEnv = { ...env, SEND_TIMEOUT_MS: '1000' }
const isTimeout = (outcome: SendOutcome) => outcome.kind === 'retry' && outcome.reason === 'timeout'

/** The outcome that every HTTP provider must give for each behaviour. */
const FAILURES: [behaviour: string, outcome: SendOutcome][] = [
  ['500', retry('provider-failed', true)],
  ['502', retry('provider-failed', true)],
  ['408', retry('provider-failed', true)],
  ['503', retry('provider-unavailable', false)],
  ['later 120', throttled(120_000)],
  ['throttle 7', throttled(7_000)],
  ['throttle', throttled(30_000)],
  ['throttle soon', throttled(30_000)],
  ['throttle 99999999', throttled(86_400_000)],
  ['hang', retry('timeout', true)],
  ['accept-and-hang', retry('timeout', true)],
  ['slow-body', retry('timeout', true)],
  ['reset', retry('unreachable', true)],
]

test('an internationalised domain is addressed in ASCII', async () => {
  const local = `Ana-${crypto.randomUUID().slice(0, 8)}`
  const [to, written] = [`${local}@bücher.example`, `${local}@xn--bcher-kva.example`]
  await resend.send(env, message(to))
  expect((await readProviderRecord(written)).sent).toHaveLength(1)
  const given: unknown[] = []
  const listening = {
    send: async (builder: unknown) => given.push(builder) && { messageId: 'x' },
  } as unknown as SendEmail
  await cloudflare.send({ ...env, EMAIL: listening }, message(to))
  expect(given).toMatchObject([{ to: written }])
})

describe('Resend', () => {
  test('gets an e-mail as text and HTML, with credentials, User-Agent and the message’s key', async () => {
    const [to, from] = [uniqueEmail(), 'Perigee <alerts@perigee.test>']
    const sending = message(to)
    const outcome = await resend.send(env, sending)
    const { requests, sent } = await readProviderRecord(to)
    expect(outcome).toEqual({ kind: 'accepted', providerId: sent[0]?.id })
    expect(requests).toHaveLength(1)
    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: '/emails',
      headers: {
        authorization: 'Bearer re_test_key',
        'content-type': 'application/json',
        'idempotency-key': sending.key,
        'user-agent': 'perigee/1.0',
      },
    })
    const { html, ...body } = requests[0]?.body ?? {}
    expect(body).toEqual({
      from,
      to: [to],
      subject: sending.subject,
      text: sending.text,
      tags: [
        { name: 'account', value: 'acc_1' },
        { name: 'message', value: sending.key },
      ],
    })
    expect(html).toContain('&lt;b&gt;')
    expect(html).toContain(
      '<a href="https://www.openstreetmap.org/?mlat=1.00000&amp;mlon=2.00000">',
    )
  })

  test.each<[string, SendOutcome]>([
    ...FAILURES,
    ['401', retry('resend-missing_api_key', false)],
    ['403', retry('resend-validation_error', false)],
    ['404', retry('resend-not_found', false)],
    ['422', refused('resend-validation_error')],
    ['conflict', retry('resend-concurrent_idempotent_requests', true)],
    ['redirect', retry('resend-307', false)],
    ['html', retry('resend-no-id', true)],
    ['endless', retry('resend-no-id', true)],
  ])('that answers with %s', async (behaviour, outcome) => {
    const to = uniqueEmail()
    await scriptProvider(to, behaviour)
    expect(await resend.send(isTimeout(outcome) ? impatient : env, message(to))).toEqual(outcome)
    expect((await readProviderRecord(to)).requests).toHaveLength(1)
    expect((await readProviderRecord('stolen')).requests).toEqual([])
  })

  test('sends a key once, and a known key with another text counts as accepted', async () => {
    const to = uniqueEmail()
    const sending = message(to)
    await scriptProvider(to, 'accept-and-hang', 'accept-and-reset')
    expect(await resend.send(impatient, sending)).toEqual(retry('timeout', true))
    expect(await resend.send(env, sending)).toEqual(retry('unreachable', true))
    expect(await resend.send(env, sending)).toMatchObject({ kind: 'accepted' })
    expect(await resend.send(env, { ...sending, text: 'Written by a later release' })).toEqual({
      kind: 'accepted',
      providerId: null,
    })
    expect((await readProviderRecord(to)).sent).toHaveLength(1)
  })

  test.each([
    [{ RESEND_API_KEY: '' }, retry('not-configured: RESEND_API_KEY', false)],
    [{ EMAIL_FROM: '' }, retry('not-configured: EMAIL_FROM', false)],
    [{ RESEND_API_KEY: 're_wrong' }, retry('resend-invalid_api_key', false)],
    [{ RESEND_URL: 'http://127.0.0.1:1' }, retry('unreachable', true)],
  ])('with %o is tried again later: the operator can correct it', async (changes, outcome) => {
    expect(await resend.send({ ...env, ...changes } as NotifyEnv, message(uniqueEmail()))).toEqual(
      outcome,
    )
  })
})

describe('Twilio', () => {
  test('gets a form with recipient, text, sender and the URL for receipts', async () => {
    const to = uniquePhone()
    const sending = message(to)
    const outcome = await twilio.send(env, sending)
    const { requests, sent, lookups } = await readProviderRecord(to)
    expect(outcome).toEqual({ kind: 'accepted', providerId: sent[0]?.sid })
    expect(requests).toHaveLength(1)
    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: '/2010-04-01/Accounts/AC00000000000000000000000000000001/Messages.json',
      headers: {
        authorization: `Basic ${btoa(`${env.TWILIO_ACCOUNT_SID}:${env.TWILIO_AUTH_TOKEN}`)}`,
      },
    })
    expect(requests[0]?.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/)
    expect(requests[0]?.body).toEqual({
      To: to,
      Body: sending.text,
      From: '+15005550006',
      StatusCallback: `https://perigee.test/hooks/twilio/acc_1?message=${sending.key}`,
    })
    expect(lookups).toBe(0)
  })

  test('sends by a messaging service, and without receipts if no public URL is set', async () => {
    const to = uniquePhone()
    const { PUBLIC_URL, ...without } = env
    await twilio.send({ ...without, TWILIO_FROM: 'MG0001' }, message(to))
    const { body } = (await readProviderRecord(to)).requests[0] ?? {}
    expect(Object.keys(body ?? {})).toEqual(['To', 'Body', 'MessagingServiceSid'])
  })

  test.each<[string, SendOutcome]>([
    ...FAILURES,
    ['401', retry('twilio-20003', false)],
    ['404', retry('twilio-404', false)],
    ['21211', refused('twilio-21211')],
    ['21610', refused('twilio-21610')],
    ['21606', retry('twilio-21606', false)],
    ['redirect', retry('twilio-307', false)],
    ['html', retry('twilio-no-sid', true)],
    ['endless', retry('twilio-no-sid', true)],
  ])('that answers with %s', async (behaviour, outcome) => {
    const to = uniquePhone()
    await scriptProvider(to, behaviour)
    expect(await twilio.send(isTimeout(outcome) ? impatient : env, message(to))).toEqual(outcome)
    expect((await readProviderRecord(to)).requests).toHaveLength(1)
  })

  test('is queried after an attempt of unknown outcome, and sends only if it has no such message', async () => {
    const to = uniquePhone()
    const since = Date.now()
    const sending = message(to)
    await scriptProvider(to, 'accept-and-hang', 'hang')
    expect(await twilio.send(impatient, sending)).toEqual(retry('timeout', true))
    const found = await twilio.send(env, { ...sending, unsureSince: since })
    const { sent, requests } = await readProviderRecord(to)
    expect(found).toEqual({ kind: 'accepted', providerId: sent[0]?.sid })
    expect([sent.length, requests.length]).toEqual([1, 1])
    const other = { ...sending, text: 'Another alert' }
    expect(await twilio.send(impatient, other)).toEqual(retry('timeout', true))
    expect(await twilio.send(env, { ...other, unsureSince: since })).toMatchObject({
      kind: 'accepted',
    })
    expect((await readProviderRecord(to)).sent).toHaveLength(2)
    // The same text a day earlier was another message.
    expect(await twilio.send(env, { ...sending, unsureSince: Date.now() + 5_000 })).toMatchObject({
      kind: 'accepted',
    })
    expect((await readProviderRecord(to)).sent).toHaveLength(3)
  })

  test('without credentials is retried later', async () => {
    expect(await twilio.send({ ...env, TWILIO_FROM: '' }, message(uniquePhone()))).toMatchObject({
      kind: 'retry',
      maybeAccepted: false,
    })
  })
})

describe('Cloudflare', () => {
  test('sends by the binding', async () => {
    const outcome = await cloudflare.send(env, message(uniqueEmail()))
    expect(outcome).toEqual({ kind: 'accepted', providerId: expect.any(String) })
  })

  test('gets the sender’s name and address separately, text and HTML, and a header that identifies a repeat', async () => {
    const given: unknown[] = []
    const listening = {
      send: async (builder: unknown) => given.push(builder) && { messageId: 'x' },
    } as unknown as SendEmail
    const sending = message(uniqueEmail())
    const { key, to, subject, text } = sending
    for (const EMAIL_FROM of [
      '"Perigee" <alerts@perigee.test>',
      'alerts@perigee.test',
      '<alerts@perigee.test>',
    ]) {
      await cloudflare.send({ EMAIL: listening, EMAIL_FROM }, sending)
    }
    const common = {
      to,
      subject,
      text,
      html: expect.stringContaining('&lt;b&gt;'),
      headers: { 'X-Perigee-Message': key },
    }
    expect(given).toEqual([
      { ...common, from: { name: 'Perigee', email: 'alerts@perigee.test' } },
      { ...common, from: 'alerts@perigee.test' },
      { ...common, from: 'alerts@perigee.test' },
    ])
  })

  const failing = (error: unknown): NotifyEnv => ({
    ...env,
    EMAIL: { send: () => Promise.reject(error) } as unknown as SendEmail,
  })
  const coded = (code: string) => Object.assign(new Error('said no'), { code })

  test.each<[string, SendOutcome]>([
    ['E_VALIDATION_ERROR', refused('cloudflare-validation-error')],
    ['E_RECIPIENT_SUPPRESSED', refused('cloudflare-recipient-suppressed')],
    ['E_DELIVERY_FAILED', refused('cloudflare-delivery-failed')],
    ['E_HEADER_VALUE_INVALID', refused('cloudflare-header-value-invalid')],
    ['E_SENDER_NOT_VERIFIED', retry('cloudflare-sender-not-verified', false)],
    ['E_RECIPIENT_NOT_ALLOWED', retry('cloudflare-recipient-not-allowed', false)],
    ['E_INTERNAL_SERVER_ERROR', retry('cloudflare-internal-server-error', true)],
    ['E_RATE_LIMIT_EXCEEDED', throttled(30_000)],
    ['E_DAILY_LIMIT_EXCEEDED', throttled(3_600_000)],
  ])('that throws %s', async (code, outcome) => {
    expect(await cloudflare.send(failing(coded(code)), message(uniqueEmail()))).toEqual(outcome)
  })

  test('that throws without a code or hangs is retried', async () => {
    expect(
      await cloudflare.send(failing(new Error('Network connection lost')), message(uniqueEmail())),
    ).toEqual(retry('provider-failed', true))
    const hanging = { ...env, EMAIL: { send: () => new Promise(() => {}) } as unknown as SendEmail }
    expect(await cloudflare.send(hanging, message(uniqueEmail()))).toEqual(retry('timeout', true))
  })

  test('without a binding or a sender is retried later', async () => {
    const { EMAIL, ...without } = env
    expect(await cloudflare.send(without, message(uniqueEmail()))).toEqual(
      retry('not-configured: the binding EMAIL', false),
    )
    expect(await cloudflare.send({ ...env, EMAIL_FROM: '' }, message(uniqueEmail()))).toEqual(
      retry('not-configured: EMAIL_FROM', false),
    )
  })
})

test('the provider is chosen by name; by default nothing is sent, and an unknown name keeps messages queued', async () => {
  const nobody = message('nobody')
  expect(providerFor({}, 'Email').name).toBe('outbox')
  expect(providerFor({ SMS_PROVIDER: '' }, 'SMS').name).toBe('outbox')
  expect(providerFor({ EMAIL_PROVIDER: 'cloudflare' }, 'Email')).toBe(cloudflare)
  expect(await providerFor({}, 'SMS').send({}, nobody)).toEqual({
    kind: 'accepted',
    providerId: null,
  })
  expect(await providerFor({ SMS_PROVIDER: 'resend' }, 'SMS').send({}, nobody)).toEqual(
    retry('not-configured: SMS_PROVIDER', false),
  )
})
