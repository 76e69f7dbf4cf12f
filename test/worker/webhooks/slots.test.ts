import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { passTime } from '../../support/feed/feed.ts'
import {
  callWithNewToken,
  createWebhook,
  namesIn,
  receiver,
  waitForDelivery,
} from '../../support/feed/webhooks.ts'
import { eventually } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

const events = ['device.*']

/** As many webhooks as wanted, each with a receiver of its own that replies in this way. */
const addReceivers = async (account: TestAccount, count: number, manner: string) => {
  const added: { target: ReturnType<typeof receiver>; id: string }[] = []
  for (let n = 0; n < count; n++) {
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url(manner), events })
    added.push({ target, id: webhook.id })
  }
  return {
    ids: added.map(({ id }) => id),
    countCalls: async () =>
      (await Promise.all(added.map(({ target }) => target.calls()))).flat().length,
    release: () => Promise.all(added.map(({ target }) => target.release())),
  }
}
type Receivers = Awaited<ReturnType<typeof addReceivers>>

const waitForCalls = (receivers: Receivers, count: number) =>
  eventually(async () => expect(await receivers.countCalls()).toBe(count))

test('four receivers are called at a time, and the others when one of them has answered', async () => {
  const account = await openAccount()
  const slow = await addReceivers(account, 6, 'held')
  const healthy = await addReceivers(account, 1, 'ok')
  await createDevice(account, 'Tern')
  await waitForCalls(slow, 4)
  const reads = vi.spyOn(env.DB, 'batch')
  await scheduler.wait(1500)
  expect([await slow.countCalls(), await healthy.countCalls()]).toEqual([4, 0])
  // Waiting for a slot is no reason to poll.
  expect(reads.mock.calls.length).toBeLessThan(3)
  reads.mockRestore()
  await slow.release()
  for (const id of slow.ids) await waitForDelivery(account, id, { attempts: 1, responseCode: 503 })
  for (const id of healthy.ids) await waitForDelivery(account, id, { status: 'delivered' })
  expect([await slow.countCalls(), await healthy.countCalls()]).toEqual([6, 1])
})

test('receivers that failed last time leave a slot to the others', async () => {
  const account = await openAccount()
  const slow = await addReceivers(account, 5, 'held-1')
  const healthy = receiver()
  await createWebhook(account, { url: healthy.url(), events })
  await createDevice(account, 'First')
  for (const id of slow.ids) await waitForDelivery(account, id, { attempts: 1, responseCode: 503 })
  await passTime(account, 6_000)
  await waitForCalls(slow, 5 + 3)
  await callWithNewToken(account, 'POST', '/api/devices', { name: 'Second' })
  expect(namesIn(await healthy.waitForCalls(2))).toEqual(['First', 'Second'])
  expect(await slow.countCalls()).toBe(5 + 3)
  await slow.release()
  await waitForCalls(slow, 5 + 5)
})

test('the 15 seconds of an attempt begin when it has its slot', async () => {
  const account = await openAccount()
  const slow = await addReceivers(account, 4, 'held')
  const waiting = await addReceivers(account, 1, 'slow-11000')
  await createDevice(account, 'Tern')
  await waitForCalls(slow, 4)
  await scheduler.wait(5_000)
  expect(await waiting.countCalls()).toBe(0)
  await slow.release()
  const delivery = await waitForDelivery(account, waiting.ids[0] ?? '', {
    status: 'delivered',
    attempts: 1,
  })
  expect(delivery.durationMs).toBeLessThan(15_000)
})

test('a webhook that is disabled while its attempt waits for a slot is not called', async () => {
  const account = await openAccount()
  const slow = await addReceivers(account, 4, 'held')
  const waiting = await addReceivers(account, 1, 'ok')
  await createDevice(account, 'Tern')
  await waitForCalls(slow, 4)
  const [id = ''] = waiting.ids
  await account.call('PATCH', `/api/webhooks/${id}`, { body: { enabled: false } })
  await eventually(async () => {
    const { body } = await account.call('GET', `/api/webhooks/${id}/deliveries`)
    expect(body.deliveries).toMatchObject([{ status: 'failed', failure: 'disabled' }])
  })
  await slow.release()
  for (const id of slow.ids) await waitForDelivery(account, id, { attempts: 1 })
  await scheduler.wait(200)
  expect(await waiting.countCalls()).toBe(0)
})

test('tests and redeliveries need slots too, and leave one to the deliveries', async () => {
  const account = await openAccount()
  const tested = await addReceivers(account, 4, 'held')
  const healthy = await addReceivers(account, 1, 'ok')
  for (const id of tested.ids)
    await account.call('PATCH', `/api/webhooks/${id}`, { body: { enabled: false } })
  const replies = Promise.all(
    tested.ids.map((id) => account.call('POST', `/api/webhooks/${id}/test`)),
  )
  await waitForCalls(tested, 3)
  await createDevice(account, 'Tern')
  await waitForCalls(healthy, 1)
  expect(await tested.countCalls()).toBe(3)
  await tested.release()
  for (const { body } of await replies)
    expect(body.delivery).toMatchObject({ status: 'failed', responseCode: 503 })
  expect(await tested.countCalls()).toBe(4)
})

test('a test or redelivery that has no slot within ten seconds is refused, and makes no call', async () => {
  const account = await openAccount()
  const tested = await addReceivers(account, 1, 'ok')
  const [id = ''] = tested.ids
  await createDevice(account, 'First')
  const delivery = await waitForDelivery(account, id, { status: 'delivered', attempts: 1 })
  await account.call('PATCH', `/api/webhooks/${id}`, { body: { enabled: false } })
  const slow = await addReceivers(account, 4, 'held')
  await createDevice(account, 'Second')
  await waitForCalls(slow, 4)
  const replies = await Promise.all(
    [`/test`, `/deliveries/${delivery.id}/redeliver`].map((path) =>
      account.call('POST', `/api/webhooks/${id}${path}`),
    ),
  )
  for (const reply of replies)
    expect([reply.status, reply.body.code, reply.headers.get('Retry-After')]).toEqual([
      503,
      'unavailable',
      '5',
    ])
  expect(await tested.countCalls()).toBe(1)
  const again = account.call('POST', `/api/webhooks/${id}/test`)
  await slow.release()
  expect((await again).body.delivery).toMatchObject({ status: 'delivered', attempts: 1 })
})
