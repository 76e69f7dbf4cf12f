import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { headOf } from '../../support/feed/events.ts'
import { feedStub } from '../../support/feed/feed.ts'
import {
  callWithNewToken,
  createWebhook,
  type Delivery,
  deliveriesOf,
  MINUTE_MS,
  namesIn,
  receiver,
  runNextAttempt,
  waitForDelivery,
} from '../../support/feed/webhooks.ts'
import { eventually } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('manual deliveries', () => {
  test('a test sends one signed event that is not in the log, even if the webhook is disabled', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook, secret } = await createWebhook(account, { url: target.url(), enabled: false })
    const head = await headOf(account)
    const reply = await account.call('POST', `/api/webhooks/${webhook.id}/test`)
    expect(reply.body.delivery).toMatchObject({
      status: 'delivered',
      responseCode: 200,
      answer: 'thank you',
      firstSequence: null,
    })
    const [call] = await target.calls()
    expect(new Webhook(secret).verify(call?.body ?? '', call?.headers ?? {})).toMatchObject({
      events: [
        {
          type: 'webhook.test',
          sequence: 0,
          accountId: account.id,
          data: { webhookId: webhook.id },
        },
      ],
    })
    expect(await headOf(account)).toBe(head)
  })

  test('redelivery sends the same events with the same id', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url() })
    await createDevice(account, 'Tern')
    const [first] = await target.waitForCalls(1)
    const { id } = await waitForDelivery(account, webhook.id, { status: 'delivered' })
    const reply = await account.call(
      'POST',
      `/api/webhooks/${webhook.id}/deliveries/${id}/redeliver`,
    )
    expect(reply.body.delivery).toMatchObject({ id, status: 'delivered', attempts: 2 })
    const [, second] = await target.waitForCalls(2)
    expect(second?.events).toEqual(first?.events)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  })

  test('a delivery that succeeded stays delivered when its redelivery fails', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url() })
    await createDevice(account, 'Tern')
    const { id } = await waitForDelivery(account, webhook.id, { status: 'delivered' })
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { url: target.url('500') } })
    const reply = await account.call(
      'POST',
      `/api/webhooks/${webhook.id}/deliveries/${id}/redeliver`,
    )
    expect(reply.body.delivery).toMatchObject({
      id,
      status: 'delivered',
      attempts: 2,
      responseCode: 500,
      failure: 'status',
      nextAttempt: null,
    })
  })

  test('a redelivery that succeeds ends the retries, and the next events follow', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url('after-1') })
    await createDevice(account, 'First')
    const { id } = await waitForDelivery(account, webhook.id, { status: 'pending', attempts: 1 })
    await createDevice(account, 'Second')
    const reply = await account.call(
      'POST',
      `/api/webhooks/${webhook.id}/deliveries/${id}/redeliver`,
    )
    expect(reply.body.delivery).toMatchObject({ id, status: 'delivered', nextAttempt: null })
    await eventually(async () =>
      expect(namesIn(await target.calls())).toEqual(['First', 'First', 'Second']),
    )
  })

  test('redeliveries do not count towards the scheduled attempts', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url('500') })
    await createDevice(account, 'Tern')
    const { id, nextAttempt: due } = await waitForDelivery(account, webhook.id, {
      attempts: 1,
      attemptsByHand: 0,
      responseCode: 500,
    })
    for (let times = 0; times < 9; times++)
      await account.call('POST', `/api/webhooks/${webhook.id}/deliveries/${id}/redeliver`)
    await waitForDelivery(account, webhook.id, {
      status: 'pending',
      attempts: 10,
      attemptsByHand: 9,
      nextAttempt: due,
    })
    await runNextAttempt(account, webhook.id, { attempts: 11, attemptsByHand: 9 })
    await eventually(async () => {
      const [{ status, lastAttempt, nextAttempt }] = (await deliveriesOf(account, webhook.id)) as [
        Delivery,
      ]
      const delayMs = Date.parse(nextAttempt ?? '') - Date.parse(lastAttempt ?? '')
      // During the call it is exactly a minute, the lease; after the second attempt about one.
      expect([status, delayMs === MINUTE_MS, Math.round(delayMs / MINUTE_MS)]).toEqual([
        'pending',
        false,
        1,
      ])
    })
  })

  test('a redelivery that succeeds resets the time of failing', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url('after-1') })
    await createDevice(account, 'First')
    const { id } = await waitForDelivery(account, webhook.id, { attempts: 1, responseCode: 503 })
    const failingSince = () =>
      runInDurableObject(
        feedStub(account),
        (_, { storage: { sql } }) =>
          sql.exec('SELECT failing_since FROM webhook_workers').one().failing_since,
      )
    expect(await failingSince()).not.toBeNull()
    await account.call('POST', `/api/webhooks/${webhook.id}/deliveries/${id}/redeliver`)
    expect(await failingSince()).toBeNull()
  })

  test('redelivery of events that are no longer stored is refused', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url() })
    await createDevice(account, 'Tern')
    const { id } = await waitForDelivery(account, webhook.id, { status: 'delivered' })
    await env.DB.prepare('DELETE FROM events WHERE account_id = ?').bind(account.id).run()
    const reply = await account.call(
      'POST',
      `/api/webhooks/${webhook.id}/deliveries/${id}/redeliver`,
    )
    expect([reply.status, reply.body.code]).toEqual([409, 'delivery-gone'])
  })

  test('deliveries are listed newest first in pages, and the last thousand are kept', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url() })
    await runInDurableObject(feedStub(account), (_, { storage: { sql } }) => {
      for (let n = 0; n < 1100; n++)
        sql.exec(
          `INSERT INTO deliveries (id, webhook_id, sequences, status, creation)
           VALUES (?, ?, '[1]', 'delivered', ?)`,
          `dlv_${n}`,
          webhook.id,
          Date.now(),
        )
    })
    await createDevice(account, 'Tern')
    await target.waitForCalls(1)
    const listed: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = `?limit=300${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
      const { body } = await account.call('GET', `/api/webhooks/${webhook.id}/deliveries${query}`)
      listed.push(...body.deliveries.map(({ id }: Delivery) => id))
      cursor = body.nextCursor
    }
    expect(listed).toHaveLength(1000)
    expect(listed.slice(1, 4)).toEqual(['dlv_1099', 'dlv_1098', 'dlv_1097'])
  })
})

describe('secrets', () => {
  test('after a rotation both secrets sign for 24 hours, then only the new one', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook, secret: old } = await createWebhook(account, { url: target.url() })
    const { body } = await account.call('POST', `/api/webhooks/${webhook.id}/rotate`)
    expect(body.secret).not.toBe(old)
    const verifies = async (secret: string) => {
      await callWithNewToken(account, 'POST', `/api/webhooks/${webhook.id}/test`)
      const call = (await target.calls()).at(-1)
      try {
        new Webhook(secret).verify(call?.body ?? '', call?.headers ?? {})
        return true
      } catch {
        return false
      }
    }
    expect([await verifies(old), await verifies(body.secret)]).toEqual([true, true])
    expect((await target.calls()).at(-1)?.headers['webhook-signature']?.split(' ')).toHaveLength(2)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(body.previousUntil) - 1000 })
    expect([await verifies(old), await verifies(body.secret)]).toEqual([true, true])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(body.previousUntil) + 1000 })
    expect([await verifies(old), await verifies(body.secret)]).toEqual([false, true])
  })

  test('a rotation that is repeated after a crash creates no second secret', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook, secret } = await createWebhook(account, { url: target.url() })
    const stub = feedStub(account)
    const [first, again] = [
      await stub.rotateSecret(webhook.id, 'rot_1'),
      await stub.rotateSecret(webhook.id, 'rot_1'),
    ]
    expect(again.secret).toBe(first.secret)
    await account.call('POST', `/api/webhooks/${webhook.id}/test`)
    const [call] = await target.calls()
    for (const active of [secret, first.secret])
      expect(() => new Webhook(active).verify(call?.body ?? '', call?.headers ?? {})).not.toThrow()
  })

  test('if the secrets are lost, calls are still signed, and a rotation repairs the webhook', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, { url: target.url() })
    await runInDurableObject(
      feedStub(account),
      (_, { storage: { sql } }) => void sql.exec('DELETE FROM secrets'),
    )
    await account.call('POST', `/api/webhooks/${webhook.id}/test`)
    expect((await target.calls()).at(-1)?.headers['webhook-signature']).toMatch(/^v1,.{44}$/)
    const { secret } = (await account.call('POST', `/api/webhooks/${webhook.id}/rotate`)).body
    await account.call('POST', `/api/webhooks/${webhook.id}/test`)
    const call = (await target.calls()).at(-1)
    expect(() => new Webhook(secret).verify(call?.body ?? '', call?.headers ?? {})).not.toThrow()
  })

  test('a secret is in no cell, and in no reply but the one that shows it', async () => {
    const account = await openAccount()
    const { webhook, secret } = await createWebhook(account, { url: receiver().url() })
    const rotated = (
      await account.call('POST', `/api/webhooks/${webhook.id}/rotate`, {
        headers: { 'Idempotency-Key': 'r' },
      })
    ).body.secret
    const replayed = await account.call('POST', `/api/webhooks/${webhook.id}/rotate`, {
      headers: { 'Idempotency-Key': 'r' },
    })
    expect(replayed.body.secret).toBeNull()
    const { results } = await env.DB.prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'`,
    ).all<{ name: string }>()
    const rows = await env.DB.batch(
      results.map(({ name }) => env.DB.prepare(`SELECT * FROM "${name}"`)),
    )
    const replies = [
      await account.call('GET', '/api/webhooks'),
      await account.call('GET', `/api/webhooks/${webhook.id}`),
    ]
    const text =
      JSON.stringify(rows.map((row) => row.results)) + replies.map((reply) => reply.text).join('')
    expect(text).toContain(webhook.id)
    for (const shown of [secret, rotated]) expect(text).not.toContain(shown.slice(6))
  })
})
