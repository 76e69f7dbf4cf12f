import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { event as anyEvent } from '../../src/events/catalogue.ts'
import type { AccountFeed } from '../../src/feed/feed.ts'
import { noteDisabled } from '../../src/feed/notices.ts'
import { none } from '../../src/notify/none.ts'
import { sweep } from '../../src/sweep/sweep.ts'
import {
  fetchToken,
  fetchTokenWithScopes,
  openAccount,
  type TestAccount,
} from '../support/accounts.ts'
import { createDevice } from '../support/devices.ts'
import { callAsOperator } from '../support/http.ts'
import { waitUntilSent } from '../support/messages.ts'
import { eventually } from '../support/time.ts'
import {
  createWebhook,
  feedStub,
  from,
  headOf,
  logUnheard,
  passTime,
  receiver,
} from './eventSupport.ts'

afterEach(() => {
  vi.useRealTimers()
})

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

interface Delivery {
  id: string
  status: string
  attempts: number
  attemptsByHand: number
  responseCode: number | null
  failure: string | null
  durationMs: number
  answer: string | null
  events: number
  firstSequence: number | null
  lastAttempt: string | null
  nextAttempt: string | null
}

/** A token that holds whatever the clock says. */
const asked = async (account: TestAccount, method: string, path: string, body?: object) =>
  account.call(method, path, {
    token: await fetchToken(account.userName, account.apiKey),
    ...(body && { body }),
  })

const deliveriesOf = async (account: TestAccount, id: string): Promise<Delivery[]> =>
  (await asked(account, 'GET', `/api/webhooks/${id}/deliveries`)).body.deliveries

const webhookOf = async (account: TestAccount, id: string) =>
  (await asked(account, 'GET', `/api/webhooks/${id}`)).body.webhook

/** Once the newest delivery is as it should be, and no attempt of it is under way. */
const settledAs = (account: TestAccount, id: string, expected: Partial<Delivery>) =>
  eventually(async () => {
    const [newest] = await deliveriesOf(account, id)
    expect(newest).toMatchObject({ durationMs: expect.any(Number), ...expected })
    return newest as Delivery
  })

/** Goes to when the next attempt is due, and lets it be made. */
const nextAttempt = async (account: TestAccount, id: string, expected: Partial<Delivery>) => {
  const [newest] = await deliveriesOf(account, id)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(newest?.nextAttempt ?? '') + 1 })
  await runDurableObjectAlarm(feedStub(account))
  return settledAs(account, id, expected)
}

const namesIn = (calls: { events: { data: { name: string } }[] }[]) =>
  calls.flatMap(({ events }) => events.map(({ data }) => data.name))

describe('what is brought', () => {
  test('is what happened, in the envelope of the log, signed so that the scheme’s own library verifies it', async () => {
    const account = await openAccount()
    const at = receiver()
    const { secret, webhook } = await createWebhook(account, { url: at.url() })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    await createDevice(account, 'Tern')
    const [call] = await at.called(1)
    if (!call) throw new Error('no call')
    const verified = new Webhook(secret).verify(call.body, call.headers) as { events: unknown[] }
    expect(verified.events).toEqual(
      (await account.call('GET', '/api/events?types=device.*')).body.events,
    )
    expect(call.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Perigee-Webhooks/1',
    })
    const [delivery] = await deliveriesOf(account, webhook.id)
    expect(delivery).toMatchObject({
      id: call.headers['webhook-id'],
      status: 'delivered',
      attempts: 1,
      responseCode: 200,
      answer: 'thank you',
      failure: null,
    })
    expect(() => new Webhook(secret).verify(`${call.body} `, call.headers)).toThrow()
    expect(() =>
      new Webhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw').verify(call.body, call.headers),
    ).toThrow()
  })

  test('comes in sequence and in batches, however slow the receiver and fast the events', async () => {
    const account = await openAccount()
    const at = receiver()
    const begin = await headOf(account)
    await createWebhook(account, { url: at.url('slow-50') })
    await logUnheard(account, 349)
    await createDevice(account, 'Last')
    await eventually(async () =>
      expect((await at.calls()).flatMap(({ events }) => events)).toHaveLength(350),
    )
    const calls = await at.calls()
    expect(calls.flatMap(({ events }) => events.map(({ sequence }) => sequence))).toEqual(
      from(begin + 1, begin + 350),
    )
    expect(Math.max(...calls.map(({ events }) => events.length))).toBe(100)
    expect(calls.length).toBeLessThan(10)
  })

  test('while a hundred devices are created at once: each once, in sequence, one call at a time', async () => {
    const account = await openAccount({ licenses: 200 })
    const at = receiver()
    const begin = await headOf(account)
    await createWebhook(account, { url: at.url('slow-20'), events: ['device.created'] })
    await Promise.all(Array.from({ length: 100 }, (_, n) => createDevice(account, `Tern ${n}`)))
    await eventually(async () =>
      expect((await at.calls()).flatMap(({ events }) => events)).toHaveLength(100),
    )
    const calls = await at.calls()
    expect(calls.flatMap(({ events }) => events.map(({ sequence }) => sequence))).toEqual(
      from(begin + 1, begin + 100),
    )
    for (const [n, { at: time }] of calls.entries())
      if (n > 0) expect(time - (calls[n - 1]?.at ?? 0)).toBeGreaterThanOrEqual(100)
  })

  test('is what the webhook asks for: types with wildcards, devices, groups', async () => {
    const account = await openAccount()
    const [a, b] = [await createDevice(account, 'A'), await createDevice(account, 'B')]
    const group = (
      await account.call('POST', '/api/groups', { body: { name: 'North', devices: [b] } })
    ).body.id
    const wanted = {
      kinds: { events: ['key.*', 'device.deleted'] },
      device: { devices: [a] },
      group: { groups: [group], events: ['device.*'] },
      either: { devices: [a], groups: [group] },
    }
    const at = Object.fromEntries(Object.keys(wanted).map((name) => [name, receiver()]))
    for (const [name, filter] of Object.entries(wanted))
      await createWebhook(account, { url: at[name]?.url(), ...filter })
    await account.call('PATCH', `/api/devices/${a}`, { body: { description: 'x' } })
    await account.call('PATCH', `/api/devices/${b}`, { body: { description: 'x' } })
    await account.call('DELETE', `/api/devices/${b}`)
    await account.call('POST', '/api/account/keys', { body: { name: 'K', scopes: ['read'] } })
    const expected = {
      kinds: ['device.deleted B', 'key.created K'],
      device: ['device.updated A'],
      group: ['device.updated B', 'device.deleted B'],
      either: ['device.updated A', 'device.updated B', 'device.deleted B'],
    }
    for (const [name, told] of Object.entries(expected)) {
      await eventually(async () => {
        const events = (await at[name]?.calls())?.flatMap((call) => call.events) ?? []
        expect(
          events.map(({ type, data }) => `${type} ${data.name}`),
          name,
        ).toEqual(told)
      })
    }
  })

  test('is every kind of event there is, as the catalogue has it', async () => {
    const account = await openAccount({ licenses: 1 })
    const at = receiver()
    await createWebhook(account, { url: at.url() })
    await account.call('POST', '/api/users', {
      body: { name: 'Ana', email: 'ana@example.com', country: 'PT', timeZone: 'UTC' },
    })
    const device = await createDevice(account, 'Tern')
    const path = `/api/devices/${device}`
    await account.call('PATCH', path, { body: { limits: { dailyEmailLimit: 1 } } })
    await account.call('POST', `${path}/locations`, {
      body: { dateTime: '2026-11-14T09:00:00Z', latitude: 1, longitude: 2, source: 'gnss' },
    })
    const { alert } = (
      await account.call('POST', `${path}/alerts`, { body: { alertName: 'SOSButton' } })
    ).body
    await account.call('POST', `${path}/alerts`, { body: { alertName: 'SOSButton' } })
    await account.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    // A message is not sent once its device is deleted.
    await waitUntilSent(account)
    await account.call('PATCH', path, {
      body: { limits: { expires: true, expirationDate: '2020-01-01' } },
    })
    await account.call('POST', `${path}/reactivate`)
    await account.call('DELETE', path)
    const { key } = (
      await account.call('POST', '/api/account/keys', { body: { name: 'K', scopes: ['read'] } })
    ).body
    await account.call('DELETE', `/api/account/keys/${key.id}`)
    const kinds = [
      'device.created',
      'device.updated',
      'location.reported',
      'alert.raised',
      'alert.acknowledged',
      'message.sent',
      'message.suppressed',
      'limit.reached',
      'device.expired',
      'device.reactivated',
      'device.deleted',
      'license.exhausted',
      'license.available',
      'key.created',
      'key.revoked',
    ]
    await eventually(async () => {
      const events = (await at.calls()).flatMap((call) => call.events)
      for (const event of events)
        expect(anyEvent.safeParse(event), JSON.stringify(event)).toMatchObject({
          success: true,
          data: event,
        })
      expect([...new Set(events.map(({ type }) => type))].sort()).toEqual(kinds.sort())
      expect(events.map(({ sequence }) => sequence)).toEqual(
        from(events[0]?.sequence, events[0]?.sequence + events.length - 1),
      )
    })
  })
})

describe('a receiver that', () => {
  const failing = async (manner: string) => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url(manner), events: ['device.*'] })
    await createDevice(account, 'First')
    return { account, at, id: webhook.id }
  }

  test('answers 500 is tried again, and what comes later waits its turn', async () => {
    const { account, at, id } = await failing('after-2')
    await settledAs(account, id, {
      status: 'pending',
      attempts: 1,
      responseCode: 503,
      failure: 'status',
      answer: 'not yet',
    })
    await createDevice(account, 'Second')
    await nextAttempt(account, id, { status: 'pending', attempts: 2 })
    await eventually(async () => expect(await at.calls()).toHaveLength(2))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 70_000 })
    await runDurableObjectAlarm(feedStub(account))
    const calls = await at.called(4)
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

  test('fails ten times over three days is passed over, and the next is tried', async () => {
    const { account, at, id } = await failing('500')
    const began = Date.now()
    let last = await settledAs(account, id, { status: 'pending', attempts: 1 })
    for (let attempt = 2; attempt <= 9; attempt++)
      last = await nextAttempt(account, id, { status: 'pending', attempts: attempt })
    const fresh = await asked(account, 'POST', '/api/devices', { name: 'Second' })
    expect(fresh.status).toBe(201)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(last.nextAttempt ?? '') + 1 })
    expect((Date.now() - began) / DAY).toBeGreaterThan(2.7)
    expect((Date.now() - began) / DAY).toBeLessThan(3.4)
    await runDurableObjectAlarm(feedStub(account))
    await settledAs(account, id, { status: 'pending', attempts: 1, events: 1 })
    const [second, first] = await deliveriesOf(account, id)
    expect(first).toMatchObject({
      status: 'failed',
      attempts: 10,
      responseCode: 500,
      nextAttempt: null,
    })
    expect(second?.firstSequence).toBe((first?.firstSequence ?? 0) + 1)
    expect(await at.calls()).toHaveLength(11)
    expect(await webhookOf(account, id)).toMatchObject({ enabled: true, disabledReason: null })
  })

  test('fails for five days is disabled, and the administrators are told by e-mail', async () => {
    const { account, id } = await failing('500')
    const people = {
      administrator: { privileges: ['admin'] },
      reader: {},
      deaf: { privileges: ['admin'], notify: { email: false } },
      gone: { privileges: ['admin'], disabled: true },
    }
    for (const [name, more] of Object.entries(people)) {
      const body = { name, email: `${name}@example.com`, country: 'PT', timeZone: 'UTC', ...more }
      expect((await account.call('POST', '/api/users', { body })).status).toBe(201)
    }
    const began = Date.now()
    const mailed = vi.spyOn(none, 'send')
    await settledAs(account, id, { attempts: 1 })
    for (let day = 1; day <= 4; day++) {
      vi.useFakeTimers({ toFake: ['Date'], now: began + day * DAY })
      await runDurableObjectAlarm(feedStub(account))
      await settledAs(account, id, { attempts: 1 + day })
      expect(await webhookOf(account, id)).toMatchObject({ enabled: true })
    }
    vi.useFakeTimers({ toFake: ['Date'], now: began + 5 * DAY + HOUR })
    await asked(account, 'POST', '/api/devices', { name: 'Later' })
    await runDurableObjectAlarm(feedStub(account))
    await eventually(async () =>
      expect(await webhookOf(account, id)).toMatchObject({
        enabled: false,
        disabledReason: 'failing',
      }),
    )
    const [newest] = await deliveriesOf(account, id)
    expect(newest).toMatchObject({ status: 'failed', nextAttempt: null })

    await eventually(() => expect(mailed).toHaveBeenCalled())
    expect(mailed.mock.calls.map(([, { to, subject, text }]) => [to, subject, text])).toEqual([
      [
        'administrator@example.com',
        'Webhook disabled: receiver.example',
        expect.stringContaining('failed for five days'),
      ],
    ])
    mailed.mockRestore()
  })

  test('answers 410 is disabled at once', async () => {
    const { account, at, id } = await failing('410')
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
    await passTime(account, HOUR)
    expect(await at.calls()).toHaveLength(1)
  })

  test('owes an answer is sent nothing newer before its next attempt', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url('after-1') })
    await createDevice(account, 'First')
    await settledAs(account, webhook.id, { status: 'pending', attempts: 1 })
    await createDevice(account, 'Second')
    await scheduler.wait(300)
    expect(namesIn(await at.calls())).toEqual(['First'])
    const [{ nextAttempt: due }] = (await deliveriesOf(account, webhook.id)) as [Delivery]
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(due ?? '') + 1 })
    await runDurableObjectAlarm(feedStub(account))
    await eventually(async () =>
      expect(namesIn(await at.calls())).toEqual(['First', 'First', 'Second']),
    )
  })

  test('was given up: the e-mail that says so is among the messages for 30 days, for those who may see webhooks', async () => {
    const account = await openAccount()
    const people = {
      name: 'Ana',
      email: 'ana@example.com',
      country: 'PT',
      timeZone: 'UTC',
      privileges: ['admin'],
    }
    expect((await account.call('POST', '/api/users', { body: people })).status).toBe(201)
    const { webhook } = await createWebhook(account, { url: receiver().url('410') })
    const device = await createDevice(account, 'Tern')
    const messagesOf = async (query = '', token = account.token) =>
      (await account.call('GET', `/api/account/messages${query}`, { token })).body.messages
    const [notice] = await eventually(async () => {
      const messages = await messagesOf()
      expect(messages).toHaveLength(1)
      return messages
    })
    expect(notice).toMatchObject({
      alertId: null,
      deviceId: null,
      channel: 'Email',
      to: 'ana@example.com',
      subject: 'Webhook disabled: receiver.example',
      text: expect.stringContaining(`The webhook ${webhook.id} to receiver.example`),
      status: 'sent',
      reason: null,
      provider: 'outbox',
      attempts: 1,
    })
    expect(await messagesOf('?status=sent&channel=Email')).toEqual([notice])
    expect(await messagesOf(`?deviceId=${device}`)).toEqual([])
    expect(await messagesOf('', await fetchTokenWithScopes(account, ['read']))).toEqual([])
    expect((await account.call('POST', `/api/account/messages/${notice.id}/retry`)).status).toBe(
      404,
    )
    await sweep(env, Date.now() + 29 * DAY)
    expect(await messagesOf()).toEqual([notice])
    await sweep(env, Date.now() + 31 * DAY)
    expect(await messagesOf()).toEqual([])
  })

  test('answers 301 has failed, and where it points nobody goes', async () => {
    const elsewhere = async () => (await fetch('https://receiver.example/elsewhere')).json()
    const before = await elsewhere()
    const { account, id } = await failing('301')
    await settledAs(account, id, { status: 'pending', responseCode: 301, failure: 'redirect' })
    expect(await elsewhere()).toEqual(before)
  })

  test('answers with 10 MB is heard for a kilobyte', async () => {
    const { account, id } = await failing('big')
    const delivery = await settledAs(account, id, { status: 'delivered', responseCode: 200 })
    expect(delivery.answer).toBe('x'.repeat(1024))
    expect(delivery.durationMs).toBeLessThan(15_000)
  })

  test('hangs has failed after 15 seconds, and holds up nobody else', async () => {
    const { account, id } = await failing('hang')
    const other = receiver()
    await createWebhook(account, { url: other.url(), events: ['device.*'] })
    await createDevice(account, 'Second')
    expect(namesIn(await other.called(1))).toEqual(['Second'])
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

describe('an e-mail about a webhook that was given up', () => {
  const given = async () => {
    const account = await openAccount()
    const administrator = {
      name: 'Ana',
      email: 'ana@example.com',
      country: 'PT',
      timeZone: 'UTC',
      privileges: ['admin'],
    }
    await account.call('POST', '/api/users', { body: administrator })
    const { webhook } = await createWebhook(account, { url: receiver().url(), events: ['key.*'] })
    return { account, webhook }
  }
  const change = (statement: string, id: string) => env.DB.prepare(statement).bind(id).run()
  const giveUp = ({ id }: { id: string }) =>
    change(`UPDATE webhooks SET enabled = 0, disabled_reason = 'gone' WHERE id = ?`, id)
  const note = (account: TestAccount, webhook: { id: string }, now: number) =>
    runInDurableObject(feedStub(account), (_, { storage: { sql } }) =>
      noteDisabled(sql, webhook, 'gone', now),
    )
  const messagesOf = async (account: TestAccount) =>
    (await asked(account, 'GET', '/api/account/messages')).body.messages

  /** How long the feed rests once it has looked; null: until somebody comes. */
  const rest = (account: TestAccount) =>
    runInDurableObject(feedStub(account), async (feed: AccountFeed, { storage }) => {
      await storage.deleteAlarm()
      await feed.alarm()
      const at = await storage.getAlarm()
      return at && at - Date.now()
    })

  test('is not forgone where the feed looks while the webhook is being disabled', async () => {
    const { account, webhook } = await given()
    await note(account, webhook, Date.now())
    await rest(account)
    await giveUp(webhook)
    await passTime(account, MINUTE)
    await eventually(async () => expect(await messagesOf(account)).toHaveLength(1))
  })

  test('is forgone where the webhook was not disabled after all', async () => {
    const { account, webhook } = await given()
    await note(account, webhook, Date.now() - MINUTE)
    await rest(account)
    await eventually(async () => {
      const notices = await runInDurableObject(feedStub(account), (_, { storage: { sql } }) =>
        sql.exec('SELECT * FROM notices').toArray(),
      )
      expect(notices).toEqual([])
    })
    expect(await messagesOf(account)).toEqual([])
  })

  test('that waits does not keep the feed of a disabled or erased account awake', async () => {
    const { account, webhook } = await given()
    await change('UPDATE accounts SET disabled = 1 WHERE id = ?', account.id)
    await note(account, webhook, Date.now() - MINUTE)
    expect(await rest(account)).toBeGreaterThan(4 * MINUTE)
    await change('DELETE FROM accounts WHERE id = ?', account.id)
    expect(await rest(account)).toBeNull()
  })

  test('that a provider is slow to take does not keep the feed awake', async () => {
    const { account, webhook } = await given()
    await giveUp(webhook)
    let taken = false
    const send = none.send
    const slow = vi.spyOn(none, 'send').mockImplementation(async (...mail) => {
      await eventually(() => expect(taken).toBe(true))
      return send(...mail)
    })
    await note(account, webhook, Date.now() - MINUTE)
    try {
      await rest(account)
      await eventually(() => expect(slow).toHaveBeenCalled())
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + MINUTE })
      expect(await rest(account)).toBeGreaterThan(15_000)
    } finally {
      taken = true
    }
    await eventually(async () => expect(await messagesOf(account)).toHaveLength(1))
    slow.mockRestore()
  })
})

describe('no way into a private network', () => {
  const refused = [
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

  test.each(refused)('%s is refused when it is saved', async (url) => {
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

  test('what got into the database all the same is not called', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url() })
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
    expect(await at.calls()).toEqual([])
  })
})

describe('by hand', () => {
  test('a test is one signed event that is not in the log, whether or not the webhook is enabled', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook, secret } = await createWebhook(account, { url: at.url(), enabled: false })
    const head = await headOf(account)
    const reply = await account.call('POST', `/api/webhooks/${webhook.id}/test`)
    expect(reply.body.delivery).toMatchObject({
      status: 'delivered',
      responseCode: 200,
      answer: 'thank you',
      firstSequence: null,
    })
    const [call] = await at.calls()
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

  test('a delivery is made again, with the same id and the same events', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url() })
    await createDevice(account, 'Tern')
    const [first] = await at.called(1)
    const { id } = await settledAs(account, webhook.id, { status: 'delivered' })
    const reply = await account.call(
      'POST',
      `/api/webhooks/${webhook.id}/deliveries/${id}/redeliver`,
    )
    expect(reply.body.delivery).toMatchObject({ id, status: 'delivered', attempts: 2 })
    const [, second] = await at.called(2)
    expect(second?.events).toEqual(first?.events)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  })

  test('what got through stays delivered, though it fails when it is made again', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url() })
    await createDevice(account, 'Tern')
    const { id } = await settledAs(account, webhook.id, { status: 'delivered' })
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { url: at.url('500') } })
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

  test('one that waits is done with when it succeeds, and the next follows', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url('after-1') })
    await createDevice(account, 'First')
    const { id } = await settledAs(account, webhook.id, { status: 'pending', attempts: 1 })
    await createDevice(account, 'Second')
    const reply = await account.call(
      'POST',
      `/api/webhooks/${webhook.id}/deliveries/${id}/redeliver`,
    )
    expect(reply.body.delivery).toMatchObject({ id, status: 'delivered', nextAttempt: null })
    await eventually(async () =>
      expect(namesIn(await at.calls())).toEqual(['First', 'First', 'Second']),
    )
  })

  test('what somebody asks for uses up none of the attempts that come by themselves', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url('500') })
    await createDevice(account, 'Tern')
    const { id, nextAttempt: due } = await settledAs(account, webhook.id, {
      attempts: 1,
      attemptsByHand: 0,
      responseCode: 500,
    })
    for (let times = 0; times < 9; times++)
      await account.call('POST', `/api/webhooks/${webhook.id}/deliveries/${id}/redeliver`)
    await settledAs(account, webhook.id, {
      status: 'pending',
      attempts: 10,
      attemptsByHand: 9,
      nextAttempt: due,
    })
    await nextAttempt(account, webhook.id, { attempts: 11, attemptsByHand: 9 })
    await eventually(async () => {
      const [{ status, lastAttempt, nextAttempt }] = (await deliveriesOf(account, webhook.id)) as [
        Delivery,
      ]
      const wait = Date.parse(nextAttempt ?? '') - Date.parse(lastAttempt ?? '')
      // While the call is out it is a minute to the millisecond; the wait after the second attempt is about one.
      expect([status, wait === MINUTE, Math.round(wait / MINUTE)]).toEqual(['pending', false, 1])
    })
  })

  test('a success ends the days of failing', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url('after-1') })
    await createDevice(account, 'First')
    const { id } = await settledAs(account, webhook.id, { attempts: 1, responseCode: 503 })
    const failingSince = () =>
      runInDurableObject(
        feedStub(account),
        (_, { storage: { sql } }) =>
          sql.exec('SELECT failing_since FROM couriers').one().failing_since,
      )
    expect(await failingSince()).not.toBeNull()
    await account.call('POST', `/api/webhooks/${webhook.id}/deliveries/${id}/redeliver`)
    expect(await failingSince()).toBeNull()
  })

  test('one whose events are no longer kept is refused', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url() })
    await createDevice(account, 'Tern')
    const { id } = await settledAs(account, webhook.id, { status: 'delivered' })
    await env.DB.prepare('DELETE FROM events WHERE account_id = ?').bind(account.id).run()
    const reply = await account.call(
      'POST',
      `/api/webhooks/${webhook.id}/deliveries/${id}/redeliver`,
    )
    expect([reply.status, reply.body.code]).toEqual([409, 'delivery-gone'])
  })

  test('deliveries are listed newest first, in pages, and the last thousand are kept', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url() })
    await runInDurableObject(feedStub(account), (_, { storage: { sql } }) => {
      for (let n = 0; n < 1100; n++)
        sql.exec(
          `INSERT INTO deliveries (id, webhook_id, sequences, status, creation) VALUES (?, ?, '[1]', 'delivered', ?)`,
          `dlv_${n}`,
          webhook.id,
          Date.now(),
        )
    })
    await createDevice(account, 'Tern')
    await at.called(1)
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = `?limit=300${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
      const { body } = await account.call('GET', `/api/webhooks/${webhook.id}/deliveries${query}`)
      seen.push(...body.deliveries.map(({ id }: Delivery) => id))
      cursor = body.nextCursor
    }
    expect(seen).toHaveLength(1000)
    expect(seen.slice(1, 4)).toEqual(['dlv_1099', 'dlv_1098', 'dlv_1097'])
  })
})

describe('secrets', () => {
  test('rotated: both sign for 24 hours, then the new one alone', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook, secret: old } = await createWebhook(account, { url: at.url() })
    const { body } = await account.call('POST', `/api/webhooks/${webhook.id}/rotate`)
    expect(body.secret).not.toBe(old)
    const verifies = async (secret: string) => {
      await asked(account, 'POST', `/api/webhooks/${webhook.id}/test`)
      const call = (await at.calls()).at(-1)
      try {
        new Webhook(secret).verify(call?.body ?? '', call?.headers ?? {})
        return true
      } catch {
        return false
      }
    }
    expect([await verifies(old), await verifies(body.secret)]).toEqual([true, true])
    expect((await at.calls()).at(-1)?.headers['webhook-signature']?.split(' ')).toHaveLength(2)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(body.previousUntil) - 1000 })
    expect([await verifies(old), await verifies(body.secret)]).toEqual([true, true])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(body.previousUntil) + 1000 })
    expect([await verifies(old), await verifies(body.secret)]).toEqual([false, true])
  })

  test('a rotation that is carried out again after a crash makes no second secret', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook, secret } = await createWebhook(account, { url: at.url() })
    const stub = feedStub(account)
    const [first, again] = [
      await stub.rotate(webhook.id, 'rot_1'),
      await stub.rotate(webhook.id, 'rot_1'),
    ]
    expect(again.secret).toBe(first.secret)
    await account.call('POST', `/api/webhooks/${webhook.id}/test`)
    const [call] = await at.calls()
    for (const live of [secret, first.secret])
      expect(() => new Webhook(live).verify(call?.body ?? '', call?.headers ?? {})).not.toThrow()
  })

  test('lost with the feed’s storage: nothing goes out unsigned, and a rotation mends it', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url() })
    await runInDurableObject(
      feedStub(account),
      (_, { storage: { sql } }) => void sql.exec('DELETE FROM secrets'),
    )
    await account.call('POST', `/api/webhooks/${webhook.id}/test`)
    expect((await at.calls()).at(-1)?.headers['webhook-signature']).toMatch(/^v1,.{44}$/)
    const { secret } = (await account.call('POST', `/api/webhooks/${webhook.id}/rotate`)).body
    await account.call('POST', `/api/webhooks/${webhook.id}/test`)
    const call = (await at.calls()).at(-1)
    expect(() => new Webhook(secret).verify(call?.body ?? '', call?.headers ?? {})).not.toThrow()
  })

  test('no cell holds one, nor does any reply but the one that shows it', async () => {
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
    for (const known of [secret, rotated]) expect(text).not.toContain(known.slice(6))
  })
})

describe('a webhook', () => {
  test('names devices and groups of the account; what is deleted later stays named, and widens nothing', async () => {
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
    const shown = await webhookOf(account, webhook.id)
    expect(shown.devices).toEqual([mine])
    const edited = await account.call('PUT', `/api/webhooks/${webhook.id}`, {
      body: { ...shown, description: 'Edited' },
    })
    expect([edited.status, edited.body.webhook.devices, edited.body.webhook.description]).toEqual([
      200,
      [mine],
      'Edited',
    ])
  })

  test('is one of fifty at the most', async () => {
    const account = await openAccount()
    const url = receiver().url()
    const replies = await Promise.all(
      Array.from({ length: 55 }, () => account.call('POST', '/api/webhooks', { body: { url } })),
    )
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(50)
    expect(replies.find(({ status }) => status === 409)?.body.code).toBe('webhook-cap-reached')
  })

  test('disabled is not called; enabled again, it is told of what happens from then on', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url() })
    const enable = (enabled: boolean) =>
      account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { enabled } })
    await createDevice(account, 'First')
    await at.called(1)
    await enable(false)
    await createDevice(account, 'Unheard')
    await enable(true)
    await createDevice(account, 'Second')
    await at.called(2)
    expect(namesIn(await at.calls())).toEqual(['First', 'Second'])
  })

  test('disabled during an attempt that fails, and enabled again: what the attempt was for is given up', async () => {
    const account = await openAccount()
    const [held, well] = [receiver(), receiver()]
    const { webhook } = await createWebhook(account, { url: held.url('held') })
    await createDevice(account, 'Before')
    await held.called(1)
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { enabled: false } })
    await eventually(async () =>
      expect(await deliveriesOf(account, webhook.id)).toMatchObject([{ status: 'failed' }]),
    )
    await held.release()
    expect(await settledAs(account, webhook.id, {})).toMatchObject({
      status: 'failed',
      nextAttempt: null,
    })
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, {
      body: { enabled: true, url: well.url() },
    })
    await createDevice(account, 'After')
    expect(namesIn(await well.called(1))).toEqual(['After'])
  })

  test('disabled and enabled again before the feed looks: what waits from before is given up', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url('after-1') })
    await createDevice(account, 'Before')
    await settledAs(account, webhook.id, { status: 'pending', attempts: 1 })
    await env.DB.prepare('UPDATE webhooks SET since = ?, version = version + 2 WHERE id = ?')
      .bind(await headOf(account), webhook.id)
      .run()
    await passTime(account, HOUR)
    await settledAs(account, webhook.id, {
      status: 'failed',
      failure: 'disabled',
      nextAttempt: null,
    })
    expect((await asked(account, 'POST', '/api/devices', { name: 'After' })).status).toBe(201)
    expect(namesIn(await at.called(2))).toEqual(['Before', 'After'])
  })

  test('disabled while a delivery waits gives it up; led elsewhere, it is brought there', async () => {
    const account = await openAccount()
    const [bad, good] = [receiver(), receiver()]
    const { webhook } = await createWebhook(account, { url: bad.url('500') })
    await createDevice(account, 'First')
    await settledAs(account, webhook.id, { status: 'pending', attempts: 1 })
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { url: good.url() } })
    await nextAttempt(account, webhook.id, { status: 'delivered', attempts: 2 })
    expect(namesIn(await good.calls())).toEqual(['First'])
    vi.useRealTimers()
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { url: bad.url('500') } })
    // The feed knows of the edit: until it looks, what happens may still be brought where it was.
    await runDurableObjectAlarm(feedStub(account))
    await createDevice(account, 'Second')
    await settledAs(account, webhook.id, { status: 'pending', attempts: 1 })
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { enabled: false } })
    await settledAs(account, webhook.id, {
      status: 'failed',
      failure: 'disabled',
      nextAttempt: null,
    })
  })

  test('deleted is called no more, and nothing is kept of it', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, { url: at.url('500') })
    await createDevice(account, 'First')
    await at.called(1)
    expect((await account.call('DELETE', `/api/webhooks/${webhook.id}`)).body).toEqual({
      success: true,
    })
    await createDevice(account, 'Second')
    await passTime(account, HOUR)
    expect(await at.calls()).toHaveLength(1)
    const kept = await runInDurableObject(feedStub(account), (_, { storage: { sql } }) =>
      ['secrets', 'couriers', 'deliveries'].flatMap((table) =>
        sql.exec(`SELECT * FROM ${table}`).toArray(),
      ),
    )
    expect(kept).toEqual([])
  })

  test('of a disabled account waits, and goes on where it stopped', async () => {
    const account = await openAccount()
    const at = receiver()
    const { webhook } = await createWebhook(account, {
      url: at.url('after-1'),
      events: ['device.*'],
    })
    await createDevice(account, 'First')
    await settledAs(account, webhook.id, { status: 'pending', attempts: 1 })
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: true } })
    await passTime(account, HOUR)
    await passTime(account, HOUR)
    expect(await at.calls()).toHaveLength(1)
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: false } })
    await passTime(account, HOUR)
    expect(namesIn(await at.called(2))).toEqual(['First', 'First'])
  })
})

describe('crashes', () => {
  test('an object lost in the middle of calls and retries leaves no gap in what is brought', async () => {
    const account = await openAccount({ licenses: 100 })
    const at = receiver()
    const begin = await headOf(account)
    const { webhook } = await createWebhook(account, {
      url: at.url('slow-30'),
      events: ['device.created'],
    })
    const storm = Array.from({ length: 30 }, (_, n) => createDevice(account, `Tern ${n}`))
    for (let crash = 0; crash < 4; crash++) {
      await new Promise((resolve) => setTimeout(resolve, 60))
      await runInDurableObject(feedStub(account), (_, state) => state.abort('crash')).catch(
        () => {},
      )
    }
    await Promise.all(storm)
    await eventually(async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
      await runDurableObjectAlarm(feedStub(account))
      const sequences = (await at.calls()).flatMap(({ events }) =>
        events.map(({ sequence }) => sequence),
      )
      expect([...new Set(sequences)]).toEqual(from(begin + 1, begin + 30))
      const statuses = (await deliveriesOf(account, webhook.id)).map(({ status }) => status)
      expect(new Set(statuses)).toEqual(new Set(['delivered']))
    }, 200)
  })

  test('a lost poke loses nothing, and an evicted object is woken by its alarm', async () => {
    const account = await openAccount()
    const at = receiver()
    await createWebhook(account, { url: at.url() })
    await createDevice(account, 'First')
    await at.called(1)
    await evictDurableObject(feedStub(account))
    await logUnheard(account, 2)
    await passTime(account, 6 * MINUTE)
    await at.called(2)
    expect((await at.calls()).flatMap(({ events }) => events)).toHaveLength(3)
  })

  test('an erased account’s feed is forgotten, secrets and all', async () => {
    const account = await openAccount()
    const at = receiver()
    await createWebhook(account, { url: at.url() })
    await createDevice(account, 'First')
    await at.called(1)
    await callAsOperator('DELETE', `/admin/accounts/${account.id}`)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    await sweep(env, Date.now())
    const kept = await runInDurableObject(feedStub(account), async (_, { storage }) => [
      await storage.getAlarm(),
      ...['owner', 'secrets', 'couriers', 'deliveries'].flatMap((table) =>
        storage.sql.exec(`SELECT * FROM ${table}`).toArray(),
      ),
    ])
    expect(kept).toEqual([null])
    const { results } = await env.DB.prepare('SELECT id FROM webhooks WHERE account_id = ?')
      .bind(account.id)
      .all()
    expect(results).toEqual([])
  })
})
