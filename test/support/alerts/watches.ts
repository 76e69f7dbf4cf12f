import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import type { Caller } from '../accounts.ts'
import { eventually } from '../time.ts'

export const MINUTE = 60_000

/** The time so many minutes from now. */
export const inMinutes = (minutes: number): string =>
  new Date(Date.now() + minutes * MINUTE).toISOString()

/** Runs the sweep as if it were so many minutes later. */
export const sweepIn = (minutes: number) => sweep(env as never, Date.now() + minutes * MINUTE)

/** Creates a watch of a device: every hour, unless `body` says otherwise. */
export const createWatch = async (account: Caller, deviceId: string, body: object = {}) => {
  const promise = 'due' in body ? {} : { everyMinutes: 60 }
  const reply = await account.call('POST', '/api/watches', {
    body: { name: 'Crossing', deviceId, ...promise, ...body },
  })
  expect(reply.text).toContain('"success":true')
  return reply.body.watch
}

/** Adds rows like that of a watch, with other ids and links. */
export const copyWatch = (id: string, count: number) => {
  const columns = `account_id, device_key, record, state, since, next_due, check_at, creation,
    last_modified, version`
  return env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
      INSERT INTO watches (id, link, ${columns})
      SELECT id || i, link || i, ${columns} FROM n, watches WHERE id = ?2`,
  )
    .bind(count, id)
    .run()
}

export const readWatch = async (account: Caller, id: string) =>
  (await account.call('GET', `/api/watches/${id}`)).body.watch

/** The names of a device's alerts, once all are decided on. */
export const alertsOf = async (account: Caller, deviceId: string): Promise<string[]> => {
  await eventually(async () => {
    const pending = await env.DB.prepare('SELECT count(*) AS n FROM pending_raises').first('n')
    expect(pending).toBe(0)
  })
  const { alerts } = (await account.call('GET', `/api/devices/${deviceId}/alerts`)).body
  return alerts.map(({ alerts: [name] }: { alerts: string[] }) => name)
}

/** The types of the account's events about watches, in order. */
export const watchEventsOf = async (account: Caller): Promise<string[]> => {
  const { events } = (await account.call('GET', '/api/events?types=watch.*')).body
  return events.map(({ type }: { type: string }) => type.slice('watch.'.length))
}

export const report = (account: Caller, deviceId: string) =>
  account.call('POST', `/api/devices/${deviceId}/locations`, {
    body: { dateTime: new Date().toISOString(), latitude: 1, longitude: 2 },
  })
