import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Webhook } from '../../../src/domain/event/webhook.ts'
import { isSandboxFeed } from '../../../src/feed/sandbox.ts'
import { pokeFeed } from '../../../src/feed/stub.ts'
import { syncWorkerState } from '../../../src/feed/webhooks/workerState.ts'
import { openAccount, openSandbox, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { headOf, logWithoutPoke } from '../../support/feed/events.ts'
import { feedStub, passTime } from '../../support/feed/feed.ts'
import { listen } from '../../support/feed/streams.ts'
import {
  callWithNewToken,
  createWebhook,
  DAY_MS,
  type Delivery,
  deliveriesOf,
  HOUR_MS,
  MINUTE_MS,
  receiver,
  waitForDelivery,
  webhookOf,
} from '../../support/feed/webhooks.ts'
import type { ReceivedCall } from '../../support/run/receivers.ts'
import { eventually, iso } from '../../support/time.ts'

let account: TestAccount
let device: string

beforeEach(async () => {
  account = await openAccount()
  device = await createDevice(account, { name: 'Tern', maxSpeed: 0 })
})

afterEach(() => {
  vi.useRealTimers()
})

const createOutput = async (url: string, format = 'cot', more: object = {}): Promise<string> => {
  const body = { url, format, events: ['location.*', 'alert.*'], ...more }
  return (await createWebhook(account, body)).webhook.id
}
const report = (latitude: number, of = device) =>
  callWithNewToken(account, 'POST', `/api/devices/${of}/locations`, {
    dateTime: iso(Date.now()),
    latitude,
    longitude: -9.5,
  })
const otherDevice = async (): Promise<string> => {
  const body = { name: crypto.randomUUID(), maxSpeed: 0 }
  return (await callWithNewToken(account, 'POST', '/api/devices', body)).body.device.id
}
const raise = async (text: string) =>
  callWithNewToken(account, 'POST', `/api/devices/${await otherDevice()}/alerts`, {
    alertName: 'SOSButton',
    text,
    latitude: 38.5,
    longitude: -9.5,
  })
const logAlerts = (count: number, alertName: string) =>
  logWithoutPoke(account, count, 'alert.raised', device, { alertName, latitude: 1, longitude: 2 })
const poke = () => pokeFeed(env, { accountId: account.id, cell: 0 })

const callsTo = async (url: string): Promise<ReceivedCall[]> =>
  (await fetch(url.split('/').slice(0, -1).join('/'))).json()
const countOf = async (url: string, part: string): Promise<number> =>
  (await callsTo(url)).filter(({ body }) => body.includes(part)).length
const waitFor = (url: string, part: string) =>
  eventually(async () => expect(await countOf(url, part)).toBeGreaterThan(0))

/** Makes the locations wait behind one that fails, and then sends them to another address. */
const sendTogether = async (latitudes: number[], url: string): Promise<string> => {
  const first = receiver().url('500')
  const id = await createOutput(first)
  await report(38.1)
  await waitFor(first, '38.1')
  for (const latitude of latitudes) await report(latitude)
  await account.call('PATCH', `/api/webhooks/${id}`, { body: { url } })
  await passTime(account, MINUTE_MS)
  return id
}
/** What the feed stores of the deliveries of webhooks. */
const storedIn = (of: TestAccount) =>
  runInDurableObject(feedStub(of), (_, { storage: { sql } }) => ({
    lanes: sql
      .exec('SELECT webhook_id AS id FROM webhook_workers')
      .toArray()
      .map(({ id }) => id),
    pending: sql.exec('SELECT * FROM deliveries WHERE next_attempt IS NOT NULL').toArray().length,
  }))
const locationsOf = (deliveries: Delivery[]) =>
  deliveries.map(({ status, events }) => [status, events]).reverse()

describe('a delivery that is sent in part', () => {
  test('is not repeated from the first record when a later one fails', async () => {
    const url = receiver().url('break-38.4')
    const id = await sendTogether([38.2, 38.3, 38.4, 38.5], url)
    await waitForDelivery(account, id, { status: 'pending', attempts: 1 })
    await passTime(account, HOUR_MS)
    await waitForDelivery(account, id, { status: 'pending', attempts: 2 })
    expect([await countOf(url, '38.2'), await countOf(url, '38.3')]).toEqual([1, 1])
    expect(locationsOf(await deliveriesOf(account, id))).toEqual([
      ['delivered', 1],
      ['delivered', 2],
      ['pending', 2],
    ])
  })

  test('goes on with the next delivery when the receiver is slow', async () => {
    const url = receiver().url('slow-2000')
    const id = await sendTogether([38.2, 38.3, 38.4, 38.5, 38.6], url)
    await eventually(async () => expect(await callsTo(url)).toHaveLength(6), 200)
    await eventually(async () =>
      expect(locationsOf(await deliveriesOf(account, id))).toEqual([
        ['delivered', 1],
        ['delivered', 3],
        ['delivered', 2],
      ]),
    )
  })
})

describe('a redelivery to a slow receiver', () => {
  const redeliver = async (id: string, { id: delivery }: Delivery) =>
    (
      await callWithNewToken(
        account,
        'POST',
        `/api/webhooks/${id}/deliveries/${delivery}/redeliver`,
      )
    ).body.delivery
  /** Sends the first record of a delivery, and then takes too long. */
  const redeliverInPart = async (id: string, delivery: Delivery, url: string) => {
    const before = (await callsTo(url)).length
    const redelivering = redeliver(id, delivery)
    await eventually(async () => expect(await callsTo(url)).toHaveLength(before + 1))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + MINUTE_MS })
    return redelivering
  }

  test('goes on with what is left of a delivery that was delivered', async () => {
    const id = await sendTogether([38.2, 38.3], receiver().url())
    const whole = await waitForDelivery(account, id, { status: 'delivered', events: 2 })
    const url = receiver().url('slow-1000')
    await callWithNewToken(account, 'PATCH', `/api/webhooks/${id}`, { url })
    expect(await redeliverInPart(id, whole, url)).toMatchObject({ status: 'delivered', events: 1 })
    const [rest] = await deliveriesOf(account, id)
    const expected = { status: 'delivered', failure: 'timeout', events: 1, nextAttempt: null }
    expect(rest).toMatchObject(expected)
    expect(await redeliver(id, rest as Delivery)).toMatchObject({ failure: null })
    expect([await countOf(url, '38.2'), await countOf(url, '38.3')]).toEqual([1, 1])
  })

  test('leaves the rest of a pending delivery to its schedule', async () => {
    const id = await sendTogether([38.2, 38.3], receiver().url('break-38.2'))
    const whole = await waitForDelivery(account, id, { status: 'pending', events: 2 })
    const url = receiver().url('slow-1000')
    await callWithNewToken(account, 'PATCH', `/api/webhooks/${id}`, { url, enabled: true })
    const redelivered = await redeliverInPart(id, whole, url)
    expect(redelivered).toMatchObject({ status: 'delivered', events: 1, nextAttempt: null })
    await waitFor(url, '38.3')
    await waitForDelivery(account, id, { status: 'delivered', events: 1, attemptsByHand: 0 })
    expect([await countOf(url, '38.2'), await countOf(url, '38.3')]).toEqual([1, 1])
  })
})

test('whether an account is a sandbox is not known of one that is missing', async () => {
  await createOutput(receiver().url())
  const known = await runInDurableObject(feedStub(account), async (_, { storage }) => {
    const of = (accountId: string) =>
      isSandboxFeed({ env, storage, owner: { accountId, cell: 0 } }).catch(() => null)
    return [await of('acc_none'), await of(account.id)]
  })
  expect(known).toEqual([null, false])
})

describe('a webhook with a lane that fails', () => {
  /** Waits for the next attempt with a location, and for its result. */
  const reportAndWait = async (url: string, before: number): Promise<number> => {
    await report(38.1)
    await eventually(async () => expect(await countOf(url, '38.1')).toBeGreaterThan(before))
    await scheduler.wait(100)
    return countOf(url, '38.1')
  }

  test('stays enabled while another lane delivers', async () => {
    const url = receiver().url('break-38.1')
    const id = await createOutput(url)
    let calls = 0
    for (let day = 0; day <= 6; day++) {
      calls = await reportAndWait(url, calls)
      await raise(`alert-${day}`)
      await waitFor(url, `alert-${day}`)
      await passTime(account, 0.9 * DAY_MS)
    }
    await eventually(async () => expect(await countOf(url, '38.1')).toBeGreaterThan(7))
    expect(await webhookOf(account, id)).toMatchObject({ enabled: true })
  })

  test('is disabled when no other lane delivers for five days', async () => {
    const url = receiver().url('break-38.1')
    const id = await createOutput(url)
    await raise('only-one')
    await waitFor(url, 'only-one')
    let calls = 0
    for (let day = 0; day <= 6; day++) {
      calls = await reportAndWait(url, calls)
      await passTime(account, 0.9 * DAY_MS)
    }
    await eventually(async () =>
      expect(await webhookOf(account, id)).toMatchObject({ disabledReason: 'failing' }),
    )
  })
})

test('an emergency does not wait for other alerts, however many are pending', async () => {
  const url = receiver().url('break-flood')
  const id = await createOutput(url)
  await logAlerts(130, 'flood')
  await poke()
  await eventually(async () => expect(await countOf(url, 'flood')).toBeGreaterThanOrEqual(100))
  await raise('urgent')
  await waitFor(url, 'urgent')
  const pending = (await deliveriesOf(account, id)).filter(({ status }) => status === 'pending')
  expect(pending.length).toBeGreaterThan(0)
})

describe('a webhook that is changed during a call', () => {
  test('and deleted leaves nothing to deliver', async () => {
    const url = receiver().url('slow-2000')
    const id = await sendTogether([38.2, 38.3, 38.4, 38.5, 38.6], url)
    await eventually(async () => expect(await callsTo(url)).toHaveLength(3), 200)
    const { status } = await callWithNewToken(account, 'DELETE', `/api/webhooks/${id}`)
    expect(status).toBe(200)
    // The call ends in part, as it takes too long.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + MINUTE_MS })
    await scheduler.wait(3000)
    expect(await callsTo(url)).toHaveLength(3)
    expect(await storedIn(account)).toEqual({ lanes: [], pending: 0 })
  })

  test('to our own format keeps no lane of alerts', async () => {
    const target = receiver()
    const id = await createOutput(target.url('held'))
    await raise('urgent')
    await waitFor(target.url(), 'urgent')
    await account.call('PATCH', `/api/webhooks/${id}`, { body: { format: 'json' } })
    await runDurableObjectAlarm(feedStub(account))
    await target.release()
    await waitForDelivery(account, id, { attempts: 1, responseCode: 503 })
    expect(await storedIn(account)).toMatchObject({ lanes: [id] })
  })

  test.each([400, 410])('sends what the former receiver refused with %i', async (refusal) => {
    const target = receiver()
    const id = await createOutput(target.url(`held-0-${refusal}`))
    await report(38.1)
    await waitFor(target.url(), '38.1')
    const url = receiver().url()
    await account.call('PATCH', `/api/webhooks/${id}`, { body: { url } })
    await runDurableObjectAlarm(feedStub(account))
    await target.release()
    await waitForDelivery(account, id, { status: 'pending', responseCode: refusal })
    await passTime(account, MINUTE_MS)
    await waitFor(url, '38.1')
  })
})

test('what is pending of a webhook that is gone is deleted', async () => {
  const id = await createOutput(receiver().url())
  await report(38.1)
  await waitForDelivery(account, id, { status: 'delivered' })
  await runInDurableObject(feedStub(account), (_, { storage: { sql } }) => {
    sql.exec("UPDATE webhook_workers SET webhook_id = 'whk_gone' WHERE webhook_id = ?", id)
    sql.exec("UPDATE deliveries SET webhook_id = 'whk_none:alerts', next_attempt = 1")
  })
  await report(38.2)
  await eventually(async () =>
    expect(await storedIn(account)).toEqual({ lanes: expect.arrayContaining([id]), pending: 0 }),
  )
  expect((await storedIn(account)).lanes).not.toContain('whk_gone')
})

test('a new lane of emergencies starts where that of all alerts is', async () => {
  const { webhook } = await createWebhook(account, { url: receiver().url(), format: 'cot' })
  await report(38.1)
  await waitForDelivery(account, webhook.id, { status: 'delivered' })
  const start = await runInDurableObject(feedStub(account), (_, { storage: { sql } }) => {
    const lane = `${webhook.id}:emergencies`
    sql.exec('DELETE FROM webhook_workers WHERE webhook_id = ?', lane)
    sql.exec("UPDATE webhook_workers SET cursor = 1 WHERE webhook_id LIKE '%:alerts'")
    return syncWorkerState(sql, { ...webhook, id: lane, since: 0 } as unknown as Webhook)
  })
  expect(start.cursor).toBe(1)
})

test('a delivery of which nothing is sent is no success of the receiver', async () => {
  const id = await createOutput(receiver().url(), 'naf')
  await raise('urgent')
  await waitForDelivery(account, id, { status: 'delivered', responseCode: null })
  const succeeded = await runInDurableObject(feedStub(account), (_, { storage: { sql } }) =>
    sql.exec('SELECT * FROM webhook_workers WHERE succeeded_at IS NOT NULL').toArray(),
  )
  expect(succeeded).toEqual([])
})

test.each(['cot', 'json'])(
  'alerts in %s keep a slot beside locations that hang',
  async (format) => {
    const held = Array.from({ length: 5 }, () => receiver())
    for (const target of held)
      await createOutput(target.url('held'), 'cot', { events: ['location.*'] })
    const url = receiver().url()
    await createOutput(url, format, { events: ['alert.*'] })
    const count = async () =>
      (await Promise.all(held.map((target) => callsTo(target.url())))).flat().length
    await report(38.1)
    await eventually(async () => expect(await count()).toBe(3))
    await logAlerts(1, 'urgent')
    await poke()
    await waitFor(url, 'urgent')
    expect(await count()).toBe(3)
    await Promise.all(held.map((target) => target.release()))
  },
)

test('an alert that its lane has not reached is sent in our own format after a change to it', async () => {
  const url = receiver().url()
  const id = await createOutput(url)
  await report(38.1)
  await waitFor(url, '38.1')
  await logAlerts(1, 'late')
  const head = await headOf(account)
  await runInDurableObject(feedStub(account), (_, { storage: { sql } }) => {
    sql.exec('UPDATE webhook_workers SET cursor = ? WHERE webhook_id = ?', head, id)
  })
  await account.call('PATCH', `/api/webhooks/${id}`, { body: { format: 'json' } })
  await waitFor(url, '"alertName":"late"')
})

test('a test sends a device of the groups of the webhook', async () => {
  const url = receiver().url()
  const member = await createDevice(account, { name: 'Zulu', maxSpeed: 0 })
  const partner = { name: 'Partner', devices: [member] }
  const { body } = await account.call('POST', '/api/groups', { body: partner })
  for (const of of [device, member]) await report(38.1, of)
  const id = await createOutput(url, 'cot', { groups: [body.id] })
  const reply = await account.call('POST', `/api/webhooks/${id}/test`)
  expect(reply.body.delivery, reply.text).toMatchObject({ status: 'delivered' })
  const [call] = await callsTo(url)
  expect(call?.body).toContain('callsign="Zulu"')
})

describe('a sandbox says so', () => {
  const bodyOfTest = async () => {
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url() })
    await account.call('POST', `/api/webhooks/${webhook.id}/test`)
    return JSON.parse((await callsTo(target.url()))[0]?.body ?? '{}')
  }

  test('in our own format and in streams', async () => {
    const ready = async () => (await listen(account)).messages[0]
    expect([await ready(), await bodyOfTest()]).not.toContainEqual(
      expect.objectContaining({ sandbox: expect.anything() }),
    )
    account = await openSandbox()
    for (const message of [await ready(), await bodyOfTest()])
      expect(message).toMatchObject({ sandbox: true })
    const target = receiver()
    await createWebhook(account, { url: target.url(), events: ['device.*'] })
    await createDevice(account, 'Tern')
    const [call] = await target.waitForCalls(1)
    expect(JSON.parse(call?.body ?? '')).toMatchObject({ sandbox: true })
  })

  test('in other formats', async () => {
    account = await openSandbox()
    device = await createDevice(account, { name: 'Own', maxSpeed: 0 })
    const url = receiver().url()
    await createOutput(url)
    await raise('help')
    await waitFor(url, '<remarks>[Sandbox] SOSButton: help</remarks>')
    const [call] = await callsTo(url)
    expect(call?.body).toMatch(/callsign="\[Sandbox\] [^"]+-Alert"/)
  })
})
