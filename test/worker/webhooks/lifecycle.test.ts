import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { headOf } from '../../support/feed/events.ts'
import { feedStub, passTime } from '../../support/feed/feed.ts'
import {
  callWithNewToken,
  createWebhook,
  deliveriesOf,
  HOUR_MS,
  namesIn,
  receiver,
  runNextAttempt,
  waitForDelivery,
  webhookOf,
} from '../../support/feed/webhooks.ts'
import { callAsOperator } from '../../support/http.ts'
import { eventually } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('a webhook', () => {
  test('only devices and groups of the account can be listed; deleted ones stay listed', async () => {
    const [account, other] = await Promise.all([openAccount(), openAccount()])
    const [mine, theirs] = [
      await createDevice(account, 'Mine'),
      await createDevice(other, 'Theirs'),
    ]
    const url = receiver().url()
    const reply = await account.call('POST', '/api/webhooks', {
      body: { url, devices: [mine, theirs], groups: ['grp_none'] },
    })
    expect([
      reply.status,
      reply.body.errors.map(({ pointer }: { pointer: string }) => pointer),
    ]).toEqual([400, ['/devices/1', '/groups/0']])
    expect((await account.call('GET', '/api/webhooks')).body.webhooks).toEqual([])
    const { webhook } = await createWebhook(account, { url, devices: [mine] })
    await account.call('DELETE', `/api/devices/${mine}`)
    const listed = await webhookOf(account, webhook.id)
    expect(listed.devices).toEqual([mine])
    const edited = await account.call('PUT', `/api/webhooks/${webhook.id}`, {
      body: { ...listed, description: 'Edited' },
    })
    expect([edited.status, edited.body.webhook.devices, edited.body.webhook.description]).toEqual([
      200,
      [mine],
      'Edited',
    ])
  })

  test('an account has at most 50 webhooks', async () => {
    const account = await openAccount()
    const url = receiver().url()
    const replies = await Promise.all(
      Array.from({ length: 55 }, () => account.call('POST', '/api/webhooks', { body: { url } })),
    )
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(50)
    expect(replies.find(({ status }) => status === 409)?.body.code).toBe('webhook-cap-reached')
  })

  test('a disabled webhook is not called; enabled again, it gets later events only', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url() })
    const enable = (enabled: boolean) =>
      account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { enabled } })
    await createDevice(account, 'First')
    await target.waitForCalls(1)
    await enable(false)
    await createDevice(account, 'Missed')
    await enable(true)
    await createDevice(account, 'Second')
    await target.waitForCalls(2)
    expect(namesIn(await target.calls())).toEqual(['First', 'Second'])
  })

  test('disabling during an attempt that fails abandons the delivery', async () => {
    const account = await openAccount()
    const [held, healthy] = [receiver(), receiver()]
    const { webhook } = await createWebhook(account, { url: held.url('held') })
    await createDevice(account, 'Before')
    await held.waitForCalls(1)
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { enabled: false } })
    await eventually(async () =>
      expect(await deliveriesOf(account, webhook.id)).toMatchObject([{ status: 'failed' }]),
    )
    await held.release()
    expect(await waitForDelivery(account, webhook.id, {})).toMatchObject({
      status: 'failed',
      nextAttempt: null,
    })
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, {
      body: { enabled: true, url: healthy.url() },
    })
    await createDevice(account, 'After')
    expect(namesIn(await healthy.waitForCalls(1))).toEqual(['After'])
  })

  test('disabling and enabling between two polls abandons pending deliveries', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url('after-1') })
    await createDevice(account, 'Before')
    await waitForDelivery(account, webhook.id, { status: 'pending', attempts: 1 })
    await env.DB.prepare('UPDATE webhooks SET since = ?, version = version + 2 WHERE id = ?')
      .bind(await headOf(account), webhook.id)
      .run()
    await passTime(account, HOUR_MS)
    await waitForDelivery(account, webhook.id, {
      status: 'failed',
      failure: 'disabled',
      nextAttempt: null,
    })
    expect(
      (await callWithNewToken(account, 'POST', '/api/devices', { name: 'After' })).status,
    ).toBe(201)
    expect(namesIn(await target.waitForCalls(2))).toEqual(['Before', 'After'])
  })

  test('a pending delivery goes to a changed URL; disabling abandons it', async () => {
    const account = await openAccount()
    const [bad, good] = [receiver(), receiver()]
    const { webhook } = await createWebhook(account, { url: bad.url('500') })
    await createDevice(account, 'First')
    await waitForDelivery(account, webhook.id, { status: 'pending', attempts: 1 })
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { url: good.url() } })
    await runNextAttempt(account, webhook.id, { status: 'delivered', attempts: 2 })
    expect(namesIn(await good.calls())).toEqual(['First'])
    vi.useRealTimers()
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { url: bad.url('500') } })
    // Until the feed polls, events may still go to the old URL.
    await runDurableObjectAlarm(feedStub(account))
    await createDevice(account, 'Second')
    await waitForDelivery(account, webhook.id, { status: 'pending', attempts: 1 })
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { enabled: false } })
    await waitForDelivery(account, webhook.id, {
      status: 'failed',
      failure: 'disabled',
      nextAttempt: null,
    })
  })

  test('a deleted webhook is not called, and nothing about it is kept', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url('500') })
    await createDevice(account, 'First')
    await target.waitForCalls(1)
    expect((await account.call('DELETE', `/api/webhooks/${webhook.id}`)).body).toEqual({
      success: true,
    })
    await createDevice(account, 'Second')
    await passTime(account, HOUR_MS)
    expect(await target.calls()).toHaveLength(1)
    const stored = await runInDurableObject(feedStub(account), (_, { storage: { sql } }) =>
      ['secrets', 'webhook_workers', 'deliveries'].flatMap((table) =>
        sql.exec(`SELECT * FROM ${table}`).toArray(),
      ),
    )
    expect(stored).toEqual([])
  })

  test('deliveries of a disabled account wait and continue when it is enabled', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, {
      url: target.url('after-1'),
      events: ['device.*'],
    })
    await createDevice(account, 'First')
    await waitForDelivery(account, webhook.id, { status: 'pending', attempts: 1 })
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: true } })
    await passTime(account, HOUR_MS)
    await passTime(account, HOUR_MS)
    expect(await target.calls()).toHaveLength(1)
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: false } })
    await passTime(account, HOUR_MS)
    expect(namesIn(await target.waitForCalls(2))).toEqual(['First', 'First'])
  })
})

describe('URLs of private networks', () => {
  const privateUrls = [
    'http://example.com/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::ffff:10.0.0.1]/',
    'https://user:pw@example.com/',
    'https://localhost/',
    'https://db.internal/',
    'https://printer.local/',
    'nonsense',
    '',
  ]

  test.each(privateUrls)('%s cannot be saved', async (url) => {
    const account = await openAccount()
    const { webhook } = await createWebhook(account, { url: receiver().url() })
    for (const [method, path, body] of [
      ['POST', '/api/webhooks', { url }],
      ['PUT', `/api/webhooks/${webhook.id}`, { url }],
      ['PATCH', `/api/webhooks/${webhook.id}`, { url }],
    ] as const) {
      const reply = await account.call(method, path, { body })
      expect([reply.status, reply.body.errors?.[0]?.pointer], method).toEqual([400, '/url'])
    }
    expect(await webhookOf(account, webhook.id)).toMatchObject({ url: webhook.url })
  })

  test('a URL that is in the database all the same is not called', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url() })
    for (const url of [
      'https://127.0.0.1/',
      'http://receiver.example/x/ok',
      'https://user@receiver.example/x/ok',
    ]) {
      await env.DB.prepare('UPDATE webhooks SET url = ? WHERE id = ?').bind(url, webhook.id).run()
      const { delivery } = (await account.call('POST', `/api/webhooks/${webhook.id}/test`)).body
      expect(delivery).toMatchObject({
        status: 'failed',
        failure: 'refused-url',
        responseCode: null,
      })
    }
    expect(await target.calls()).toEqual([])
  })
})
