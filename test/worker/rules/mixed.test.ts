import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { createGroup } from '../../support/groups.ts'
import {
  alertsOf,
  countEntries,
  fixAt,
  random,
  type State,
  start,
} from '../../support/ruleTracks.ts'
import { garminEvent, garminPush, makeSource, type TestSource } from '../../support/sources.ts'
import { createUser } from '../../support/users.ts'
import { createRule, createZone } from '../../support/zones.ts'

/* Rules evaluate locations in whatever way they come in. */

const expired = { limits: { expires: true, expirationDate: '2020-01-01' } }

const setUp = async (rule: object = {}) => {
  const account = await openAccount()
  const zone = await createZone(account)
  const id = await createRule(account, { when: { type: 'enters', zones: [zone] }, ...rule })
  return { account, zone, rule: id, at: start() }
}

/** Lets rules raise alerts of the past. Only before the first report: changes are not noticed. */
const backdate = () =>
  env.DB.batch([
    env.DB.prepare('UPDATE rules SET last_modified = 0'),
    env.DB.prepare('UPDATE zones SET last_modified = 0'),
  ])

const reportMixed = async (account: TestAccount, locations: object[]) => {
  const reply = await account.call('POST', '/api/locations', { body: { locations } })
  expect(reply.status).toBe(200)
  return reply.body
}

type Located = ReturnType<typeof fixAt>

/** One fix as a push of OsmAnd. */
const osmandQuery = (id: string, fix: Located) =>
  `?id=${id}&lat=${fix.latitude}&lon=${fix.longitude}&timestamp=${Date.parse(fix.dateTime)}${
    'accuracy' in fix ? `&accuracy=${fix.accuracy}` : ''
  }`
const pushOsmand = async (source: TestSource, id: string, fix: Located) =>
  expect((await source.push({ query: osmandQuery(id, fix) })).status).toBe(200)

/** Several fixes as one push of Garmin. */
const pushGarmin = async (source: TestSource, imei: string, fixes: Located[]) => {
  const events = fixes.map(({ dateTime, latitude, longitude }) =>
    garminEvent(imei, Date.parse(dateTime), { point: { latitude, longitude, gpsFix: 2 } }),
  )
  expect((await source.push(garminPush(events))).status).toBe(200)
}

const quarantineOf = async (account: TestAccount, device: string) =>
  (await account.call('GET', `/api/devices/${device}/quarantine?limit=1000`)).body.quarantine

const release = (account: TestAccount, device: string, ids: string[]) =>
  account.call('POST', `/api/devices/${device}/quarantine/release`, { body: { ids } })

test('a report of many devices raises the crossings of each, by id and by identifier', async () => {
  const { account, zone, rule, at } = await setUp()
  const [a, b, quiet] = await Promise.all(
    ['a', 'b', 'quiet'].map((identifier) => createDevice(account, { identifier })),
  )
  const gone = await createDevice(account, { identifier: 'gone', ...expired })
  const enter = (name: object, time: number) => [
    { ...name, ...fixAt(time, 'out') },
    { ...name, ...fixAt(time + 1, 'in') },
  ]
  const sent = [
    ...enter({ deviceId: a }, at),
    ...enter({ identifier: 'A' }, at + 10),
    ...enter({ identifier: 'b' }, at),
    ...enter({ deviceId: gone }, at),
    ...enter({ identifier: 'nobody' }, at),
    { deviceId: quiet, ...fixAt(at, 'in') },
  ]
  expect(await reportMixed(account, sent)).toMatchObject({ accepted: 7, refused: 2, unknown: 2 })
  expect(await reportMixed(account, sent)).toMatchObject({ accepted: 0, duplicates: 7 })
  const alerts = await alertsOf(account, a ?? '')
  expect(alerts.map(({ dateTime }: { dateTime: string }) => Date.parse(dateTime) - at)).toEqual([
    1, 11,
  ])
  expect(alerts[0]).toMatchObject({ ruleId: rule, zoneId: zone, alerts: ['ZoneEntered'] })
  expect(await alertsOf(account, b ?? '')).toHaveLength(1)
  for (const device of [quiet, gone]) expect(await alertsOf(account, device ?? '')).toEqual([])
})

test('a rule that was made meanwhile holds for a mixed report and a push', async () => {
  const account = await openAccount()
  const device = await createDevice(account, { identifier: 'x', maxSpeed: 0 })
  const source = await makeSource(account, 'osmand')
  await reportMixed(account, [{ deviceId: device, ...fixAt(start(), 'out') }])
  const zone = await createZone(account)
  await createRule(account, { when: { type: 'enters', zones: [zone] } })
  const at = start()
  await reportMixed(account, [{ deviceId: device, ...fixAt(at + 1, 'in') }])
  await pushOsmand(source, 'x', fixAt(at + 2, 'out'))
  await pushOsmand(source, 'x', fixAt(at + 3, 'in'))
  expect(await alertsOf(account, device)).toHaveLength(2)
})

test('a mixed report raises alerts only of devices that rules are for', async () => {
  const account = await openAccount()
  const zone = await createZone(account)
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => createDevice(account)))
  const { id: group } = await createGroup(account, { name: 'North', devices: [two] })
  const when = { type: 'enters', zones: [zone] }
  await createRule(account, { when, devices: [one], groups: [group] })
  const at = start()
  await reportMixed(
    account,
    [one, two, three].flatMap((deviceId) => [
      { deviceId, ...fixAt(at, 'out') },
      { deviceId, ...fixAt(at + 1, 'in') },
    ]),
  )
  const counts = await Promise.all(
    [one, two, three].map(async (id) => (await alertsOf(account, id ?? '')).length),
  )
  expect(counts).toEqual([1, 1, 0])
})

test('a device that needs more of its track is evaluated by more', async () => {
  const { account, at } = await setUp({ hysteresis: { metres: 0, fixes: 9 } })
  const [near, far] = [await createDevice(account), await createDevice(account)]
  const outside = Array.from({ length: 120 }, (_, index) =>
    fixAt(at + index, index < 20 ? 'out' : 'unknown'),
  )
  for (const deviceId of [near, far])
    await reportMixed(
      account,
      outside.map((fix) => ({ deviceId, ...fix })),
    )
  for (let index = 0; index < 9; index++)
    await reportMixed(account, [
      { deviceId: near, ...fixAt(at + 200 + index, 'in') },
      { deviceId: far, ...fixAt(at + 200 + index, 'out') },
    ])
  expect(await alertsOf(account, near)).toHaveLength(1)
  expect(await alertsOf(account, far)).toHaveLength(0)
})

test('a fix in quarantine moves no rule until it is released, and is raised late then', async () => {
  const { account, at } = await setUp()
  await createUser(account, { notify: { email: true, sms: false } })
  const device = await createDevice(account, { identifier: 'x', maxSpeed: 100 })
  const source = await makeSource(account, 'osmand')
  await backdate()
  const past = at - 7_200_000
  await pushOsmand(source, 'x', fixAt(past, 'out'))
  await pushOsmand(source, 'x', fixAt(past + 1000, 'in'))
  const [quarantined] = await quarantineOf(account, device)
  expect(quarantined).toMatchObject({ reason: 'speed' })
  expect(await alertsOf(account, device)).toEqual([])
  const released = await release(account, device, [quarantined.id])
  expect(released.body).toMatchObject({ released: 1, conflicts: [] })
  expect(await alertsOf(account, device)).toMatchObject([
    { dateTime: new Date(past + 1000).toISOString(), late: true, notifications: [] },
  ])
  expect((await release(account, device, [quarantined.id])).body).toMatchObject({ released: 0 })
  expect(await alertsOf(account, device)).toHaveLength(1)
})

test('an old crossing of an emergency rule is stored, and nobody is notified', async () => {
  const { account, at } = await setUp({ emergency: true })
  await createUser(account, { notify: { email: true, sms: false } })
  await account.call('PATCH', '/api/account', {
    body: { emergencyContacts: [{ name: 'Guard', email: 'guard@example.com' }] },
  })
  await backdate()
  const device = await createDevice(account)
  const past = at - 7_200_000
  await reportMixed(account, [
    { deviceId: device, ...fixAt(past, 'out') },
    { deviceId: device, ...fixAt(past + 1000, 'in') },
  ])
  expect(await alertsOf(account, device)).toMatchObject([{ late: true, deliveries: [] }])
  expect((await account.call('GET', '/api/account/messages')).body.messages).toEqual([])
})

test('three fixes that agree are released and raised', async () => {
  const { account, at } = await setUp()
  const device = await createDevice(account, { identifier: 'x', maxSpeed: 1 })
  const source = await makeSource(account, 'osmand')
  await pushOsmand(source, 'x', fixAt(at, 'out'))
  for (const index of [1, 2, 3]) await pushOsmand(source, 'x', fixAt(at + index, 'in'))
  expect(await quarantineOf(account, device)).toEqual([])
  expect(await alertsOf(account, device)).toHaveLength(1)
})

test('reports that waited to be claimed are evaluated when a device claims them', async () => {
  const { account, at } = await setUp()
  const source = await makeSource(account, 'osmand')
  await pushOsmand(source, 'later', fixAt(at, 'out'))
  await pushOsmand(source, 'later', fixAt(at + 60_000, 'in'))
  const path = `/api/sources/${source.id}/unclaimed/later/claim`
  const claimed = await account.call('POST', path, { body: { device: { name: 'Late' } } })
  expect(claimed.body).toMatchObject({ imported: 2 })
  expect(await alertsOf(account, claimed.body.device.id)).toHaveLength(1)
})

test('what a mixed report assumes of a device is checked when it is stored', async () => {
  const { account, at } = await setUp()
  const device = await createDevice(account, { identifier: 'x' })
  await reportMixed(account, [{ identifier: 'x', ...fixAt(at, 'out') }])
  // Parallel reports of the same device, by both of its names and by the other call.
  const bodies = Array.from({ length: 12 }, (_, index) =>
    fixAt(at + 1 + index, index % 2 ? 'out' : 'in'),
  )
  await Promise.all(
    bodies.flatMap((fix, index) => [
      reportMixed(account, [
        { ...(index % 3 ? { deviceId: device } : { identifier: 'X' }), ...fix },
      ]),
      account.call('POST', `/api/devices/${device}/locations`, { body: fix }),
    ]),
  )
  expect(await alertsOf(account, device)).toHaveLength(6)
})

describe('in any way and order', () => {
  const stateOf = ({ longitude, accuracy }: { longitude: number; accuracy?: number }): State =>
    accuracy ? 'unknown' : longitude < 0.01 ? 'in' : 'out'

  const storedStates = async (account: TestAccount, device: string): Promise<State[]> => {
    const { body } = await account.call('GET', `/api/devices/${device}/locations?limit=1000`)
    return body.locations.map(stateOf)
  }

  const shuffle = <T>(list: T[], next: () => number): T[] =>
    list
      .map((item) => ({ item, key: next() }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item)

  test('alerts equal the crossings of the stored track', async () => {
    const seed = Number((env as { MODEL_SEED?: string }).MODEL_SEED ?? Date.now() % 1e9)
    const next = random(seed)
    const { account } = await setUp()
    await backdate()
    const at = Date.now() - 7_200_000
    const osmand = await makeSource(account, 'osmand')
    const garmin = await makeSource(account, 'garmin')
    const vessels = await Promise.all(
      [0, 0, 500, 500].map(async (maxSpeed, index) => {
        const imei = `30043400000000${index}`
        return { imei, maxSpeed, id: await createDevice(account, { identifier: imei, maxSpeed }) }
      }),
    )
    const fixes = vessels.flatMap((vessel) =>
      Array.from({ length: 60 }, (_, index) => {
        const value = next()
        const state: State = value < 0.42 ? 'in' : value < 0.84 ? 'out' : 'unknown'
        return { vessel, state, fix: fixAt(at + index * 60_000, state) }
      }),
    )
    const left = shuffle(fixes, next)
    const deliver = async (some: typeof fixes): Promise<unknown> => {
      const way = next()
      if (way < 0.3)
        return Promise.all(
          some.map(({ vessel, fix }) =>
            account.call('POST', `/api/devices/${vessel.id}/locations`, { body: fix }),
          ),
        )
      if (way < 0.5)
        return Promise.all(some.map((one) => pushOsmand(osmand, one.vessel.imei, one.fix)))
      if (way < 0.7 && some.every(({ state }) => state !== 'unknown')) {
        const byImei = Map.groupBy(some, ({ vessel }) => vessel.imei)
        return Promise.all(
          [...byImei].map(([imei, own]) =>
            pushGarmin(
              garmin,
              imei,
              own.map(({ fix }) => fix),
            ),
          ),
        )
      }
      const name = ({ id, imei }: (typeof vessels)[0]) =>
        next() < 0.5 ? { deviceId: id } : { identifier: imei }
      return reportMixed(
        account,
        some.map(({ vessel, fix }) => ({ ...name(vessel), ...fix })),
      )
    }
    while (left.length > 0) {
      const parallel = Array.from({ length: 5 }, () => left.splice(0, 1 + Math.floor(next() * 6)))
      const repeated = parallel.filter(() => next() < 0.3)
      await Promise.all([...parallel, ...repeated].filter(({ length }) => length > 0).map(deliver))
    }
    for (const { id, maxSpeed } of vessels) {
      const quarantined = (await quarantineOf(account, id)).map((one: { id: string }) => one.id)
      await Promise.all([...quarantined, ...quarantined].map((one) => release(account, id, [one])))
      const states = await storedStates(account, id)
      expect([seed, states.length]).toEqual([seed, 60])
      expect([seed, maxSpeed, (await alertsOf(account, id)).length]).toEqual([
        seed,
        maxSpeed,
        countEntries(states),
      ])
    }
  }, 120_000)
})
