import { runDurableObjectAlarm } from 'cloudflare:test'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Webhook, WebhookDelivery } from '../../../src/domain/event/webhook.ts'
import { isRefused } from '../../../src/feed/outputs/refusal.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { feedStub, passTime } from '../../support/feed/feed.ts'
import {
  callWithNewToken,
  createWebhook,
  deliveriesOf,
  receiver,
  runNextAttempt,
  waitForDelivery,
} from '../../support/feed/webhooks.ts'
import type { ReceivedCall } from '../../support/run/receivers.ts'
import { eventually, iso } from '../../support/time.ts'

let account: TestAccount
let inbox: string

beforeEach(async () => {
  account = await openAccount()
})

afterEach(() => {
  vi.useRealTimers()
})

/** A webhook to a broker that behaves in this way. */
const openOutput = async (behaviour: string): Promise<string> => {
  const url = receiver().url(behaviour)
  inbox = url.split('/').slice(0, -1).join('/')
  const events = ['location.*', 'alert.*']
  const body = { url: url.replace('https:', 'wss:'), format: 'mqtt', events }
  return (await createWebhook(account, body)).webhook.id
}
const addDevice = (name: string) => createDevice(account, { name, maxSpeed: 0 })
const report = (device: string, latitude: number, secondsAgo = 0) =>
  callWithNewToken(account, 'POST', `/api/devices/${device}/locations`, {
    dateTime: iso(Date.now() - secondsAgo * 1000),
    latitude,
    longitude: 1,
  })
const published = async () => {
  const calls: ReceivedCall[] = await (await fetch(inbox)).json()
  return calls.map(({ body, headers }) => ({ topic: headers.topic, ...JSON.parse(body) }))
}
const waitForLatitude = (latitude: number) =>
  eventually(async () => expect((await published()).map((one) => one.latitude)).toContain(latitude))
/** A delivery of several records is split. */
const singlesOf = async (id: string) =>
  (await deliveriesOf(account, id)).filter(({ events }) => events === 1)
test('a record on which the broker closes the connection holds back no other, and is given up', async () => {
  const [bad, good] = [await addDevice('poison'), await addDevice('Tern')]
  const id = await openOutput('broker-poison')
  await Promise.all([report(bad, 1.5, 9), report(good, 2.5, 8), report(bad, 3.5, 7)])
  await waitForLatitude(2.5)
  await report(good, 4.5)
  await waitForLatitude(4.5)
  await eventually(async () => {
    const failed = (await singlesOf(id)).filter(({ status }) => status !== 'delivered')
    expect(failed.map(({ attempts }) => attempts > 0)).toEqual([true, true])
  })
  for (let minutes = 0; minutes < 60; minutes += 6) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6 * 60_000 })
    await report(good, 5 + minutes)
    await waitForLatitude(5 + minutes)
    await runDurableObjectAlarm(feedStub(account))
  }
  const last = await eventually(async () => {
    const all = await singlesOf(id)
    expect(all.filter(({ status }) => status === 'pending')).toEqual([])
    return all.filter(({ status }) => status === 'failed')
  })
  for (const { attempts, failure } of last)
    expect([attempts >= 4, failure]).toEqual([true, 'unconfirmed'])
  expect(last).toHaveLength(2)
})

test('an emergency that the broker does not confirm is not given up, though others are confirmed', async () => {
  const id = await openOutput('broker-poison')
  const raise = async (device: string, text: string) =>
    callWithNewToken(account, 'POST', `/api/devices/${await addDevice(device)}/alerts`, {
      ...{ alertName: 'SOSButton', text, latitude: 1, longitude: 1 },
    })
  await raise('first', 'poison')
  const { id: deliveryId } = await waitForDelivery(account, id, { failure: 'unconfirmed' })
  const find = async () =>
    (await deliveriesOf(account, id)).find((delivery) => delivery.id === deliveryId)
  await raise('second', 'help')
  await eventually(async () =>
    expect((await published()).map(({ alert }) => alert.text)).toContain('help'),
  )
  for (let attempts = 2; attempts <= 6; attempts++) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse((await find())?.nextAttempt ?? '') + 1 })
    await runDurableObjectAlarm(feedStub(account))
    const expected = { status: 'pending', attempts, failure: 'unconfirmed' }
    await eventually(async () => expect(await find()).toMatchObject(expected))
  }
})

test('a record is given up only if the attempt before was not confirmed either', () => {
  const result = { responseCode: 101, failure: 'unconfirmed', durationMs: 1, answer: null } as const
  const isFinal = (failure: string, hasAlerts = false) => {
    const delivery = { webhookId: 'whk_1', failure, sequences: [1], creation: 1 } as WebhookDelivery
    const attempted = { delivery, hasAlerts, attempts: 9, succeededAt: 2 }
    return isRefused({ format: 'mqtt' } as Webhook, result, attempted)
  }
  expect([isFinal('unconfirmed'), isFinal('unreachable')]).toEqual([true, false])
  expect(isFinal('unconfirmed', true)).toBe(false)
})

test('a record to which the broker does not reply holds back no other', async () => {
  const [bad, good] = [await addDevice('silent'), await addDevice('Tern')]
  const id = await openOutput('broker-silent')
  await report(bad, 1.5)
  await waitForDelivery(account, id, { status: 'pending', failure: 'unconfirmed' })
  await report(good, 2.5)
  await waitForLatitude(2.5)
})

test('a broker that closes every connection for a while loses nothing', async () => {
  const device = await addDevice('Tern')
  const id = await openOutput('broker-first-6')
  await report(device, 1.5)
  await waitForDelivery(account, id, { attempts: 1, failure: 'unconfirmed' })
  for (let attempts = 2; attempts <= 6; attempts++)
    await runNextAttempt(account, id, { status: 'pending', attempts })
  await runNextAttempt(account, id, { status: 'delivered', attempts: 7 })
})

test('what the broker has confirmed is not published again', async () => {
  const [good, bad] = [await addDevice('Tern'), await addDevice('poison')]
  const id = await openOutput('broker-unavailable')
  await report(good, 1.5)
  await waitForDelivery(account, id, { attempts: 1, failure: 'status' })
  for (const latitude of [2.5, 3.5]) await report(good, latitude)
  await report(bad, 4.5)
  await report(good, 5.5)
  const url = `${inbox.replace('https:', 'wss:')}/broker-poison`
  await account.call('PATCH', `/api/webhooks/${id}`, { body: { url } })
  await passTime(account, 60_000)
  await waitForLatitude(5.5)
  const sent = (await published()).map(({ latitude }) => latitude)
  expect(sent.filter((latitude) => latitude !== 4.5)).toEqual([1.5, 2.5, 3.5, 5.5])
  const together = (await deliveriesOf(account, id)).filter(({ events }) => events > 1)
  expect(together.map(({ status, events }) => [status, events])).toEqual([
    ['failed', 2],
    ['delivered', 2],
  ])
})

test('a device without an identifier has a topic of its own, whatever its name', async () => {
  const owner = await createDevice(account, { name: 'Tern', identifier: '30043406', maxSpeed: 0 })
  const other = await addDevice('30043406')
  await openOutput('broker')
  await report(owner, 1.5)
  await report(other, 2.5)
  await waitForLatitude(2.5)
  expect((await published()).map(({ topic }) => topic)).toEqual([
    'perigee/30043406',
    `perigee/${other}`,
  ])
})
