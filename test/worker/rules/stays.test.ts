import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { evictMemory } from '../../../src/rules/evaluate/memory.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { failExecutions, watchResults } from '../../support/bindings.ts'
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
  storeFix,
  storeTrack,
} from '../../support/ruleTracks.ts'
import { createRule, createZone } from '../../support/zones.ts'

/* Stays that are stored, so that a report need not read them whole. */

const recordOf = async (device: string): Promise<[string, number][] | null> => {
  const record = await env.DB.prepare(
    `SELECT record FROM stays WHERE device_key = (SELECT key FROM devices WHERE id = ?)`,
  )
    .bind(device)
    .first<string>('record')
  return record && JSON.parse(record)
}

const sincesOf = async (device: string) =>
  (await recordOf(device))?.map(([, since]) => since).sort() ?? null

const deleteRecord = (device: string) =>
  env.DB.prepare('DELETE FROM stays WHERE device_key = (SELECT key FROM devices WHERE id = ?)')
    .bind(device)
    .run()

/** Reports one location; returns the rows that were read and written. */
const costOf = async (
  account: TestAccount,
  deviceId: string,
  { time, state, db = env.DB }: { time: number; state: State; db?: D1Database },
) => {
  const cost = { read: 0, written: 0 }
  const DB = watchResults(db, (results) => {
    for (const { meta } of results) {
      cost.read += meta.rows_read
      cost.written += meta.rows_written
    }
  })
  await storeFix(DB, account, deviceId, { time, state })
  return cost
}

/** A rule about being in the zone, and one about being out of another. */
const setUp = async (minutes: number, fixes = 1) => {
  const account = await openAccount({ licenses: 20 })
  const zone = await createZone(account)
  const circle = { type: 'Circle', center: [0.1, 0], radius: 1000 }
  const other = await createZone(account, { shape: circle })
  const hysteresis = { metres: 0, fixes }
  const rules = [
    await createRule(account, { when: { type: 'inside', zones: [zone], minutes }, hysteresis }),
    await createRule(account, { when: { type: 'outside', zones: [other], minutes }, hysteresis }),
  ]
  await backdate(account)
  return { account, rules }
}

test('a day with a location each second is raised at its time, by few rows', async () => {
  const { account, rules } = await setUp(1440)
  const device = await createDevice(account)
  const from = Date.now() - 86_400_000 - 10 * MINUTE
  await send(account, device, [fixAt(from - MINUTE, 'out'), fixAt(from, 'in')])
  expect(await sincesOf(device)).toEqual([from, from])
  await storeTrack(device, { from: from + SECOND, count: 86_398, step: SECOND, state: 'in' })
  evictMemory(account.id, [device, null])
  for (const second of [86_399, 86_400, 86_401]) {
    const time = from + second * SECOND
    const { read, written } = await costOf(account, device, { time, state: 'in' })
    expect(read).toBeLessThan(150)
    // The location and, at 24 hours, the two alerts with their index.
    expect(written).toBeLessThanOrEqual(second === 86_400 ? 8 : 1)
  }
  const late = await costOf(account, device, { time: from + 40_000_500, state: 'in' })
  expect(late.read).toBeLessThan(150)
  const count = await env.DB.prepare(
    'SELECT count(*) AS n FROM pending_raises WHERE account_id = ?',
  )
    .bind(account.id)
    .first<number>('n')
  expect(count).toBe(rules.length)
  expect(await sincesOf(device)).toEqual([from, from])
  // A late one outside ends the stay; another begins with the next location.
  await costOf(account, device, { time: from + 50_000_500, state: 'out' })
  expect(await sincesOf(device)).toEqual([from + 50_001_000, from + 50_001_000])
}, 120_000)

test('a stay that began before all that may be read begins there, and raises later', async () => {
  const { account, rules } = await setUpDense(180)
  const device = await createDevice(account)
  const from = Date.now() - 400 * MINUTE
  await storeTrack(device, { from, count: 10_000, step: SECOND, state: 'in' })
  await send(account, device, fixAt(from + 10_000 * SECOND, 'in'))
  const [since = 0] = (await sincesOf(device)) ?? []
  expect(since).toBeGreaterThan(from)
  expect(since).toBeLessThan(from + 2000 * SECOND)
  await send(account, device, fixAt(since + 180 * MINUTE - 1, 'in'))
  await send(account, device, fixAt(since + 180 * MINUTE, 'in'))
  const raised = await raisedBy(account, device, rules)
  expect(raised).toEqual(Array(3).fill([iso(since + 180 * MINUTE)]))
}, 60_000)

test('a report of several parts of a stay keeps it, or ends it where it must', async () => {
  const { account, rules } = await setUp(180)
  const device = await createDevice(account)
  const from = Date.now() - 400 * MINUTE
  await send(account, device, [fixAt(from - MINUTE, 'out'), fixAt(from, 'in')])
  await storeTrack(device, { from: from + SECOND, count: 10_000, step: SECOND, state: 'in' })
  const late = from + 500_500
  await send(account, device, [fixAt(late, 'in'), fixAt(from + 179 * MINUTE, 'in')])
  expect(await sincesOf(device)).toEqual([from, from])
  await send(account, device, [fixAt(late + SECOND, 'in'), fixAt(from + 180 * MINUTE, 'in')])
  const reached = [iso(from + 180 * MINUTE)]
  expect(await raisedBy(account, device, rules)).toEqual([reached, reached])
  // What was raised stays; the stay begins anew, and with it the minutes.
  const next = late + 3 * SECOND
  const last = next + 500 + 180 * MINUTE
  await send(account, device, [fixAt(next, 'out'), fixAt(last - SECOND, 'in')])
  expect(await sincesOf(device)).toEqual([next + 500, next + 500])
  await send(account, device, [fixAt(late + 2 * SECOND, 'in'), fixAt(last, 'in')])
  const both = [...reached, iso(last)]
  expect(await raisedBy(account, device, rules)).toEqual([both, both])
}, 60_000)

test('stays that a report may not read to their beginnings raise later', async () => {
  const { account, rules } = await setUpDense(150)
  const devices = await Promise.all(Array.from({ length: 8 }, () => createDevice(account)))
  const from = Date.now() - 400 * MINUTE
  // Each needs more than a fifth of what one report may read.
  const count = 8_100
  for (const device of devices) await storeTrack(device, { from, count, step: SECOND, state: 'in' })
  const report = async (time: number) => {
    const locations = devices.map((deviceId) => ({ deviceId, ...fixAt(time, 'in') }))
    const { body } = await account.call('POST', '/api/locations', { body: { locations } })
    expect(body).toMatchObject({ accepted: devices.length })
  }
  // Some are raised now. The others begin with what was read, and are not read again.
  for (const minute of [150, 151]) await report(from + minute * MINUTE)
  await report(from + count * SECOND + 150 * MINUTE)
  const raised = await Promise.all(devices.map((device) => raisedBy(account, device, rules)))
  expect(raised.flat().map((times) => times.length)).toEqual(Array(24).fill(1))
}, 60_000)

test('a few locations elsewhere, fewer than must agree, do not end a stay', async () => {
  const account = await openAccount()
  const when = { type: 'inside', zones: [await createZone(account)], minutes: 60 }
  const rules = [await createRule(account, { when, hysteresis: { metres: 0, fixes: 10 } })]
  await backdate(account)
  const device = await createDevice(account)
  const from = Date.now() - 300 * MINUTE
  const inside = Array.from({ length: 10 }, (_, at) => fixAt(from + at * SECOND, 'in'))
  await send(account, device, [fixAt(from - MINUTE, 'out'), ...inside])
  const since = from + 9 * SECOND
  expect(await sincesOf(device)).toEqual([since])
  for (let minute = 1; minute <= 9; minute++) {
    evictMemory(account.id, [device, null])
    await send(account, device, fixAt(from + minute * MINUTE, 'out'))
  }
  expect(await sincesOf(device)).toEqual([since])
  await send(account, device, fixAt(from + 10 * MINUTE, 'out'))
  expect(await sincesOf(device)).toEqual([])
  expect(await raisedBy(account, device, rules)).toEqual([[]])
}, 60_000)

/** Since when a condition is fulfilled at the end of a track, decided fix by decided fix. */
const modelSince = (track: { time: number; state: State }[], fixes: number): number | null => {
  let since: number | null = null
  let [last, run]: [State, number] = ['unknown', 0]
  for (const { time, state } of track.toSorted((a, b) => a.time - b.time)) {
    if (state === 'unknown') continue
    run = state === last ? run + 1 : 1
    last = state
    if (run < fixes) continue
    since = state === 'in' ? (since ?? time) : null
  }
  return since
}

test.each([1, 3])(
  'random reports, late ones too, raise what windows do, %i fixes',
  async (fixes) => {
    const seed = Number((env as { MODEL_SEED?: string }).MODEL_SEED ?? Date.now() % 1e9)
    const next = random(seed)
    const { account, rules } = await setUp(10, fixes)
    for (let round = 0; round < 4; round++) {
      const [known, unknown] = [await createDevice(account), await createDevice(account)]
      const from = Date.now() - 20 * 3_600_000
      let state: State = 'in'
      const track = Array.from({ length: 120 }, (_, minute) => {
        if (next() < 0.08) state = next() < 0.6 ? 'in' : 'out'
        return { time: from + minute * MINUTE, state: next() < 0.06 ? 'unknown' : state } as const
      })
      const stored: typeof track = []
      // Mostly in order; about a fifth comes later.
      const late = track.filter(() => next() < 0.2)
      const inTime = track.filter((fix) => !late.includes(fix))
      while (inTime.length + late.length > 0) {
        const isLate = late.length > 0 && (inTime.length === 0 || next() < 0.25)
        const from = isLate ? late : inTime
        const at = isLate ? Math.floor(next() * late.length) : 0
        const some = from.splice(at, 1 + Math.floor(next() * 3))
        stored.push(...some)
        if (next() < 0.3) evictMemory(account.id, [known, null])
        await deleteRecord(unknown)
        const body = some.map(({ time, state }) => fixAt(time, state))
        for (const device of [known, unknown]) await send(account, device, body)
        // An imprecise location by the one zone is surely out of the other.
        const asIn = stored.map(({ time, state }) => ({
          time,
          state: state === 'unknown' ? ('in' as const) : state,
        }))
        const expected = [modelSince(stored, fixes), modelSince(asIn, fixes)]
          .filter((since) => since !== null)
          .sort()
        const sinces = (await sincesOf(known)) ?? []
        // Not every stay is known, but none that is known is another.
        for (const found of sinces)
          expect([seed, expected]).toEqual([seed, expect.arrayContaining([found])])
        if (fixes === 1 && !isLate && stored.length > 20)
          expect([seed, sinces]).toEqual([seed, expected])
      }
      const raised = await raisedBy(account, known, rules)
      expect([seed, raised]).toEqual([seed, await raisedBy(account, unknown, rules)])
    }
  },
  240_000,
)

test('a late location that another isolate stores deep in a stay is noticed', async () => {
  const { account, rules } = await setUp(60)
  const device = await createDevice(account)
  const from = Date.now() - 300 * MINUTE
  await send(account, device, [fixAt(from - MINUTE, 'out'), fixAt(from, 'in')])
  for (let minute = 1; minute < 50; minute++)
    await send(account, device, fixAt(from + minute * MINUTE, 'in'))
  // As another isolate does it: this one remembers the stay as it was.
  const next = from + 31 * MINUTE
  await storeTrack(device, { from: next - 1, count: 1, step: 1, state: 'out' })
  const record = JSON.stringify((await recordOf(device))?.map(([name]) => [name, next]))
  await env.DB.prepare(
    'UPDATE stays SET record = ?1 WHERE device_key = (SELECT key FROM devices WHERE id = ?2)',
  )
    .bind(record, device)
    .run()
  await send(account, device, fixAt(from + 60 * MINUTE, 'in'))
  expect(await raisedBy(account, device, rules)).toEqual([[], []])
  await send(account, device, fixAt(next + 60 * MINUTE, 'in'))
  const reached = [iso(next + 60 * MINUTE)]
  expect(await raisedBy(account, device, rules)).toEqual([reached, reached])
}, 60_000)

test.each([true, false])(
  'a report that is cut off leaves a true stay (stored: %s)',
  async (is) => {
    const { account, rules } = await setUp(60)
    const device = await createDevice(account)
    const from = Date.now() - 300 * MINUTE
    await send(account, device, [fixAt(from - MINUTE, 'out'), fixAt(from, 'in')])
    const pattern = /INSERT INTO .?locations/i
    const { db } = failExecutions(env.DB, { pattern, times: 1, isCommitted: is })
    const left = { time: from + 30 * MINUTE, state: 'out' } as const
    await expect(costOf(account, device, { ...left, db })).rejects.toThrow()
    expect(await sincesOf(device)).toEqual(is ? [] : [from, from])
    await send(account, device, fixAt(from + 31 * MINUTE, 'in'))
    await send(account, device, fixAt(from + 61 * MINUTE, 'in'))
    const reached = is ? [] : [iso(from + 61 * MINUTE)]
    expect(await raisedBy(account, device, rules)).toEqual([reached, reached])
  },
  60_000,
)

test('reports of one device at the same time keep its stay right', async () => {
  const { account, rules } = await setUp(60)
  const device = await createDevice(account)
  const from = Date.now() - 300 * MINUTE
  await send(account, device, [fixAt(from - MINUTE, 'out'), fixAt(from, 'in')])
  const minutes = Array.from({ length: 20 }, (_, at) => at + 1)
  await Promise.all(
    minutes.map((minute) => {
      evictMemory(account.id, [device, null])
      return send(account, device, fixAt(from + minute * MINUTE, minute === 7 ? 'out' : 'in'))
    }),
  )
  const since = from + 8 * MINUTE
  expect(await sincesOf(device)).toEqual([since, since])
  await send(account, device, fixAt(from + 67 * MINUTE, 'in'))
  expect(await raisedBy(account, device, rules)).toEqual([[], []])
  await send(account, device, fixAt(from + 68 * MINUTE, 'in'))
  const reached = [iso(from + 68 * MINUTE)]
  expect(await raisedBy(account, device, rules)).toEqual([reached, reached])
}, 60_000)

test('a stay of before a rule was disabled is forgotten, and a stay goes with its device', async () => {
  const { account, rules } = await setUp(60)
  const device = await createDevice(account)
  const from = Date.now() - 300 * MINUTE
  const enable = async (enabled: boolean) => {
    for (const rule of rules)
      await account.call('PATCH', `/api/rules/${rule}`, { body: { enabled } })
  }
  await send(account, device, [fixAt(from - MINUTE, 'out'), fixAt(from, 'in')])
  await enable(false)
  await send(account, device, fixAt(from + 30 * MINUTE, 'out'))
  await enable(true)
  await send(account, device, fixAt(from + 40 * MINUTE, 'in'))
  await send(account, device, fixAt(from + 61 * MINUTE, 'in'))
  expect(await sincesOf(device)).toEqual([from + 40 * MINUTE, from + 40 * MINUTE])
  const key = await env.DB.prepare('SELECT key FROM devices WHERE id = ?')
    .bind(device)
    .first<number>('key')
  expect((await account.call('DELETE', `/api/devices/${device}`)).status).toBeLessThan(300)
  const left = env.DB.prepare('SELECT count(*) AS n FROM stays WHERE device_key = ?').bind(key)
  expect(await left.first<number>('n')).toBe(0)
}, 60_000)

test('a stay of before a device left the rule is forgotten when it is back', async () => {
  const { account, rules } = await setUp(60)
  const [device, another] = [await createDevice(account), await createDevice(account)]
  const from = Date.now() - 300 * MINUTE
  const watch = async (devices: string[]) => {
    for (const rule of rules)
      await account.call('PATCH', `/api/rules/${rule}`, { body: { devices } })
  }
  await watch([device, another])
  await send(account, device, [fixAt(from - MINUTE, 'out'), fixAt(from, 'in')])
  expect(await sincesOf(device)).toEqual([from, from])
  await watch([another])
  await send(account, device, fixAt(from + 30 * MINUTE, 'out'))
  for (const minutes of [40, 41, 42, 43, 44])
    await send(account, device, fixAt(from + minutes * MINUTE, 'in'))
  await watch([device, another])
  await send(account, device, fixAt(from + 61 * MINUTE, 'in'))
  expect(await sincesOf(device)).toEqual([from + 40 * MINUTE, from + 40 * MINUTE])
}, 60_000)

test('a stay whose locations are all deleted is over', async () => {
  const { account, rules } = await setUp(60)
  const device = await createDevice(account)
  const from = Date.now() - 300 * MINUTE
  await send(account, device, [fixAt(from - MINUTE, 'out'), fixAt(from, 'in')])
  await send(account, device, fixAt(from + 60 * MINUTE, 'in'))
  const reached = [iso(from + 60 * MINUTE)]
  expect(await raisedBy(account, device, rules)).toEqual([reached, reached])
  await env.DB.prepare(
    'DELETE FROM locations WHERE device_key = (SELECT key FROM devices WHERE id = ?)',
  )
    .bind(device)
    .run()
  evictMemory(account.id, [device, null])
  await send(account, device, fixAt(from + 200 * MINUTE, 'in'))
  expect(await raisedBy(account, device, rules)).toEqual([reached, reached])
  expect(await sincesOf(device)).toEqual([from + 200 * MINUTE, from + 200 * MINUTE])
}, 60_000)

test('a device that no rule about minutes is for has no stay', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const zone = await createZone(account)
  await createRule(account, { when: { type: 'enters', zones: [zone] } })
  const from = Date.now() - 300 * MINUTE
  await send(account, device, [fixAt(from, 'out'), fixAt(from + MINUTE, 'in')])
  expect(await recordOf(device)).toBeNull()
})

/** A rule about standing for a day. */
const setUpStands = async (minutes = 1440) => {
  const account = await openAccount({ licenses: 20 })
  const rules = [await createRule(account, { when: { type: 'stands', minutes } })]
  await backdate(account)
  return { account, rules, device: await createDevice(account) }
}

/** As `storeTrack` has them. */
const inPlace = (from: number, count: number, step: number) =>
  Array.from({ length: count }, (_, at) =>
    fixAt(from + at * step, 'in', {
      latitude: (at % 7) * 5e-6,
      longitude: 0.001 + (at % 5) * 5e-6,
    }),
  )

test.each([SECOND, 10 * SECOND])(
  'a device that stands for a day is raised at its time, by few rows, every %i ms',
  async (step) => {
    const { account, rules, device } = await setUpStands()
    const from = Date.now() - 86_400_000 - 20 * MINUTE
    const count = 86_400_000 / step
    const sent = [fixAt(from - MINUTE, 'out'), ...inPlace(from, 1100, step)]
    for (let at = 0; at < sent.length; at += 600)
      await send(account, device, sent.slice(at, at + 600))
    expect(await sincesOf(device)).toEqual([from])
    const record = await recordOf(device)
    await storeTrack(device, { from: from + 1100 * step, count: count - 1101, step, state: 'in' })
    evictMemory(account.id, [device, null])
    const costAt = (at: number) => costOf(account, device, { time: from + at * step, state: 'in' })
    const before = await costAt(count - 1)
    // Raises the alert.
    await send(account, device, fixAt(from + count * step, 'in'))
    evictMemory(account.id, [device, null])
    const costs = [before, await costAt(count + 1), await costAt(500.5)]
    expect(Math.max(...costs.map(({ read }) => read))).toBeLessThan(150)
    // The locations and, with the late one, the last contact.
    expect(costs.map(({ written }) => written)).toEqual([1, 1, 2])
    expect(await recordOf(device)).toEqual(record)
    const reached = iso(from + 86_400_000)
    expect(await raisedBy(account, device, rules)).toEqual([[reached]])
    // Elsewhere, and back: the record goes, and what follows raises nothing yet.
    await send(account, device, fixAt(from + (count + 2) * step, 'out'))
    expect(await recordOf(device)).toEqual([])
    await send(account, device, fixAt(from + (count + 3) * step, 'in'))
    expect(await raisedBy(account, device, rules)).toEqual([[reached]])
  },
  180_000,
)

test('a device that stands is raised at its time by a report with a late location too', async () => {
  const { account, rules, device } = await setUpStands(300)
  const from = Date.now() - 320 * MINUTE
  const sent = [fixAt(from - MINUTE, 'out'), ...inPlace(from, 1100, SECOND)]
  for (let at = 0; at < sent.length; at += 600)
    await send(account, device, sent.slice(at, at + 600))
  const rest = { from: from + 1100 * SECOND, count: 16_900, step: SECOND, state: 'in' } as const
  await storeTrack(device, rest)
  evictMemory(account.id, [device, null])
  const reached = from + 300 * MINUTE
  await send(account, device, [fixAt(from + 500_500, 'in'), fixAt(reached, 'in')])
  await send(account, device, fixAt(reached + SECOND, 'in'))
  expect(await raisedBy(account, device, rules)).toEqual([[iso(reached)]])
}, 60_000)

test('a device that stands again after it left is raised again', async () => {
  const { account, rules, device } = await setUpStands(180)
  const from = Date.now() - 500 * MINUTE
  const sendPlace = async (at: number) => {
    const sent = [fixAt(at - MINUTE, 'out'), ...inPlace(at, 1100, SECOND)]
    for (let next = 0; next < sent.length; next += 600)
      await send(account, device, sent.slice(next, next + 600))
    const rest = { from: at + 1100 * SECOND, count: 9650, step: SECOND, state: 'in' } as const
    await storeTrack(device, rest)
    evictMemory(account.id, [device, null])
    for (const minute of [180, 181]) await send(account, device, fixAt(at + minute * MINUTE, 'in'))
  }
  await sendPlace(from)
  await sendPlace(from + 200 * MINUTE)
  const reached = [iso(from + 180 * MINUTE), iso(from + 380 * MINUTE)]
  expect(await raisedBy(account, device, rules)).toEqual([reached])
}, 120_000)

test('a late location that another isolate stores where a device stands is noticed', async () => {
  const { account, rules, device } = await setUpStands(30)
  const from = Date.now() - 300 * MINUTE
  const sent = inPlace(from, 1100, SECOND)
  for (let at = 0; at < sent.length; at += 600)
    await send(account, device, sent.slice(at, at + 600))
  // As another isolate does it: this one remembers the stand as it was.
  const left = from + 900_500
  await storeTrack(device, { from: left, count: 1, step: 1, state: 'out' })
  const [[name, , ...place] = ['', 0]] = ((await recordOf(device)) ?? []) as [string, number][]
  const previous = [left, 0, 0.1, null]
  const record = JSON.stringify([[name, left + 500, ...place.slice(0, 4), previous]])
  await env.DB.prepare(
    'UPDATE stays SET record = ?1 WHERE device_key = (SELECT key FROM devices WHERE id = ?2)',
  )
    .bind(record, device)
    .run()
  await send(account, device, fixAt(from + 30 * MINUTE, 'in'))
  expect(await raisedBy(account, device, rules)).toEqual([[]])
  await send(account, device, fixAt(left + 500 + 30 * MINUTE, 'in'))
  expect(await raisedBy(account, device, rules)).toEqual([[iso(left + 500 + 30 * MINUTE)]])
}, 60_000)

test('devices that stand in a report that may not read them all raise later', async () => {
  const account = await openAccount({ licenses: 60 })
  const rules = [await createRule(account, { when: { type: 'stands', minutes: 60 } })]
  await backdate(account)
  const devices = await Promise.all(Array.from({ length: 60 }, () => createDevice(account)))
  const from = Date.now() - 300 * MINUTE
  const step = 30 * SECOND
  for (const device of devices) {
    await storeTrack(device, {
      from: from - 1000 * SECOND,
      count: 1000,
      step: SECOND,
      state: 'out',
    })
    await storeTrack(device, { from, count: 119, step, state: 'in' })
  }
  for (const minutes of [60, 60.5, 61, 90, 91, 120]) {
    const fix = fixAt(from + minutes * MINUTE, 'in')
    const locations = devices.map((deviceId) => ({ deviceId, ...fix }))
    const { body } = await account.call('POST', '/api/locations', { body: { locations } })
    expect(body).toMatchObject({ accepted: devices.length })
  }
  const raised = await Promise.all(devices.map((device) => raisedBy(account, device, rules)))
  expect(raised.flat().map((times) => times.length)).toEqual(Array(60).fill(1))
  // The others begin with the half hour that is read.
  expect(new Set(raised.flat(2))).toEqual(new Set([60, 90].map((at) => iso(from + at * MINUTE))))
}, 60_000)

test('a device that moves, or stands with few locations, writes nothing but those', async () => {
  const { account, device } = await setUpStands(60)
  const from = Date.now() - 300 * MINUTE
  for (let minute = 0; minute < 20; minute++) {
    const state = minute > 10 || minute % 2 ? 'in' : 'out'
    const { written } = await costOf(account, device, { time: from + minute * MINUTE, state })
    expect(written).toBe(1)
  }
  expect(await recordOf(device)).toBeNull()
}, 60_000)

test('a stay that another isolate has begun meanwhile is noticed', async () => {
  const { account, device } = await setUpStands(60)
  const from = Date.now() - 300 * MINUTE
  await send(account, device, fixAt(from, 'in'))
  expect(await recordOf(device)).toBeNull()
  await env.DB.prepare(
    `INSERT INTO stays (device_key, account_id, record)
      SELECT key, account_id, '[["other",1]]' FROM devices WHERE id = ?`,
  )
    .bind(device)
    .run()
  // This isolate remembers none; by what is stored, the report ends the stay of no rule.
  await send(account, device, fixAt(from + MINUTE, 'in'))
  expect(await recordOf(device)).toEqual([])
})
