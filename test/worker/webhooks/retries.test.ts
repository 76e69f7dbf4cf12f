import { runDurableObjectAlarm } from 'cloudflare:test'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { feedStub, passTime } from '../../support/feed/feed.ts'
import {
  callWithNewToken,
  createWebhook,
  DAY_MS,
  type Delivery,
  deliveriesOf,
  HOUR_MS,
  namesIn,
  openAccountWithReceiver,
  receiver,
  runNextAttempt,
  waitForDelivery,
  webhookOf,
} from '../../support/feed/webhooks.ts'
import { eventually } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('a failing receiver', () => {
  test('a failed delivery is retried, and later events wait for it', async () => {
    const { account, target, id } = await openAccountWithReceiver('after-2')
    await waitForDelivery(account, id, {
      status: 'pending',
      attempts: 1,
      responseCode: 503,
      failure: 'status',
      answer: 'not yet',
    })
    await createDevice(account, 'Second')
    await runNextAttempt(account, id, { status: 'pending', attempts: 2 })
    await eventually(async () => expect(await target.calls()).toHaveLength(2))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 70_000 })
    await runDurableObjectAlarm(feedStub(account))
    const calls = await target.waitForCalls(4)
    expect(namesIn(calls)).toEqual(['First', 'First', 'First', 'Second'])
    const ids = calls.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids.slice(0, 3)).size).toBe(1)
    expect(ids[3]).not.toBe(ids[0])
    expect(
      (await deliveriesOf(account, id)).map(({ status, attempts }) => [status, attempts]),
    ).toEqual([
      ['delivered', 1],
      ['delivered', 3],
    ])
  })

  test('a delivery fails for good after ten attempts over three days, and the next one is sent', async () => {
    const { account, target, id } = await openAccountWithReceiver('500')
    const startedAt = Date.now()
    let last = await waitForDelivery(account, id, { status: 'pending', attempts: 1 })
    for (let attempt = 2; attempt <= 9; attempt++)
      last = await runNextAttempt(account, id, { status: 'pending', attempts: attempt })
    const fresh = await callWithNewToken(account, 'POST', '/api/devices', { name: 'Second' })
    expect(fresh.status).toBe(201)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(last.nextAttempt ?? '') + 1 })
    expect((Date.now() - startedAt) / DAY_MS).toBeGreaterThan(2.7)
    expect((Date.now() - startedAt) / DAY_MS).toBeLessThan(3.4)
    await runDurableObjectAlarm(feedStub(account))
    await waitForDelivery(account, id, { status: 'pending', attempts: 1, events: 1 })
    const [second, first] = await deliveriesOf(account, id)
    expect(first).toMatchObject({
      status: 'failed',
      attempts: 10,
      responseCode: 500,
      nextAttempt: null,
    })
    expect(second?.firstSequence).toBe((first?.firstSequence ?? 0) + 1)
    expect(await target.calls()).toHaveLength(11)
    expect(await webhookOf(account, id)).toMatchObject({ enabled: true, disabledReason: null })
  })

  test('a reply of 410 disables the webhook at once', async () => {
    const { account, target, id } = await openAccountWithReceiver('410')
    await eventually(async () =>
      expect(await webhookOf(account, id)).toMatchObject({
        enabled: false,
        disabledReason: 'gone',
      }),
    )
    expect((await deliveriesOf(account, id))[0]).toMatchObject({
      status: 'failed',
      attempts: 1,
      responseCode: 410,
      nextAttempt: null,
    })
    await createDevice(account, 'Second')
    await passTime(account, HOUR_MS)
    expect(await target.calls()).toHaveLength(1)
  })

  test('later events are not sent before the next attempt of a failed delivery', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url('after-1') })
    await createDevice(account, 'First')
    await waitForDelivery(account, webhook.id, { status: 'pending', attempts: 1 })
    await createDevice(account, 'Second')
    await scheduler.wait(300)
    expect(namesIn(await target.calls())).toEqual(['First'])
    const [{ nextAttempt: due }] = (await deliveriesOf(account, webhook.id)) as [Delivery]
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(due ?? '') + 1 })
    await runDurableObjectAlarm(feedStub(account))
    await eventually(async () =>
      expect(namesIn(await target.calls())).toEqual(['First', 'First', 'Second']),
    )
  })

  test('a redirect is a failure and is not followed', async () => {
    const elsewhere = async () => (await fetch('https://receiver.example/elsewhere')).json()
    const before = await elsewhere()
    const { account, id } = await openAccountWithReceiver('301')
    await waitForDelivery(account, id, {
      status: 'pending',
      responseCode: 301,
      failure: 'redirect',
    })
    expect(await elsewhere()).toEqual(before)
  })

  test('only the first kilobyte of a reply of 10 MB is read', async () => {
    const { account, id } = await openAccountWithReceiver('big')
    const delivery = await waitForDelivery(account, id, { status: 'delivered', responseCode: 200 })
    expect(delivery.answer).toBe('x'.repeat(1024))
    expect(delivery.durationMs).toBeLessThan(15_000)
  })

  test('a receiver that hangs fails after 15 seconds and delays no other webhook', async () => {
    const { account, id } = await openAccountWithReceiver('hang')
    const other = receiver()
    await createWebhook(account, { url: other.url(), events: ['device.*'] })
    await createDevice(account, 'Second')
    expect(namesIn(await other.waitForCalls(1))).toEqual(['Second'])
    const delivery = await eventually(async () => {
      const [newest] = await deliveriesOf(account, id)
      expect(newest).toMatchObject({
        status: 'pending',
        attempts: 1,
        responseCode: null,
        failure: 'timeout',
      })
      return newest as Delivery
    }, 200)
    expect(delivery.durationMs).toBeGreaterThan(14_000)
    expect(delivery.durationMs).toBeLessThan(55_000)
  })
})
