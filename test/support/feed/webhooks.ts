import { runDurableObjectAlarm } from 'cloudflare:test'
import { expect, vi } from 'vitest'
import { fetchToken, openAccount, type TestAccount } from '../accounts.ts'
import { createDevice } from '../devices.ts'
import type { ReceivedCall } from '../run/receivers.ts'
import { eventually } from '../time.ts'
import type { EventBody } from './events.ts'
import { feedStub } from './feed.ts'

/** A webhook receiver for one test. The URL says how it replies: see receivers.ts. */
export const receiver = () => {
  const inbox = crypto.randomUUID()
  const calls = async (): Promise<(ReceivedCall & { events: EventBody[] })[]> => {
    const recorded = (await (
      await fetch(`https://receiver.example/${inbox}`)
    ).json()) as ReceivedCall[]
    return recorded.map((call) => ({ ...call, events: JSON.parse(call.body).events }))
  }
  return {
    url: (behaviour = 'ok') => `https://receiver.example/${inbox}/${behaviour}`,
    calls,
    release: () => fetch(`https://receiver.example/${inbox}`, { method: 'PUT' }),
    waitForCalls: (count: number) =>
      eventually(async () => {
        const received = await calls()
        expect(received.length).toBeGreaterThanOrEqual(count)
        return received
      }, 20),
  }
}

export const createWebhook = async (account: TestAccount, body: object) => {
  const reply = await account.call('POST', '/api/webhooks', { body })
  expect(reply.status, reply.text).toBe(201)
  return reply.body as { webhook: { id: string; url: string }; secret: string }
}

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

export interface Delivery {
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

/** Gets a token first: after the clock was moved, the account's own has expired. */
export const callWithNewToken = async (
  account: TestAccount,
  method: string,
  path: string,
  body?: object,
) =>
  account.call(method, path, {
    token: await fetchToken(account.userName, account.apiKey),
    ...(body && { body }),
  })

/** An account whose webhook has a receiver that replies in this way, and a first event for it. */
export const openAccountWithReceiver = async (behaviour: string) => {
  const account = await openAccount()
  const target = receiver()
  const { webhook } = await createWebhook(account, {
    url: target.url(behaviour),
    events: ['device.*'],
  })
  await createDevice(account, 'First')
  return { account, target, id: webhook.id }
}

/** Newest first. */
export const deliveriesOf = async (account: TestAccount, id: string): Promise<Delivery[]> =>
  (await callWithNewToken(account, 'GET', `/api/webhooks/${id}/deliveries`)).body.deliveries

export const webhookOf = async (account: TestAccount, id: string) =>
  (await callWithNewToken(account, 'GET', `/api/webhooks/${id}`)).body.webhook

/** Waits until the newest delivery has these members and none of its attempts is in progress. */
export const waitForDelivery = (account: TestAccount, id: string, expected: Partial<Delivery>) =>
  eventually(async () => {
    const [newest] = await deliveriesOf(account, id)
    expect(newest).toMatchObject({ durationMs: expect.any(Number), ...expected })
    return newest as Delivery
  })

/** Moves the clock to the next attempt of the newest delivery and waits for its result. */
export const runNextAttempt = async (
  account: TestAccount,
  id: string,
  expected: Partial<Delivery>,
) => {
  const [newest] = await deliveriesOf(account, id)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(newest?.nextAttempt ?? '') + 1 })
  await runDurableObjectAlarm(feedStub(account))
  return waitForDelivery(account, id, expected)
}

/** The names in the data of all events, in the order of the calls. */
export const namesIn = (calls: { events: { data: { name: string } }[] }[]) =>
  calls.flatMap(({ events }) => events.map(({ data }) => data.name))
