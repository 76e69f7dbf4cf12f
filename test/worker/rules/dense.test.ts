import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { createDevice } from '../../support/devices.ts'
import {
  backdate,
  fixAt,
  iso,
  MINUTE,
  raisedBy,
  random,
  SECOND,
  type State,
  send,
  setUpDense,
  storeTrack,
  tried,
} from '../../support/ruleTracks.ts'
import { createRule } from '../../support/zones.ts'

/* Rules about minutes with very many locations in them. */

test('a day with 1100 locations is raised as a test finds it', async () => {
  const { account, rules } = await setUpDense(1440)
  const device = await createDevice(account)
  const step = Math.floor(86_400_000 / 1099)
  const from = Date.now() - 86_400_000 - 10 * MINUTE
  const fixes = Array.from({ length: 1104 }, (_, at) =>
    fixAt(from + MINUTE + at * step, 'in', { latitude: (at % 5) / 1e5 }),
  )
  await send(account, device, [fixAt(from, 'out'), ...fixes.slice(0, 600)])
  for (let at = 600; at < 1090; at += 245) await send(account, device, fixes.slice(at, at + 245))
  expect(await raisedBy(account, device, rules)).toEqual([[], [], []])
  for (const fix of fixes.slice(1090)) await send(account, device, fix)
  const raised = await raisedBy(account, device, rules)
  expect(raised.map(({ length }) => length)).toEqual([1, 1, 1])
  expect(raised).toEqual(await tried(account, device, rules, from))
}, 60_000)

test('a day with a location every eleven seconds is raised once', async () => {
  const { account, rules } = await setUpDense(1440)
  const device = await createDevice(account)
  const from = Date.now() - 86_400_000 - 10 * MINUTE
  const step = 11 * SECOND
  const count = Math.floor(86_400_000 / step)
  await storeTrack(device, { from: from - MINUTE, count: 1, step: 1, state: 'out' })
  await storeTrack(device, { from, count, step, state: 'in' })
  for (let at = count; at < count + 4; at++)
    await send(account, device, fixAt(from + at * step, 'in'))
  const reached = [iso(from + (count + 1) * step)]
  expect(await raisedBy(account, device, rules)).toEqual([reached, reached, reached])
  expect(await tried(account, device, rules, from - MINUTE)).toEqual([reached, reached, reached])
}, 120_000)

test('a report around more than 2000 stored locations loses nothing', async () => {
  const { account, rules } = await setUpDense(60)
  const device = await createDevice(account)
  const from = Date.now() - 120 * MINUTE
  await storeTrack(device, { from, count: 2400, step: 1475, state: 'in' })
  const newest = from + 61 * MINUTE
  await send(account, device, [fixAt(from - MINUTE, 'out'), fixAt(newest, 'in')])
  const reached = [iso(newest)]
  expect(await raisedBy(account, device, rules)).toEqual([reached, reached, reached])
}, 60_000)

test('a report of 21 devices around more than 200 stored locations of each loses nothing', async () => {
  const { account, rules } = await setUpDense(60)
  const devices = await Promise.all(Array.from({ length: 21 }, () => createDevice(account)))
  const from = Date.now() - 120 * MINUTE
  const newest = from + 61 * MINUTE
  for (const device of devices)
    await storeTrack(device, { from, count: 240, step: 14_750, state: 'in' })
  const locations = devices.flatMap((deviceId) => [
    { deviceId, ...fixAt(from - MINUTE, 'out') },
    { deviceId, ...fixAt(newest, 'in') },
  ])
  const { body } = await account.call('POST', '/api/locations', { body: { locations } })
  expect(body).toMatchObject({ accepted: 42 })
  const reached = [iso(newest)]
  for (const device of devices)
    expect(await raisedBy(account, device, rules)).toEqual([reached, reached, reached])
}, 60_000)

test('a late location among very many that ends a stay, and one that makes it longer', async () => {
  const { account, rules } = await setUpDense(60)
  const device = await createDevice(account)
  const from = Date.now() - 300 * MINUTE
  // 59 minutes by 3540 locations, then nothing for a while.
  await storeTrack(device, { from, count: 3540, step: SECOND, state: 'in' })
  await send(account, device, fixAt(from - 90 * SECOND, 'out'))
  expect(await raisedBy(account, device, rules)).toEqual([[], [], []])
  await send(account, device, fixAt(from - 70 * SECOND, 'in'))
  const reached = [iso(from + 59 * MINUTE - 10 * SECOND)]
  expect(await raisedBy(account, device, rules)).toEqual([reached, reached, reached])
  // In the middle: both halves are shorter than an hour, and what was raised stays.
  await send(account, device, fixAt(from + 30 * MINUTE + 1, 'out'))
  await send(account, device, fixAt(from + 60 * MINUTE, 'in'))
  await send(account, device, fixAt(from + 95 * MINUTE, 'in'))
  const again = [...reached, iso(from + 95 * MINUTE)]
  expect(await raisedBy(account, device, rules)).toEqual([again, again, again])
}, 60_000)

test('random tracks in order raise what a test finds in them', async () => {
  const seed = Number((env as { MODEL_SEED?: string }).MODEL_SEED ?? Date.now() % 1e9)
  const next = random(seed)
  const { account, rules, zone } = await setUpDense(20)
  rules.push(
    await createRule(account, { when: { type: 'speed', above: 50, zones: [zone] } }),
    await createRule(account, { when: { type: 'value', member: 'battery', below: 20 } }),
    await createRule(account, { when: { type: 'moves', metres: 200 } }),
  )
  await backdate(account)
  for (let round = 0; round < 3; round++) {
    const device = await createDevice(account)
    const from = Date.now() - 20 * 3_600_000
    let state: State = 'in'
    const fixes = Array.from({ length: 300 }, (_, minute) => {
      if (next() < 0.06) state = next() < 0.5 ? 'in' : 'out'
      return fixAt(from + minute * MINUTE, next() < 0.05 ? 'unknown' : state, {
        speed: Math.round(next() * 60),
        battery: Math.round(10 + next() * 30),
      })
    })
    while (fixes.length > 0)
      await send(account, device, fixes.splice(0, 1 + Math.floor(next() * 12)))
    const raised = await raisedBy(account, device, rules)
    expect([seed, raised]).toEqual([seed, await tried(account, device, rules, from)])
  }
}, 120_000)

test('random dense tracks raise what a test finds in them', async () => {
  const seed = Number((env as { MODEL_SEED?: string }).MODEL_SEED ?? Date.now() % 1e9)
  const next = random(seed)
  const { account, rules } = await setUpDense(25)
  for (let round = 0; round < 2; round++) {
    const device = await createDevice(account)
    const from = Date.now() - 20 * 3_600_000
    let state: State = 'in'
    const fixes = Array.from({ length: 6000 }, (_, second) => {
      if (next() < 0.0004) state = state === 'in' ? 'out' : 'in'
      return fixAt(from + second * SECOND, next() < 0.05 ? 'unknown' : state, {
        latitude: Math.floor(next() * 50) * 5e-6,
      })
    })
    while (fixes.length > 0)
      await send(account, device, fixes.splice(0, 1 + Math.floor(next() * 300)))
    const raised = await raisedBy(account, device, rules)
    expect([seed, raised]).toEqual([seed, await tried(account, device, rules, from)])
  }
}, 180_000)
