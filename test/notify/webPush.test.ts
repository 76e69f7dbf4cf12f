import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import type { Message, SendOutcome } from '../../src/notify/provider.ts'
import { providerFor } from '../../src/notify/providers.ts'
import { rotatePushKey } from '../../src/notify/pushKeys.ts'
import { webPush } from '../../src/notify/webPush.ts'
import { openAccount, type TestAccount } from '../support/accounts.ts'
import { raiseAlert, readAlert } from '../support/alerts/alerts.ts'
import { readMessages } from '../support/alerts/messages.ts'
import {
  type Browser,
  fromBase64url,
  listSubscriptions,
  makeLocalBrowser,
  readNotifications,
  subscribe,
} from '../support/alerts/push.ts'
import { readProviderRecord, scriptProvider } from '../support/alerts/recipients.ts'
import { createDevice } from '../support/devices.ts'
import { call } from '../support/http.ts'
import { ledgerStub } from '../support/ledger.ts'
import { eventually } from '../support/time.ts'
import { createBoundUser } from '../support/users.ts'

const SOS = { alertName: 'SOSButton', latitude: 38.7223, longitude: -9.1393 }

/** An account with a device and a user who gets notifications in one browser, and nothing else. */
const scene = async ({ cell = 0 } = {}) => {
  const account = await openAccount({ cell })
  const notify = { email: false, sms: false, push: true }
  const user = await createBoundUser(account, { notify }, { scopes: ['read'] })
  const browser = await makeLocalBrowser()
  const { body } = await subscribe(user, browser)
  const to = body.pushSubscription.id as string
  return { account, user, browser, to, cell, deviceId: await createDevice(account) }
}
type Scene = Awaited<ReturnType<typeof scene>>

const untilStatus = (account: TestAccount, status: string) =>
  eventually(async () => {
    await runDurableObjectAlarm(ledgerStub(account))
    expect((await readMessages(account))[0]).toMatchObject({ status })
  })

const raise = async ({ account, deviceId }: Scene, alert: object = SOS) =>
  (await raiseAlert(account, deviceId, alert)).body.alert

const firstNotification = async (browser: Browser) => {
  const [first] = await readNotifications(browser)
  if (!first) throw new Error('nothing was received')
  return first
}

const messageTo = ({ account, to, cell }: Scene, changes: Partial<Message> = {}): Message => ({
  key: `msg_${crypto.randomUUID().slice(0, 8)}`,
  accountId: account.id,
  cell,
  kind: 'alert',
  isUrgent: false,
  isTest: false,
  alertId: 'alr_1jn7wz3h4q8v2n5t7r6m0p',
  link: null,
  to,
  subject: 'Low battery: Tern 7',
  text: '09:30 UTC\n38.7223, -9.1393',
  unsureSince: null,
  ...changes,
})

test('is the provider of notifications unless another is set', () => {
  expect(providerFor({}, 'Push')).toBe(webPush)
  expect(providerFor({ PUSH_PROVIDER: 'outbox' }, 'Push').name).toBe('outbox')
})

describe('an emergency', () => {
  test.each([0, 1])('of cell %i reaches the browser with all that it shows', async (cell) => {
    const set = await scene({ cell })
    const alert = await raise(set)
    await untilStatus(set.account, 'sent')
    const { headers, payload } = await firstNotification(set.browser)
    expect(headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: '86400',
      urgency: 'high',
      topic: alert.id,
    })
    const [message] = await readMessages(set.account)
    expect(message).toMatchObject({ channel: 'Push', to: set.to, provider: 'webpush' })
    expect(Object.keys(payload)).toEqual(
      'title body alertId messageId emergency test kind link receipt'.split(' '),
    )
    expect(payload).toMatchObject({
      alertId: alert.id,
      messageId: message.id,
      emergency: true,
      test: false,
      kind: 'alert',
    })
    expect(payload.title).toContain('Tern 7')
    expect(payload.body).toContain('38.72')
    expect(payload.body).not.toContain('/a/')
    expect(payload.link).toMatch(/^\/a\/\w{16}$/)
    expect((await call('POST', payload.link)).status).toBe(200)
    expect(await readAlert(set.account, alert.id)).toMatchObject({ acknowledged: true })
  })

  test('is signed with the key that the browser has subscribed with, also after a rotation', async () => {
    const set = await scene()
    const { publicKey } = (await call('GET', '/api/push/key')).body
    await rotatePushKey(env)
    await raise(set)
    await untilStatus(set.account, 'sent')
    const { headers } = await firstNotification(set.browser)
    const [, token = '', key = ''] =
      /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(String(headers.authorization)) ?? []
    expect(key).toBe(publicKey)
    expect(decodeProtectedHeader(token)).toEqual({ typ: 'JWT', alg: 'ES256' })
    const curve = { name: 'ECDSA', namedCurve: 'P-256' }
    const raw = fromBase64url(key)
    const verifier = await crypto.subtle.importKey('raw', raw, curve, false, ['verify'])
    const { payload } = await jwtVerify(token, verifier, { audience: env.PROVIDERS })
    expect(payload.sub).toBe('https://perigee.test')
    expect((payload.exp ?? 0) - Date.now() / 1000).toBeLessThan(86_400)
  })

  test('of a drill says so; an ordinary alert waits for four hours', async () => {
    const set = await scene()
    await raise(set, { ...SOS, test: true })
    await untilStatus(set.account, 'sent')
    const { payload } = await firstNotification(set.browser)
    expect(payload).toMatchObject({ test: true, title: expect.stringMatching(/^TEST: /) })
    const other = await scene()
    await raise(other, { alertName: 'LowBattery' })
    await untilStatus(other.account, 'sent')
    const ordinary = await firstNotification(other.browser)
    expect(ordinary.headers).toMatchObject({ ttl: '14400', urgency: 'normal' })
    expect(ordinary.payload).toMatchObject({ emergency: false, test: false })
  })
})

test('a payload has at most 3 KB, whatever the text', async () => {
  const set = await scene()
  const text = '\u{1f6a8}'.repeat(3000)
  expect(await webPush.send(env, messageTo(set, { text }))).toMatchObject({ kind: 'accepted' })
  const { bytes, payload } = await firstNotification(set.browser)
  expect(bytes.byteLength).toBeLessThan(3072 + 120)
  expect(payload.body.length).toBeGreaterThan(500)
})

describe('the outcome', () => {
  const retry = (reason: string, maybeAccepted: boolean): SendOutcome => ({
    kind: 'retry',
    reason,
    maybeAccepted,
  })
  const throttled = (afterMs: number): SendOutcome => ({
    kind: 'throttled',
    reason: 'throttled',
    afterMs,
    isOfRecipient: true,
  })

  test.each<[string, SendOutcome]>([
    ['accept', { kind: 'accepted', providerId: null }],
    ['404', { kind: 'refused', reason: 'subscription-gone' }],
    ['410', { kind: 'refused', reason: 'subscription-gone' }],
    ['422', { kind: 'refused', reason: 'webpush-422' }],
    ['403', retry('webpush-403', false)],
    ['redirect', retry('webpush-307', false)],
    ['500', retry('provider-failed', true)],
    ['502', retry('provider-failed', true)],
    ['503', retry('provider-unavailable', false)],
    ['throttle 7', throttled(7_000)],
    ['throttle', throttled(30_000)],
    ['hang', retry('timeout', true)],
    ['reset', retry('unreachable', true)],
  ])('of %s', async (behaviour, outcome) => {
    const set = await scene()
    await scriptProvider(set.browser.name, behaviour)
    const impatient = { ...env, SEND_TIMEOUT_MS: '1000' }
    expect(await webPush.send(impatient, messageTo(set))).toEqual(outcome)
    const isGone = 'reason' in outcome && outcome.reason === 'subscription-gone'
    expect(await listSubscriptions(set.user)).toHaveLength(isGone ? 0 : 1)
    expect((await readProviderRecord('stolen')).requests).toEqual([])
  })

  test('of a deleted subscription, another account’s and one that may not be called', async () => {
    const [set, other] = [await scene(), await scene()]
    const deleted = { kind: 'refused', reason: 'subscription-deleted' }
    expect(await webPush.send(env, messageTo({ ...set, to: other.to }))).toEqual(deleted)
    // The browser is another user's by now.
    expect(await webPush.send(env, messageTo(set, { userId: 'usr_other' }))).toEqual(deleted)
    const guarded = { ...env, ALLOW_LOOPBACK_WEBHOOKS: 'false' }
    expect(await webPush.send(guarded, messageTo(set))).toEqual({
      kind: 'refused',
      reason: 'endpoint-not-allowed',
    })
    await set.user.call('DELETE', `/api/me/pushSubscriptions/${set.to}`)
    expect(await webPush.send(env, messageTo(set))).toEqual(deleted)
    expect((await readProviderRecord(set.browser.name)).requests).toEqual([])
  })

  test('while no secret reads the key is that the operator has to act', async () => {
    const set = await scene()
    const lost = { ...env, TOKEN_SECRET: 'x'.repeat(40), TOKEN_SECRET_PREVIOUS: '' }
    expect(await webPush.send(lost, messageTo(set))).toEqual(
      retry('not-configured: push key', false),
    )
  })
})

test('a push service that asks to wait delays no other browser', async () => {
  const set = await scene()
  const second = await makeLocalBrowser()
  await subscribe(set.user, second)
  await scriptProvider(set.browser.name, 'throttle 3000*')
  await raise(set)
  await eventually(async () => {
    await runDurableObjectAlarm(ledgerStub(set.account))
    const statuses = (await readMessages(set.account)).map(
      ({ status }: Message & { status: string }) => status,
    )
    expect(statuses.toSorted()).toEqual(['queued', 'sent'])
  })
  await raise(set, { alertName: 'LowBattery' })
  await eventually(async () => {
    await runDurableObjectAlarm(ledgerStub(set.account))
    expect(await readNotifications(second)).toHaveLength(2)
  })
})

describe('a receipt of the service worker', () => {
  const shown = async () => {
    const set = await scene()
    await raise(set)
    await untilStatus(set.account, 'sent')
    const { receipt } = (await firstNotification(set.browser)).payload
    return { ...set, receipt: receipt as string }
  }
  const statusOf = async ({ account }: Scene) => (await readMessages(account))[0].status

  test('says that the message was delivered, and a repeat changes nothing', async () => {
    const set = await shown()
    expect(set.receipt).toMatch(
      new RegExp(`^/hooks/webpush/${set.account.id}\\?message=msg_\\w+&signature=[\\w-]{43}$`),
    )
    expect(await statusOf(set)).toBe('sent')
    for (let time = 0; time < 2; time++) {
      expect((await call('POST', set.receipt)).status).toBe(200)
      expect(await statusOf(set)).toBe('delivered')
    }
  })

  test('that is forged, or for another message or account, is refused', async () => {
    const [set, other] = [await shown(), await shown()]
    const [path = '', query = ''] = set.receipt.split('?')
    const otherPath = other.receipt.split('?')[0] ?? ''
    const given = new URLSearchParams(query)
    const message = new URLSearchParams(other.receipt.split('?')[1]).get('message') ?? ''
    const signature = given.get('signature') ?? ''
    const forged = [
      path,
      `${path}?message=${given.get('message')}`,
      `${path}?message=${given.get('message')}&signature=${'A'.repeat(43)}`,
      `${path}?message=${given.get('message')}&signature=!`,
      `${path}?message=${message}&signature=${signature}`,
      `${otherPath}?${query}`,
      `${otherPath}?message=${message}&signature=${signature}`,
    ]
    for (const one of forged) {
      const reply = await call('POST', one)
      expect([reply.status, reply.body.code], one).toEqual([401, 'invalid-signature'])
    }
    expect([await statusOf(set), await statusOf(other)]).toEqual(['sent', 'sent'])
  })

  test('that the previous secret signed is right, with an older one it is not', async () => {
    const set = await scene()
    const { TOKEN_SECRET, TOKEN_SECRET_PREVIOUS } = env
    const url = async (changes: object) => {
      await scriptProvider(set.browser.name)
      await webPush.send({ ...env, ...changes }, messageTo(set))
      const { payload } = (await readNotifications(set.browser)).at(-1) ?? {}
      return `https://perigee.test${payload.receipt}`
    }
    const swapped = {
      TOKEN_SECRET: TOKEN_SECRET_PREVIOUS ?? '',
      TOKEN_SECRET_PREVIOUS: TOKEN_SECRET,
    }
    const request = { url: await url(swapped), headers: new Headers(), body: '' }
    expect(await webPush.readReceipt?.(env, request, 0)).toMatchObject({
      accountId: set.account.id,
      status: 'delivered',
    })
    const later = { ...env, TOKEN_SECRET_PREVIOUS: '' }
    expect(await webPush.readReceipt?.(later, request, 0)).toBeNull()
  })
})

test('a message that failed is sent again under a key of its own, whose receipt counts', async () => {
  const set = await scene()
  await scriptProvider(set.browser.name, '422')
  await raise(set)
  await untilStatus(set.account, 'failed')
  const [{ id }] = await readMessages(set.account)
  const again = await set.account.call('POST', `/api/account/messages/${id}/retry`)
  expect(again.status, again.text).toBe(200)
  await untilStatus(set.account, 'sent')
  const [first, second] = await readNotifications(set.browser)
  await call('POST', first?.payload.receipt)
  expect((await readMessages(set.account))[0].status).toBe('sent')
  await call('POST', second?.payload.receipt)
  expect((await readMessages(set.account))[0].status).toBe('delivered')
  expect(second?.payload.messageId).toBe(id)
})

test('the thousandth notification of a device and a day is the last', async () => {
  const set = await scene()
  await raise(set, { alertName: 'LowBattery' })
  await untilStatus(set.account, 'sent')
  await runInDurableObject(ledgerStub(set.account), (_, state) => {
    const isOfDevice = `channel = 'Push' AND device_key > 0`
    state.storage.sql.exec(`UPDATE message_counts SET sent = 999 WHERE ${isOfDevice}`)
  })
  const deliveries = async () =>
    (await raise(set, { alertName: 'LowBattery' })).deliveries.map(
      ({ channel, status, reason }: Record<string, unknown>) => [channel, status, reason],
    )
  expect(await deliveries()).toEqual([['Push', 'queued', null]])
  expect(await deliveries()).toEqual([['Push', 'suppressed', 'daily-limit-reached']])
})
