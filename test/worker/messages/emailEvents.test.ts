import {
  createExecutionContext,
  createMessageBatch,
  getQueueResult,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Env } from '../../../src/env.ts'
import { cloudflare } from '../../../src/notify/cloudflare.ts'
import worker from '../../../src/worker.ts'
import type { TestAccount } from '../../support/accounts.ts'
import {
  MINUTE_MS,
  openAccountWithPeople,
  passTime,
  raiseSos,
  recipientsOf,
} from '../../support/alerts/emergencies.ts'
import { readMessages, waitUntilSent } from '../../support/alerts/messages.ts'
import { failExecutions } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { crashLedger, ledgerStub } from '../../support/ledger.ts'

const QUEUE = 'perigee-email-events'
let lines: string[] = []

beforeEach(() => {
  lines = []
  for (const method of ['log', 'warn', 'error'] as const)
    vi.spyOn(console, method).mockImplementation((line) => lines.push(String(line)))
  vi.spyOn(cloudflare, 'givesReceipts').mockReturnValue(true)
  vi.spyOn(cloudflare, 'send').mockImplementation(async (_, { key }) => ({
    kind: 'accepted',
    providerId: `cf-${key}`,
  }))
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** An event as Cloudflare's documentation has it. */
const eventOf = (type: string, messageId: string, eventId: string = crypto.randomUUID()) => ({
  type: `cf.email.sending.message.${type}`,
  source: { type: 'email.sending', zoneId: '023e105f', domain: 'example.com' },
  payload: {
    eventId,
    messageId,
    sender: 'noreply@example.com',
    recipient: 'reader@example.com',
    terminal: type !== 'deferred',
    delivery: { status: type },
  },
  metadata: { eventSchemaVersion: 1 },
})

let count = 0
const receive = async (bodies: unknown[], ageMs = 0, bindings: Partial<Env> = {}) => {
  const messages = bodies.map((body) => {
    const timestamp = new Date(Date.now() - ageMs)
    return { id: `q${++count}`, timestamp, attempts: 7, body }
  })
  const batch = createMessageBatch(QUEUE, messages)
  const context = createExecutionContext()
  await worker.queue(batch, { ...env, ...bindings } as unknown as Env)
  const { explicitAcks, retryMessages } = await getQueueResult(batch, context)
  return { acks: explicitAcks.length, retries: retryMessages.length }
}

/** An SOS that Cloudflare has accepted. */
const raiseAccepted = async () => {
  const account = await openAccountWithPeople()
  await runInDurableObject(ledgerStub(account), (ledger) => {
    Object.assign((ledger as unknown as { env: Env }).env, { EMAIL_PROVIDER: 'cloudflare' })
  })
  const { alert } = (await raiseSos(account, await createDevice(account))).body
  await waitUntilSent(account)
  return { account, id: alert.deliveries[0].id as string }
}

const statusOf = async (account: TestAccount, id: string) => {
  const messages: { id: string; status: string; reason: string | null }[] =
    await readMessages(account)
  const found = messages.find((message) => message.id === id)
  return [found?.status, found?.reason]
}

const undelivered = (account: TestAccount) => readEvents(account, 'alert.undelivered')

test('a delivered e-mail has reached somebody; its repeat and a deferral change nothing', async () => {
  const { account, id } = await raiseAccepted()
  const delivered = eventOf('delivered', `<cf-${id}>`)
  expect(await receive([eventOf('deferred', `cf-${id}`), delivered])).toEqual({
    acks: 2,
    retries: 0,
  })
  expect(await receive([delivered])).toEqual({ acks: 1, retries: 0 })
  expect(await statusOf(account, id)).toEqual(['delivered', null])
  await passTime(account, 8 * MINUTE_MS)
  expect(await undelivered(account)).toEqual([])
})

test.each(['bounced', 'failed', 'rejected', 'complained'])(
  'one that is %s has reached nobody, and the account is told at once',
  async (type) => {
    const { account, id } = await raiseAccepted()
    if (type === 'complained') await receive([eventOf('delivered', `cf-${id}`)])
    expect(await receive([eventOf(type, `cf-${id}`)])).toEqual({ acks: 1, retries: 0 })
    expect(await statusOf(account, id)).toEqual(['failed', `cloudflare-${type}`])
    await crashLedger(account)
    await runDurableObjectAlarm(ledgerStub(account))
    expect(await undelivered(account)).toMatchObject([{ reason: 'not-delivered' }])
    expect(await recipientsOf(account, 'notice')).toHaveLength(4)
  },
)

test('what is no event is acknowledged, and the log has no address', async () => {
  const bodies = [
    null,
    'reader@example.com',
    {},
    { ...eventOf('delivered', 'cf-1'), type: 'cf.r2.bucket.created' },
    eventOf('__proto__', 'cf-1'),
    { ...eventOf('bounced', 'cf-1'), payload: { recipient: 'reader@example.com' } },
  ]
  expect(await receive(bodies)).toEqual({ acks: bodies.length, retries: 0 })
  const malformed = lines.filter((line) => line.includes('email-event-malformed'))
  expect(malformed).toHaveLength(bodies.length)
  expect(lines.join()).not.toContain('@')
})

test('an event that overtakes its message is retried, and given up after 15 minutes', async () => {
  const unknown = [eventOf('bounced', 'cf-unknown')]
  expect(await receive(unknown, 14 * MINUTE_MS)).toEqual({ acks: 0, retries: 1 })
  expect(await receive(unknown, 15 * MINUTE_MS)).toEqual({ acks: 1, retries: 0 })
  expect(lines.join()).toContain('email-event-unknown')
})

test('an event of a message that was sent again does not concern the second one', async () => {
  const { account, id } = await raiseAccepted()
  await receive([eventOf('bounced', `cf-${id}`)])
  const retried = await account.call('POST', `/api/account/messages/${id}/retry`)
  expect(retried.status).toBe(200)
  await receive([eventOf('failed', `cf-${id}`)])
  expect((await statusOf(account, id))[0]).not.toBe('failed')
})

test('a batch is looked up in one query for each cell, and one that fails is retried', async () => {
  const { account, id } = await raiseAccepted()
  const others = Array.from({ length: 99 }, (_, n) => eventOf('bounced', `cf-other-${n}`))
  const batch = [...others, eventOf('delivered', `cf-${id}`)]
  const counted = failExecutions(env.DB, { pattern: /provider_id/, times: 0 })
  expect(await receive(batch, 0, { DB: counted.db })).toEqual({ acks: 1, retries: 99 })
  expect(counted.runs()).toBe(1)
  expect(await statusOf(account, id)).toEqual(['delivered', null])
  const DB = failExecutions(env.DB, { pattern: /provider_id/, times: 9 }).db
  expect(await receive([...batch, 'malformed'], 0, { DB })).toEqual({ acks: 1, retries: 100 })
})

test('one failure delays no other message: it is retried alone', async () => {
  const { account, id } = await raiseAccepted()
  const broken = { get: () => ({ applyReceipt: () => Promise.reject(new Error('no ledger')) }) }
  const LEDGER = { ...broken, idFromName: () => 'id' }
  const messages = [eventOf('delivered', `cf-${id}`), 'malformed'].map((body) => {
    return { id: `q${++count}`, timestamp: new Date(), attempts: 1, body }
  })
  const batch = createMessageBatch(QUEUE, messages)
  await worker.queue(batch, { ...env, LEDGER } as unknown as Env)
  const { explicitAcks, retryMessages } = await getQueueResult(batch, createExecutionContext())
  expect([explicitAcks.length, retryMessages.length]).toEqual([1, 1])
  expect(lines.join()).toContain('email-event-failed')
  expect(await statusOf(account, id)).toEqual(['sent', null])
})
