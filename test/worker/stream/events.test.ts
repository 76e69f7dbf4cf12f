import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { callerWith, openAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { passTime } from '../../support/feed/feed.ts'
import { listen, namesOf, upgrade } from '../../support/feed/streams.ts'
import { daysAgo, iso } from '../../support/time.ts'
import { createBoundUser } from '../../support/users.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('events', () => {
  test('every open stream gets events in sequence, in the form of the log', async () => {
    const account = await openAccount()
    const streams = await Promise.all([listen(account), listen(account)])
    const device = await createDevice(account, 'Tern 1')
    await account.call('PATCH', `/api/devices/${device}`, { body: { name: 'Tern 2' } })
    await account.call('DELETE', `/api/devices/${device}`)
    for (const stream of streams) {
      await stream.waitForEvents(3)
      expect(namesOf(stream)).toEqual([
        'device.created Tern 1',
        'device.updated Tern 2',
        'device.deleted Tern 2',
      ])
    }
    const log = (await account.call('GET', '/api/events?types=device.*')).body.events
    expect(streams[0]?.events).toEqual(log)
    expect(Object.keys(log[0])).toEqual(['id', 'type', 'time', 'sequence', 'accountId', 'data'])
  })

  test('events of other accounts are not sent', async () => {
    const [mine, other] = await Promise.all([openAccount(), openAccount()])
    const stream = await listen(mine)
    await createDevice(other, 'Theirs')
    await createDevice(mine, 'Mine')
    await stream.waitForEvents(1)
    expect(namesOf(stream)).toEqual(['device.created Mine'])
  })

  test('a report is an event with its newest location, which the log does not store twice', async () => {
    const account = await openAccount()
    const device = await createDevice(account, 'Tern')
    const stream = await listen(account, { query: '?types=location.reported' })
    const at = (minute: number) => iso(daysAgo(1) + minute * 60_000)
    const report = {
      locations: [3, 5, 4].map((minute) => ({
        dateTime: at(minute),
        latitude: minute,
        longitude: 2,
        attributes: { minute },
      })),
    }
    expect(
      (await account.call('POST', `/api/devices/${device}/locations`, { body: report })).status,
    ).toBe(201)
    const [event] = await stream.waitForEvents(1)
    expect(event.data).toMatchObject({
      deviceId: device,
      dateTime: at(5),
      count: 3,
      location: { dateTime: at(5), latitude: 5, longitude: 2, attributes: { minute: 5 } },
    })
    const { results } = await env.DB.prepare(
      `SELECT data FROM events WHERE account_id = ? AND type = 'location.reported'`,
    )
      .bind(account.id)
      .all()
    expect(results.map(({ data }) => JSON.parse(data as string))).toEqual([
      { time: Date.parse(at(5)), count: 3 },
    ])
    const repeated = {
      locations: [
        ...report.locations,
        { dateTime: at(1), latitude: 1, longitude: 2 },
        { dateTime: at(1), latitude: 9, longitude: 2 },
      ],
    }
    await account.call('POST', `/api/devices/${device}/locations`, { body: report })
    await account.call('POST', `/api/devices/${device}/locations`, { body: repeated })
    await stream.waitForEvents(2)
    expect(stream.events[1].data).toMatchObject({
      dateTime: at(1),
      count: 1,
      location: { latitude: 1 },
    })
    await account.call('DELETE', `/api/devices/${device}`)
    const log = (await account.call('GET', '/api/events?types=location.*')).body.events
    expect(log.map((logged: { data: { location: unknown } }) => logged.data.location)).toEqual([
      null,
      null,
    ])
  })
})

describe('filters', () => {
  test('events are filtered by type, device and group', async () => {
    const account = await openAccount()
    const [a, b, c] = [
      await createDevice(account, 'A'),
      await createDevice(account, 'B'),
      await createDevice(account, 'C'),
    ]
    const group = (
      await account.call('POST', '/api/groups', { body: { name: 'North', devices: [b] } })
    ).body.id
    const [types, device, either, nothing] = await Promise.all(
      [
        '?types=key.*,device.deleted',
        `?devices=${a}`,
        `?devices=${a}&groups=${group}`,
        '?groups=grp_none',
      ].map((query) => listen(account, { query })),
    )
    for (const [name, id] of Object.entries({ A: a, B: b, C: c }))
      await account.call('PATCH', `/api/devices/${id}`, { body: { description: name } })
    await account.call('DELETE', `/api/devices/${b}`)
    await account.call('POST', '/api/account/keys', { body: { name: 'K', scopes: ['read'] } })
    await types?.waitForEvents(2)
    await either?.waitForEvents(3)
    expect(types && namesOf(types)).toEqual(['device.deleted B', 'key.created K'])
    expect(device && namesOf(device)).toEqual(['device.updated A'])
    expect(either && namesOf(either)).toEqual([
      'device.updated A',
      'device.updated B',
      'device.deleted B',
    ])
    expect(nothing?.events).toEqual([])
  })

  test('a bound user gets only events of devices that are in its group, deleted ones included', async () => {
    const account = await openAccount()
    const [inside, outside] = [
      await createDevice(account, 'Inside'),
      await createDevice(account, 'Outside'),
    ]
    const group = (
      await account.call('POST', '/api/groups', { body: { name: 'North', devices: [inside] } })
    ).body.id
    const ana = await createBoundUser(account, { group, privileges: ['write'] })
    const stream = await listen(account, { token: ana.token })
    const edit = (id: string, description: string) =>
      account.call('PATCH', `/api/devices/${id}`, { body: { description } })
    await edit(outside, '1')
    await edit(inside, '1')
    // The filter applies the groups at the time of reading, so each event arrives before they change.
    await stream.waitForEvents(1)
    await account.call('PATCH', `/api/groups/${group}`, { body: { devices: [inside, outside] } })
    await edit(outside, '2')
    const own = await createDevice(callerWith(ana.token), 'Own')
    await stream.waitForEvents(3)
    await account.call('DELETE', `/api/devices/${own}`)
    await stream.waitForEvents(4)
    await account.call('PATCH', `/api/groups/${group}`, { body: { devices: [outside] } })
    await edit(inside, '2')
    await account.call('DELETE', `/api/devices/${outside}`)
    await stream.waitForEvents(5)
    expect(namesOf(stream)).toEqual([
      'device.updated Inside',
      'device.updated Outside',
      'device.created Own',
      'device.deleted Own',
      'device.deleted Outside',
    ])
    const log = await ana.call('GET', '/api/events')
    expect(log.body.events.map(({ data }: { data: { name: string } }) => data.name)).not.toContain(
      'Inside',
    )
  })

  test('a change of the user’s group or privileges takes effect within 30 seconds', async () => {
    const account = await openAccount()
    const [a, b] = [await createDevice(account, 'A'), await createDevice(account, 'B')]
    const createGroup = async (name: string, device: string) =>
      (await account.call('POST', '/api/groups', { body: { name, devices: [device] } })).body.id
    const [north, south] = [await createGroup('North', a), await createGroup('South', b)]
    const ana = await createBoundUser(account, { group: north })
    const stream = await listen(account, { token: ana.token })
    await account.call('PATCH', `/api/users/${ana.id}`, { body: { group: south } })
    await passTime(account, 25_000)
    await account.call('PATCH', `/api/devices/${a}`, { body: { description: 'x' } })
    await account.call('PATCH', `/api/devices/${b}`, { body: { description: 'x' } })
    await stream.waitForEvents(1)
    expect(namesOf(stream)).toEqual(['device.updated B'])
    await account.call('PATCH', `/api/users/${ana.id}`, { body: { privileges: [] } })
    await passTime(account, 25_000)
    expect((await stream.waitForClose()).code).toBe(4403)
  })

  test('unknown types and unknown query parameters are rejected', async () => {
    const account = await openAccount()
    const headers = { 'Sec-WebSocket-Protocol': `perigee, bearer.${account.token}` }
    for (const [query, name] of [
      ['?types=nonsense', 'types'],
      ['?types=device', 'types'],
      ['?after=-1', 'after'],
      ['?after=x', 'after'],
      [`?token=${account.token}`, 'token'],
    ]) {
      const response = await upgrade(`/api/stream${query}`, headers)
      const body = (await response.json()) as { errors: { pointer: string }[] }
      expect([response.status, body.errors[0]?.pointer], query).toEqual([
        400,
        expect.stringMatching(`^#/query/${name}`),
      ])
    }
  })
})
