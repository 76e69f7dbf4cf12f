import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { openCell } from '../../src/db/open.ts'
import { INITIAL_STATE } from '../../src/ingest/arrival.ts'
import { storeArrivals } from '../../src/ingest/store.ts'
import { openAccount, type TestAccount } from './accounts.ts'
import { eventually } from './time.ts'
import { createRule, createZone } from './zones.ts'

/* Tracks into and out of a zone, and how often they enter it. */

export const SECOND = 1000

/** After the rule's last change, and close enough to be no mistake. */
export const start = () => Date.now() + SECOND

export type State = 'in' | 'out' | 'unknown'
const PLACES = {
  in: { longitude: 0.001 },
  out: { longitude: 0.1 },
  unknown: { longitude: 0.005, accuracy: 5000 },
}

export const fixAt = (time: number, state: State, more: object = {}) => ({
  dateTime: new Date(time).toISOString(),
  latitude: 0,
  ...PLACES[state],
  ...more,
})

/** Stores a report of one location by the calls of `DB`, and returns what came of it. */
export const storeFix = async (
  DB: D1Database,
  { id: accountId }: TestAccount,
  deviceId: string,
  { time, state }: { time: number; state: State },
) => {
  const rulesVersion = await env.DB.prepare('SELECT rules_version FROM accounts WHERE id = ?')
    .bind(accountId)
    .first<string>('rules_version')
  const now = Date.now()
  const { dateTime: _, ...place } = fixAt(time, state)
  const arrivals = [{ location: { dateTime: time, ...place }, receivedAt: now }]
  const outcome = await storeArrivals(openCell({ ...env, DB }, 0), {
    viewer: { accountId, groupId: null },
    devices: [{ deviceId, identifier: null, eventId: 'evt_1', contact: now, arrivals }],
    raisesBy: null,
    checksCredibility: false,
    assumed: { ...INITIAL_STATE, rulesVersion },
    origin: 'https://perigee.test',
    now,
  })
  if (!outcome.ok || outcome.accepted !== 1) throw new Error('not stored')
  return outcome
}

const countPending = (account: TestAccount) =>
  env.DB.prepare('SELECT count(*) AS count FROM pending_raises WHERE account_id = ?')
    .bind(account.id)
    .first<number>('count')

/** The device's alerts once every hit was raised, oldest first. */
export const alertsOf = async (account: TestAccount, device: string) => {
  await eventually(async () => expect(await countPending(account)).toBe(0))
  return (await account.call('GET', `/api/devices/${device}/alerts`)).body.alerts
}

/** Decided fix by decided fix. */
export const countEntries = (states: State[]): number => {
  let before: State | null = null
  let count = 0
  for (const state of states) {
    if (state === 'unknown') continue
    if (before === 'out' && state === 'in') count++
    before = state
  }
  return count
}

/** Numbers from 0 to 1, always the same for a seed. */
export const random = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}

/* Rules about minutes, and tracks with very many locations. */

export const MINUTE = 60_000

export const iso = (time: number) => new Date(time).toISOString()
const DEGREES: Partial<Record<State, number>> = { in: 0.001, out: 0.1 }

/** Stores locations without evaluating them, at places that are some metres apart. */
export const storeTrack = (
  device: string,
  { from, count, step, state }: { from: number; count: number; step: number; state: State },
) =>
  env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?3 - 1)
      INSERT INTO locations (device_key, time, latitude, longitude, received_at)
      SELECT key, ?1 + i * ?4, i % 7 * 50, ?5 + i % 5 * 50, ?1 FROM n, devices WHERE id = ?2`,
  )
    .bind(from, device, count, step, (DEGREES[state] ?? 0) * 1e7)
    .run()

/** Lets rules raise alerts of the past. Only before the first report: changes are not noticed. */
export const backdate = (account: TestAccount) =>
  env.DB.batch([
    env.DB.prepare(
      `UPDATE rules SET last_modified = 0, creation = 0,
        record = json_remove(record, '$.conditionChanged') WHERE account_id = ?`,
    ).bind(account.id),
    env.DB.prepare('UPDATE zones SET last_modified = 0 WHERE account_id = ?').bind(account.id),
  ])

/** One rule of each kind, all fulfilled by so many minutes in the zone after a place outside. */
export const setUpDense = async (minutes: number) => {
  const account = await openAccount({ licenses: 40 })
  const [zone, other] = [
    await createZone(account),
    await createZone(account, { shape: { type: 'Circle', center: [0.1, 0], radius: 1000 } }),
  ]
  const rules = [
    await createRule(account, { when: { type: 'inside', zones: [zone], minutes } }),
    await createRule(account, { when: { type: 'outside', zones: [other], minutes } }),
    await createRule(account, { when: { type: 'stands', minutes } }),
  ]
  await backdate(account)
  return { account, rules, zone }
}

export const send = async (account: TestAccount, device: string, body: unknown) => {
  const reply = await account.call('POST', `/api/devices/${device}/locations`, { body })
  expect([reply.status, reply.body.accepted]).toEqual([201, Array.isArray(body) ? body.length : 1])
}

/** When alerts of each rule were raised, in the order of the rules. */
export const raisedBy = async (account: TestAccount, device: string, rules: string[]) => {
  const alerts: { ruleId: string; dateTime: string }[] = await alertsOf(account, device)
  return rules.map((rule) =>
    alerts.filter(({ ruleId }) => ruleId === rule).map(({ dateTime }) => dateTime),
  )
}

export const tried = (account: TestAccount, deviceId: string, rules: string[], from: number) =>
  Promise.all(
    rules.map(async (rule) => {
      const body = { deviceId, from: iso(from), to: iso(from + 2 * 86_400_000) }
      const { alerts } = (await account.call('POST', `/api/rules/${rule}/test`, { body })).body
      return alerts.map(({ dateTime }: { dateTime: string }) => dateTime)
    }),
  )
