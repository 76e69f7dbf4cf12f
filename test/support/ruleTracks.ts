import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import type { TestAccount } from './accounts.ts'
import { eventually } from './time.ts'

/* Tracks into and out of a zone, and how often they enter it. */

const SECOND = 1000

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
