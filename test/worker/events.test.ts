import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openCell } from '../../src/db/open.ts'
import { presentEvent } from '../../src/events/present.ts'
import { readSequences } from '../../src/events/store.ts'
import { sweep } from '../../src/sweep/sweep.ts'
import { openAccount, type TestAccount } from '../support/accounts.ts'
import { createDevice } from '../support/devices.ts'
import {
  type EventBody,
  from,
  headOf,
  logLargeReports,
  logWithoutPoke,
} from '../support/feed/events.ts'
import { createGroup } from '../support/groups.ts'
import { eventually } from '../support/time.ts'
import { createBoundUser } from '../support/users.ts'

afterEach(() => {
  vi.useRealTimers()
})

const DAY = 86_400_000
const list = async (account: Pick<TestAccount, 'call'>, query = '') =>
  (await account.call('GET', `/api/events${query}`)).body
const sequencesIn = ({ events }: { events: EventBody[] }): number[] =>
  events.map(({ sequence }) => sequence)

/** Reads every page of a list. */
const readAllPages = async (
  account: Pick<TestAccount, 'call'>,
  query: string,
): Promise<{ pages: number; events: EventBody[] }> => {
  const events: EventBody[] = []
  let pages = 0
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const page = await list(account, `${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    expect(page.success, page.error).toBe(true)
    events.push(...page.events)
    cursor = page.nextCursor
  }
  return { pages, events }
}

describe('the event log', () => {
  test('can be read from any sequence, so that a consumer catches up', async () => {
    const account = await openAccount()
    await createDevice(account, 'A')
    const seen = (await list(account)).events.at(-1).sequence
    await createDevice(account, 'B')
    await createDevice(account, 'C')
    const missed = await list(account, `?after=${seen}`)
    expect(missed.events.map(({ type, data }: EventBody) => [type, data.name])).toEqual([
      ['device.created', 'B'],
      ['device.created', 'C'],
    ])
    expect(missed).toMatchObject({ success: true, lastSequence: seen + 2, nextCursor: null })
    expect((await list(account, `?after=${seen + 2}`)).events).toEqual([])
    expect((await list(account, '?after=999999')).events).toEqual([])
  })

  test('returns each event once over all pages while others are logged', async () => {
    const account = await openAccount()
    await logWithoutPoke(account, 30)
    const head = await headOf(account)
    const first = await list(account, '?limit=10')
    await logWithoutPoke(account, 5)
    const next = await list(account, `?limit=10&cursor=${encodeURIComponent(first.nextCursor)}`)
    expect([...sequencesIn(first), ...sequencesIn(next)]).toEqual(from(1, 20))
    const { events } = await readAllPages(account, '?limit=7')
    expect(events.map(({ sequence }) => sequence)).toEqual(from(1, head + 5))
  })

  test('finds rare events over several pages, each of which scans a bounded part', async () => {
    const account = await openAccount()
    await logWithoutPoke(account, 11_500)
    await createDevice(account, 'Rare')
    const { pages, events } = await readAllPages(account, '?types=device.created&limit=1000')
    expect(events.map(({ data }) => data.name)).toEqual(['Rare'])
    expect(pages).toBe(3)
  })

  test('has shorter pages for large events', async () => {
    const account = await openAccount()
    await logLargeReports(account, await createDevice(account, 'Tern'), 70)
    const { text } = await account.call('GET', '/api/events')
    expect(text.length).toBeGreaterThan(1_900_000)
    expect(text.length).toBeLessThan(2_200_000)
    const { pages, events } = await readAllPages(account, '?limit=1000')
    expect(sequencesIn({ events })).toEqual(from(1, await headOf(account)))
    expect(pages).toBe(3)
  })

  test('is filtered by type, device and group, and for a confined user by its group', async () => {
    const account = await openAccount()
    const [a, b] = [await createDevice(account, 'A'), await createDevice(account, 'B')]
    const group = (
      await account.call('POST', '/api/groups', { body: { name: 'North', devices: [b] } })
    ).body.id
    const ana = await createBoundUser(account, { group })
    await account.call('PATCH', `/api/devices/${a}`, { body: { description: 'x' } })
    const listed = async (query: string, by: Pick<TestAccount, 'call'> = account) =>
      (await list(by, query)).events.map(({ type, data }: EventBody) => `${type} ${data.name}`)
    expect(await listed('?types=device.updated')).toEqual(['device.updated A'])
    expect(await listed(`?devices=${a}`)).toEqual(['device.created A', 'device.updated A'])
    expect(await listed(`?groups=${group}`)).toEqual(['device.created B'])
    expect(await listed(`?devices=${a}&groups=${group}`)).toEqual([
      'device.created A',
      'device.created B',
      'device.updated A',
    ])
    expect(await listed('', ana)).toEqual(['device.created B'])
    expect(await listed(`?devices=${a}`, ana)).toEqual([])
    await account.call('DELETE', `/api/devices/${b}`)
    expect(await listed('', ana)).toEqual(['device.created B', 'device.deleted B'])
    for (const bad of [
      '?types=device',
      '?types=*.created',
      '?types=webhook.test',
      '?after=1.5',
      '?after=-1',
    ]) {
      expect((await account.call('GET', `/api/events${bad}`)).status, bad).toBe(400)
    }
  })

  test('of some devices is complete and in order over all pages, whichever of them are busy', async () => {
    const account = await openAccount()
    const ids: string[] = []
    for (const name of ['A', 'B', 'C', 'D']) ids.push(await createDevice(account, name))
    const [a = '', b = '', c = '', quiet = ''] = ids
    for (let round = 0; round < 4; round++) {
      await logWithoutPoke(account, 9, 'device.updated', a)
      await logWithoutPoke(account, 1, 'alert.raised', b)
      await logWithoutPoke(account, 30, 'device.updated', c)
    }
    await account.call('DELETE', `/api/devices/${quiet}`)
    const all = (await list(account)).events as EventBody[]
    for (const wanted of [[a], [a, b], [b, quiet, a, 'dev_none'], [a, a], ['dev_none']])
      for (const types of ['', '&types=alert.*,device.created'])
        for (const limit of [1, 3, 7, 1000]) {
          const { events } = await readAllPages(
            account,
            `?devices=${wanted}${types}&limit=${limit}`,
          )
          const expected = all.filter(
            ({ type, data }) =>
              wanted.includes(data.deviceId) && (!types || /^alert|created$/.test(type)),
          )
          expect(events, `${wanted} ${types} ${limit}`).toEqual(expected)
        }
  })

  test('says nothing to a confined user about a device of another group, not even by its pages', async () => {
    const account = await openAccount()
    const [own, hidden] = [
      await createDevice(account, 'Own'),
      await createDevice(account, 'Hidden'),
    ]
    const { id: group } = await createGroup(account, { name: 'North', devices: [own] })
    const ana = await createBoundUser(account, { group })
    await logWithoutPoke(account, 20, 'device.updated', hidden)
    for (const wanted of [hidden, 'dev_none'])
      expect(await list(ana, `?devices=${wanted}&limit=5`)).toMatchObject({
        events: [],
        nextCursor: null,
      })
    expect((await list(ana, `?devices=${hidden},${own}&limit=5`)).events).toHaveLength(1)
  })

  test('replies to a confined user who asks for another group as if it did not exist', async () => {
    const account = await openAccount()
    const device = await createDevice(account, 'Tern')
    const groupOf = async (name: string) =>
      (await account.call('POST', '/api/groups', { body: { name, devices: [device] } })).body.id
    const [own, other] = [await groupOf('Own'), await groupOf('Other')]
    const ana = await createBoundUser(account, { group: own })
    const counts = [own, other, 'grp_none'].map(
      async (group) => (await list(ana, `?groups=${group}`)).events.length,
    )
    expect(await Promise.all(counts)).toEqual([1, 0, 0])
  })

  test('keeps the alert of a deleted device without its text and coordinates', async () => {
    const account = await openAccount()
    const [kept, deleted] = [await createDevice(account, 'A'), await createDevice(account, 'B')]
    const alert = {
      alertName: 'SOSButton',
      text: 'Help',
      dateTime: '2026-11-14T09:30:00.000Z',
      latitude: 1.5,
      longitude: -2.25,
    }
    for (const id of [kept, deleted])
      await account.call('POST', `/api/devices/${id}/alerts`, { body: alert })
    const listed = async () => (await list(account, '?types=alert.raised')).events
    const before = await listed()
    expect(before.map(({ data }: EventBody) => data)).toMatchObject([alert, alert])
    await account.call('DELETE', `/api/devices/${deleted}`)
    const after = await listed()
    expect(after).toEqual([
      before[0],
      { ...before[1], data: { ...before[1].data, text: null, latitude: null, longitude: null } },
    ])
    // Webhooks and streams read the same when they catch up.
    const db = openCell(env, 0)
    const sequences = [before[1].sequence]
    expect((await readSequences(db, account.id, sequences)).map(presentEvent)).toEqual([after[1]])
  })

  test('deletes events after 30 days and never reuses a number', async () => {
    const account = await openAccount()
    await logWithoutPoke(account, 3)
    const now = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: now + 10 * DAY })
    await logWithoutPoke(account, 2)
    const kept = async () => {
      const { results } = await env.DB.prepare(
        'SELECT sequence FROM events WHERE account_id = ? ORDER BY sequence',
      )
        .bind(account.id)
        .all()
      return results.map(({ sequence }) => sequence)
    }
    await sweep(env, now + 29 * DAY)
    expect(await kept()).toEqual(from(1, 6))
    await sweep(env, now + 31 * DAY)
    expect(await kept()).toEqual([5, 6])
    await sweep(env, now + 60 * DAY)
    expect(await kept()).toEqual([])
    await logWithoutPoke(account, 1)
    expect(await kept()).toEqual([7])
  })
})

describe('sequence numbers', () => {
  test('have no gaps, even when the ledger is evicted or crashes', async () => {
    const account = await openAccount({ licenses: 200 })
    const ledger = env.LEDGER.get(env.LEDGER.idFromName(account.id))
    const device = async (n: number) =>
      (await account.call('POST', '/api/devices', { body: { name: `Tern ${n}` } })).status
    const key = async (n: number) =>
      (
        await account.call('POST', '/api/account/keys', {
          body: { name: `K ${n}`, scopes: ['read'] },
        })
      ).status
    const storm = Array.from({ length: 60 }, (_, n) =>
      (n % 3 === 0 ? key(n) : device(n)).catch(() => 500),
    )
    for (let loss = 0; loss < 4; loss++) {
      await new Promise((resolve) => setTimeout(resolve, 25))
      if (loss % 2 === 0) await evictDurableObject(ledger).catch(() => {})
      else await runInDurableObject(ledger, (_, state) => state.abort('crash')).catch(() => {})
    }
    const statuses = await Promise.all(storm)
    await eventually(async () => {
      const { used } = (await account.call('GET', '/api/account')).body.account.licenses
      const { events, lastSequence } = await list(account)
      expect(sequencesIn({ events })).toEqual(from(1, lastSequence))
      expect(events.filter(({ type }: EventBody) => type === 'device.created')).toHaveLength(used)
    })
    const { events } = await list(account)
    expect(new Set(events.map(({ id }: EventBody) => id)).size).toBe(events.length)
    expect(events.length).toBeGreaterThanOrEqual(statuses.filter((status) => status === 201).length)
  })
})
