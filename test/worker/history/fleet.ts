import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import type { Env } from '../../../src/env.ts'
import { moveHistory } from '../../../src/sweep/history/history.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { iso } from '../../support/time.ts'

export const DAY = 86_400_000
export const MINUTE = 60_000
export const bucket = env.HISTORY as R2Bucket

/** The first instant of the month that is this many before the current one. */
export const monthsAgo = (count: number): number => {
  const now = new Date()
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count)
}
export const OLD = monthsAgo(6)
export const monthName = (at: number) => iso(at).slice(0, 7)

export const place = (at: number, index: number) => ({
  dateTime: iso(at),
  latitude: 47 + index * 0.01,
  longitude: 8 + index * 0.001,
  ...(index % 2 && { altitude: 400.25, speed: index, accuracy: 5, source: 'gps' }),
  ...(index % 3 === 0 && { temperature: -3.5, attributes: { note: `n${index}`, level: index } }),
})

export const hourly = (from: number, count = 40): number[] =>
  Array.from({ length: count }, (_, hour) => from + hour * 60 * MINUTE + 1)

/** Reports locations; their values follow from their positions in the list. */
export const reportAll = async (account: TestAccount, device: string, times: number[]) => {
  const body = times.map(place)
  const reply = await account.call('POST', `/api/devices/${device}/locations`, { body })
  expect(reply.status).toBe(201)
  return reply.body
}

/** An account with two devices, which have reported at these times and just now. */
export const openFleet = async (times: number[]) => {
  const account = await openAccount({ licenses: 5 })
  const devices = [await createDevice(account), await createDevice(account)]
  for (const device of devices) await reportAll(account, device, [...times, Date.now() - MINUTE])
  return { account, devices, device: devices[0] as string }
}

export const rowsOf = (device: string) =>
  env.DB.prepare(
    'SELECT count(*) AS n FROM locations WHERE device_key = (SELECT key FROM devices WHERE id = ?)',
  )
    .bind(device)
    .first<number>('n')

export const monthsOf = async ({ id }: TestAccount) =>
  (
    await env.DB.prepare(
      'SELECT month, object, bytes, locations, next_group FROM archived_months WHERE account_id = ? ORDER BY month',
    )
      .bind(id)
      .all<{
        month: string
        object: string
        bytes: number
        locations: number
        next_group: number | null
      }>()
  ).results

export const objectsOf = async ({ id }: TestAccount) =>
  (await bucket.list({ prefix: `accounts/${id}/` })).objects.map(({ key }) => key)

export const numberOf = ({ id }: TestAccount) =>
  env.DB.prepare('SELECT number FROM accounts WHERE id = ?').bind(id).first<number>('number')

/** One run of this part of the sweep, which begins with the account. */
export const moveOnce = async (
  account: TestAccount,
  replaced: Partial<Env> = {},
): Promise<void> => {
  await env.DB.prepare(
    `INSERT INTO sweep_positions (part, position) VALUES ('history', ?1)
     ON CONFLICT (part) DO UPDATE SET position = ?1`,
  )
    .bind(((await numberOf(account)) ?? 1) - 1)
    .run()
  const bindings = { ...env, ...replaced }
  const run = { env: bindings, cell: 0, db: openCell(bindings, 0), now: Date.now() }
  await moveHistory({ ...run, take: () => true, later: () => {} })
}

/** Runs until nothing of the account is left to move. */
export const moveAll = async (account: TestAccount, runs = 6): Promise<void> => {
  for (let run = 0; run < runs; run++) await moveOnce(account)
}
