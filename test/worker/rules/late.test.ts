import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { evictMemory } from '../../../src/rules/evaluate/memory.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { watchBatches } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import {
  backdate,
  MINUTE,
  random,
  SECOND,
  type State,
  storeFix,
  storeTrack,
} from '../../support/ruleTracks.ts'
import { createRule, createZone } from '../../support/zones.ts'

/* Late locations, of which the next lies beside the last: what is around it is remembered. */

const HOUR = 60 * MINUTE
const FROM = Date.now() - 48 * HOUR

const setUp = async (isAboutMinutes = true) => {
  const account = await openAccount({ licenses: 20 })
  const zones = [await createZone(account)]
  const hysteresis = { metres: 0, fixes: 2 }
  await createRule(account, { when: { type: 'enters', zones } })
  await createRule(account, { when: { type: 'leaves', zones }, hysteresis })
  if (isAboutMinutes) {
    await createRule(account, { when: { type: 'inside', zones, minutes: 5 } })
    await createRule(account, { when: { type: 'stands', minutes: 5 } })
    await createRule(account, { when: { type: 'moves', metres: 500 } })
  }
  await backdate(account)
  return account
}

/** Reports one location; returns how many round trips that took, and what the rules found. */
const report = async (account: TestAccount, deviceId: string, time: number, state: State) => {
  let trips = 0
  const DB = watchBatches(env.DB, () => trips++)
  const outcome = await storeFix(DB, account, deviceId, { time, state })
  const hits = outcome.hits.map(({ alert: { name, text, dateTime } }) => [name, text, dateTime])
  return { trips, hits }
}

/** A device with eight locations before a gap, and eight after it. */
const setUpGap = async () => {
  const account = await setUp(false)
  const device = await createDevice(account)
  for (const from of [FROM, FROM + HOUR])
    for (let at = 0; at < 8; at++) await report(account, device, from + at * MINUTE, 'out')
  return { account, device }
}
const middle = FROM + HOUR / 2

test.each([
  ['newest first', -1],
  ['oldest first', 1],
])('of a backlog, %s, the first location is read and the next are remembered', async (_, step) => {
  const { account, device } = await setUpGap()
  expect((await report(account, device, middle, 'out')).trips).toBe(2)
  for (let at = 1; at < 12; at++)
    expect((await report(account, device, middle + step * at * SECOND, 'out')).trips).toBe(1)
  // The end of the track is remembered too.
  expect((await report(account, device, FROM + 2 * HOUR, 'out')).trips).toBe(1)
  expect((await report(account, device, middle + step * MINUTE, 'out')).trips).toBe(1)
  expect((await report(account, device, FROM + MINUTE + SECOND, 'out')).trips).toBe(2)
})

test('what another isolate stores beside a late location is noticed', async () => {
  const { account, device } = await setUpGap()
  await report(account, device, middle, 'out')
  await storeTrack(device, { from: middle + SECOND, count: 1, step: SECOND, state: 'in' })
  // With it the device is not entering the zone now, and leaves it with two locations behind it.
  const { trips, hits } = await report(account, device, middle + 2 * SECOND, 'in')
  expect([trips, hits.map(([name]) => name)]).toEqual([3, ['ZoneLeft']])
  expect((await report(account, device, middle + 3 * SECOND, 'out')).trips).toBe(1)
})

const ORDERS: Record<string, (count: number, next: () => number) => number[]> = {
  'newest first': (count) => Array.from({ length: count }, (_, at) => count - 1 - at),
  'oldest first': (count) => Array.from({ length: count }, (_, at) => at),
  // In runs of five, as a device that has lost its connection now and then.
  scattered: (count, next) => {
    const runs = Array.from({ length: count / 5 }, (_, run) => ({ run, place: next() }))
    return runs
      .sort((a, b) => a.place - b.place)
      .flatMap(({ run }) => Array.from({ length: 5 }, (_, at) => run * 5 + at))
  },
}

test.each(Object.keys(ORDERS))('rules find the same in what is remembered: %s', async (order) => {
  const account = await setUp()
  for (const seed of [1, 2, 3]) {
    const [known, read] = [await createDevice(account), await createDevice(account)]
    const next = random(seed)
    let state: State = 'out'
    const states = Array.from({ length: 40 }, () => {
      if (next() < 0.3) state = next() < 0.5 ? 'in' : next() < 0.8 ? 'out' : 'unknown'
      return state
    })
    const found: [unknown, unknown][] = []
    for (const device of [known, read])
      for (const at of [0, 1, 2, 3, 4, 5])
        await report(account, device, FROM + at * HOUR * 6, 'out')
    for (const at of ORDERS[order]?.(states.length, next) ?? []) {
      const time = FROM + 13 * HOUR + at * 2 * MINUTE
      evictMemory(account.id, [read, null])
      const [ofKnown, ofRead] = [
        await report(account, known, time, states[at] as State),
        await report(account, read, time, states[at] as State),
      ]
      found.push([ofKnown.hits, ofRead.hits])
    }
    expect(found.flatMap(([hits]) => hits).length).toBeGreaterThan(0)
    expect(found.map(([hits]) => hits)).toEqual(found.map(([, hits]) => hits))
  }
})
