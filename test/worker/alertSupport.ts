import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { eventually } from '../eventually.ts'
import type { Reply, TestAccount } from './support.ts'

/* What the tests of alerts share. */

type Caller = Pick<TestAccount, 'call'>

export const stubOf = (account: TestAccount) => env.LEDGER.get(env.LEDGER.idFromName(account.id))

/** The object falls over with whatever it was doing; only what was written stays. */
export const crash = (account: TestAccount): Promise<unknown> =>
  runInDurableObject(stubOf(account), (_, state) => state.abort('the test says so')).catch(() => {})

let people = 0

export const user = async (account: Caller, body: object = {}) => {
  const required = {
    name: 'Ana',
    email: `ana${++people}@example.com`,
    country: 'PT',
    timeZone: 'Europe/Lisbon',
  }
  const reply = await account.call('POST', '/api/users', { body: { ...required, ...body } })
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body
}

export const device = async (
  account: Caller,
  limits: object = {},
  name = 'Tern 7',
): Promise<string> => {
  const reply = await account.call('POST', '/api/devices', { body: { name, limits } })
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body.device.id
}

export const raise = (
  account: Caller,
  deviceId: string,
  alert: object = {},
  headers: Record<string, string> = {},
): Promise<Reply> =>
  account.call('POST', `/api/devices/${deviceId}/alerts`, {
    body: { alertName: 'LowBattery', ...alert },
    headers,
  })

export interface Told {
  deviceId: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads an event as it pleases
  [member: string]: any
}

export const eventsOf = async (account: TestAccount, type: string): Promise<Told[]> => {
  const { results } = await env.DB.prepare(
    'SELECT * FROM events WHERE account_id = ? AND type = ? ORDER BY sequence',
  )
    .bind(account.id, type)
    .all<{ data: string; device_id: string }>()
  return results.map(({ data, device_id }) => ({ deviceId: device_id, ...JSON.parse(data) }))
}

export const messagesOf = async (account: Caller, query = '') =>
  (await account.call('GET', `/api/account/messages${query}`)).body.messages

export const usageOf = async (account: Caller, deviceId: string) =>
  (await account.call('GET', `/api/devices/${deviceId}`)).body.device.usage

/** Messages are sent by the alarm, which comes by itself; a test may be quicker. */
export const untilSent = async (account: TestAccount): Promise<void> => {
  await eventually(async () => {
    await runDurableObjectAlarm(stubOf(account))
    expect(await messagesOf(account, '?status=queued')).toEqual([])
  })
}

export const statusesIn = (reply: Reply): string[] =>
  reply.body.alert.deliveries.map(
    ({ channel, status }: { channel: string; status: string }) => `${channel} ${status}`,
  )
