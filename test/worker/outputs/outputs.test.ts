import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readToken } from '../../../src/feed/outputs/tokens.ts'
import { openAccount, openSandbox, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { feedStub, passTime } from '../../support/feed/feed.ts'
import {
  callWithNewToken,
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  receiver,
  runNextAttempt,
  waitForDelivery,
  webhookOf,
} from '../../support/feed/webhooks.ts'
import type { ReceivedCall } from '../../support/run/receivers.ts'
import { eventually, iso } from '../../support/time.ts'

let account: TestAccount
let device: string

beforeEach(async () => {
  account = await openAccount()
  device = await createDevice(account, {
    name: 'Tern <7>',
    identifier: `30043${crypto.randomUUID()}`,
    maxSpeed: 0,
    tags: { callSign: 'CSAB7' },
  })
})

afterEach(() => {
  vi.useRealTimers()
})

const create = async (url: string, format: string, settings: object = {}) => {
  const body = { url, format, settings, events: ['location.*', 'alert.*'] }
  const reply = await account.call('POST', '/api/webhooks', { body })
  expect(reply.status, reply.text).toBe(201)
  return reply.body.webhook
}

const report = (latitude: number, secondsAgo = 0) =>
  account.call('POST', `/api/devices/${device}/locations`, {
    body: {
      locations: [
        { dateTime: iso(Date.now() - secondsAgo * 1000), latitude, longitude: -9.5, speed: 36 },
      ],
    },
  })
const raise = (text: string, of = device) =>
  callWithNewToken(account, 'POST', `/api/devices/${of}/alerts`, {
    alertName: 'SOSButton',
    text,
    latitude: 38.5,
    longitude: -9.5,
  })
const otherDevice = async (): Promise<string> => {
  const name = crypto.randomUUID()
  const { body } = await callWithNewToken(account, 'POST', '/api/devices', { name, maxSpeed: 0 })
  return body.device.id
}
const failingSince = (laneId: string) =>
  runInDurableObject(
    feedStub(account),
    (_, { storage: { sql } }) =>
      sql.exec('SELECT failing_since FROM webhook_workers WHERE webhook_id = ?', laneId).one()
        .failing_since,
  )

const inboxOf = async (url: string): Promise<ReceivedCall[]> =>
  (await fetch(url.split('/').slice(0, -1).join('/'))).json()
const waitFor = (url: string, isMet: (calls: ReceivedCall[]) => boolean) =>
  eventually(async () => {
    const calls = await inboxOf(url)
    expect(isMet(calls)).toBe(true)
    return calls
  })

describe('an output', () => {
  test.each([
    { format: 'cot', type: 'application/xml', part: 'lat="38.25" lon="-9.5"' },
    { format: 'earthranger', type: 'application/json', part: '{"lat":38.25,"lon":-9.5}' },
    { format: 'gundi', type: 'application/json', part: '"source_name":"Tern <7>"' },
    { format: 'naf', type: 'text/plain', part: '//RC/CSAB7//NA/Tern <7>//LT/+38.250//LG/-009.500' },
    { format: 'traccar', type: 'application/json', part: '"latitude":38.25' },
  ])('sends $format with its token, which nobody sees', async ({ format, type, part }) => {
    const url = receiver().url()
    const webhook = await create(url, format, { token: 'very-secret' })
    expect(webhook.settings.token).toBeNull()
    await report(38.25)
    const [call] = await waitFor(url, (calls) => calls.length > 0)
    expect(call?.body).toContain(part)
    expect(call?.headers['content-type']).toContain(type)
    expect(call?.headers[format === 'gundi' ? 'apikey' : 'authorization']).toContain('very-secret')
    const stored = await env.DB.prepare('SELECT * FROM webhooks WHERE id = ?')
      .bind(webhook.id)
      .first()
    expect(JSON.stringify(stored)).not.toContain('very-secret')
    const read = await account.call('GET', `/api/webhooks/${webhook.id}`)
    expect(read.text).not.toContain('very-secret')
  })

  test('loses its token when it is sent to another host', async () => {
    const webhook = await create(receiver().url(), 'cot', { token: 'very-secret' })
    const url = receiver().url().replace('receiver.example', 'other.receiver.example')
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { url } })
    const back = receiver().url()
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { url: back } })
    await report(38.25)
    const [call] = await waitFor(back, (calls) => calls.length > 0)
    expect(call?.headers.authorization).toBeUndefined()
  })

  test('of a sandbox sends no reports to authorities', async () => {
    account = await openSandbox()
    const url = receiver().url()
    const { id } = await create(url, 'naf')
    const { body } = await account.call('POST', `/api/webhooks/${id}/test`)
    expect(body.delivery.answer).toBe('Not sent: the account is a sandbox.')
    expect(await inboxOf(url)).toEqual([])
  })

  test.each([
    ['mqtt', 'https://receiver.example/', '/url'],
    ['cot', 'wss://receiver.example/', '/url'],
    ['mqtt', 'ws://receiver.example/', '/url'],
    ['mqtt', 'wss://10.0.0.1/', '/url'],
    ['mqtt', 'wss://broker.internal/', '/url'],
    ['mqtt', 'wss://user:word@receiver.example/', '/url'],
  ])('refuses %s to %s', async (format, url, pointer) => {
    const reply = await account.call('POST', '/api/webhooks', { body: { url, format } })
    expect([reply.status, reply.body.errors?.[0]?.pointer]).toEqual([400, pointer])
  })

  test.each(['fleet/#', 'fleet/+/x', '$SYS/x', 'fleet\u0000', ''])(
    'refuses the topic %j',
    async (topic) => {
      const body = { url: 'wss://receiver.example/', format: 'mqtt', settings: { topic } }
      const reply = await account.call('POST', '/api/webhooks', { body })
      expect([reply.status, reply.body.errors?.[0]?.pointer]).toEqual([400, '/settings/topic'])
    },
  )

  test('refuses settings of another format', async () => {
    const body = { url: receiver().url(), format: 'cot', settings: { to: 'XNE' } }
    const reply = await account.call('POST', '/api/webhooks', { body })
    expect([reply.status, reply.body.errors?.[0]?.pointer]).toEqual([400, '/settings/to'])
  })

  test.each(['cot', 'mqtt'])(
    'moves an emergency in %s to where it is raised again',
    async (format) => {
      const url = receiver().url(format === 'mqtt' ? 'broker' : '')
      await create(format === 'mqtt' ? url.replace('https:', 'wss:') : url, format)
      const press = (place: object) =>
        account.call('POST', `/api/devices/${device}/alerts`, {
          body: { alertName: 'SOSButton', ...place },
        })
      const first = await press({})
      expect(first.body.alert.latitude).toBeNull()
      const second = await press({ latitude: 38.75, longitude: -9.25 })
      expect(second.body.alert.id).toBe(first.body.alert.id)
      const part = format === 'mqtt' ? '38.75' : '-9-1-1" type="b-a-o-tbl"'
      const calls = await waitFor(url, (all) => all.some(({ body }) => body.includes(part)))
      expect(calls.filter(({ body }) => body.includes('38.75'))).toHaveLength(1)
      const { events } = (await account.call('GET', '/api/events?types=alert.updated')).body
      expect(events.map(({ data }: { data: object }) => data)).toMatchObject([
        { alertId: first.body.alert.id, emergency: true, latitude: 38.75, longitude: -9.25 },
      ])
    },
  )

  test('repeats an alert that was pending in another format', async () => {
    const failing = receiver().url('500')
    const { id } = await create(failing, 'json')
    await raise('urgent')
    await waitFor(failing, (calls) => calls.length > 0)
    const url = receiver().url('422')
    await account.call('PATCH', `/api/webhooks/${id}`, { body: { url, format: 'traccar' } })
    await passTime(account, HOUR_MS)
    await waitFor(url, (calls) => calls.some(({ body }) => body.includes('urgent')))
    await eventually(async () => {
      const { body } = await callWithNewToken(account, 'GET', `/api/webhooks/${id}/deliveries`)
      // The event that nobody was notified came with it, so both have deliveries of their own.
      expect(body.deliveries).toContainEqual(
        expect.objectContaining({ events: 1, responseCode: 422, nextAttempt: expect.any(String) }),
      )
    })
  })

  test('an alert that always fails holds back no later one', async () => {
    const url = receiver().url('break-poison')
    await create(url, 'cot')
    await raise('poison')
    await waitFor(url, (calls) => calls.some(({ body }) => body.includes('poison')))
    await account.call('POST', `/api/devices/${await createDevice(account, 'Gull')}/alerts`, {
      body: { alertName: 'SOSButton', text: 'second', latitude: 1, longitude: 2 },
    })
    await waitFor(url, (calls) => calls.some(({ body }) => body.includes('second')))
  })

  test.each([400, 422])('an alert that is refused with %i is repeated', async (status) => {
    const url = receiver().url(String(status))
    const { id } = await create(url, 'cot')
    await raise('urgent')
    await waitFor(url, (calls) => calls.some(({ body }) => body.includes('urgent')))
    await eventually(async () => {
      const { deliveries } = (await account.call('GET', `/api/webhooks/${id}/deliveries`)).body
      expect(deliveries).toMatchObject([{ responseCode: status, nextAttempt: expect.any(String) }])
    })
  })

  test('an alert does not wait behind locations that fail', async () => {
    const url = receiver().url('break-38.111')
    await create(url, 'traccar')
    await report(38.111)
    await waitFor(url, (calls) => calls.length > 0)
    await raise('urgent')
    await waitFor(url, (calls) => calls.some(({ body }) => body.includes('urgent')))
  })

  test('a record that is refused is not repeated, and the others arrive', async () => {
    const url = receiver().url('refuse-38.111')
    const { id } = await create(url, 'gundi')
    await Promise.all([report(38.111, 20), report(38.222, 10)])
    await report(38.333)
    await waitFor(url, (calls) =>
      ['38.222', '38.333'].every((part) =>
        calls.some(({ body }) => body.includes(part) && !body.includes('38.111')),
      ),
    )
    const { deliveries } = (await account.call('GET', `/api/webhooks/${id}/deliveries`)).body
    expect(deliveries.map(({ nextAttempt }: { nextAttempt: string }) => nextAttempt)).not.toContain(
      expect.any(String),
    )
  })
})

describe('the token of an output', () => {
  test('stays after an edit that is refused', async () => {
    const url = receiver().url()
    const { id } = await create(url, 'cot', { token: 'very-secret' })
    const body = { settings: { token: 'another' }, devices: ['dev_none'] }
    const reply = await account.call('PATCH', `/api/webhooks/${id}`, { body })
    expect(reply.status, reply.text).toBe(400)
    await report(38.25)
    const [call] = await waitFor(url, (calls) => calls.length > 0)
    expect(call?.headers.authorization).toBe('Bearer very-secret')
  })

  test('is for one format and one host', async () => {
    const webhook = await create(receiver().url(), 'cot', { token: 'very-secret' })
    const url = 'https://other.receiver.example/'
    const body = { url, settings: { token: 'another' } }
    const reply = await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body })
    expect(reply.status, reply.text).toBe(200)
    const tokens = await runInDurableObject(feedStub(account), (_, { storage: { sql } }) =>
      [webhook, { ...webhook, url }, { ...webhook, url, format: 'gundi' }].map((of) =>
        readToken(sql, of),
      ),
    )
    expect(tokens).toEqual([null, 'another', null])
  })
})

describe('an alert that fails', () => {
  test('is repeated every half hour for three days', async () => {
    const { id } = await create(receiver().url('500'), 'cot')
    await raise('help')
    const startedAt = Date.now()
    await waitForDelivery(account, id, { status: 'pending', attempts: 1 })
    let last = await runNextAttempt(account, id, { attempts: 2 })
    for (let attempts = 3; attempts <= 11; attempts++)
      last = await runNextAttempt(account, id, { status: 'pending', attempts })
    const delayMs = Date.parse(last.nextAttempt ?? '') - Date.parse(last.lastAttempt ?? '')
    expect(Math.round(delayMs / MINUTE_MS)).toBe(30)
    await passTime(account, startedAt + 3 * DAY_MS + HOUR_MS - Date.now())
    await waitForDelivery(account, id, { status: 'failed', attempts: 12, nextAttempt: null })
  })

  test('and was given up does not disable the webhook with the next failure', async () => {
    const { id } = await create(receiver().url('500'), 'cot')
    await raise('first')
    await waitForDelivery(account, id, { status: 'pending', attempts: 1 })
    await passTime(account, 3 * DAY_MS + HOUR_MS)
    await waitForDelivery(account, id, { status: 'failed', attempts: 2 })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * DAY_MS })
    await raise('second', await otherDevice())
    await runDurableObjectAlarm(feedStub(account))
    await waitForDelivery(account, id, { status: 'pending', attempts: 1 })
    expect(await webhookOf(account, id)).toMatchObject({ enabled: true })
  })

  test('is reported to the operator, while it is pending', async () => {
    const { id } = await create(receiver().url('500'), 'cot')
    const reported = async () =>
      (
        await env.DB.prepare("SELECT * FROM backlogs WHERE kind = 'webhook' AND account_id = ?")
          .bind(account.id)
          .all()
      ).results
    await raise('help')
    await waitForDelivery(account, id, { status: 'pending', attempts: 1 })
    await passTime(account, HOUR_MS)
    await eventually(async () => expect(JSON.stringify(await reported())).toContain(`"${id}"`))
  })

  test('is no longer failing after a redelivery', async () => {
    const { id } = await create(receiver().url('after-1'), 'cot')
    await raise('help')
    const delivery = await waitForDelivery(account, id, { status: 'pending', attempts: 1 })
    expect(await failingSince(`${id}:emergencies`)).not.toBeNull()
    await account.call('POST', `/api/webhooks/${id}/deliveries/${delivery.id}/redeliver`)
    expect(await failingSince(`${id}:emergencies`)).toBeNull()
  })
})

test('another format repeats no alerts', async () => {
  const url = receiver().url()
  const { id } = await create(url, 'json')
  const setFormat = (format: string) =>
    account.call('PATCH', `/api/webhooks/${id}`, { body: { format } })
  const countOf = (calls: ReceivedCall[], text: string) =>
    calls.filter(({ body }) => body.includes(text)).length
  const texts = ['alert-1', 'alert-2', 'alert-3', 'alert-4']
  for (const [index, format] of ['json', 'cot', 'json', 'cot'].entries()) {
    expect((await setFormat(format)).status).toBe(200)
    const text = texts[index] ?? ''
    await raise(text, await otherDevice())
    await waitFor(url, (calls) => countOf(calls, text) > 0)
  }
  const calls = await inboxOf(url)
  expect(texts.map((text) => countOf(calls, text))).toEqual([1, 1, 1, 1])
})

test('an alert that is pending is sent in our own format after a change to it', async () => {
  const url = receiver().url('after-1')
  const { id } = await create(url, 'cot')
  await raise('help')
  await waitForDelivery(account, id, { status: 'pending', attempts: 1 })
  await account.call('PATCH', `/api/webhooks/${id}`, { body: { format: 'json' } })
  await passTime(account, MINUTE_MS)
  await waitFor(url, (calls) => calls.some(({ body }) => body.includes('"alert.raised"')))
})
