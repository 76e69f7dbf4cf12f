import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { daysAgo, iso } from '../../support/time.ts'

const START = daysAgo(100)

let account: TestAccount
let path: string

const newTrack = async () => `/api/devices/${await createDevice(account)}/locations`
const fill = async (times: number[], more: (index: number) => object = () => ({})) => {
  for (let at = 0; at < times.length; at += 1000) {
    const locations = times.slice(at, at + 1000).map((time, index) => ({
      dateTime: iso(time),
      latitude: 0,
      longitude: 0,
      ...more(at + index),
    }))
    expect((await account.call('POST', path, { body: { locations } })).status).toBe(201)
  }
}
const timesOf = (reply: { body: { locations: { dateTime: string }[] } }) =>
  reply.body.locations.map(({ dateTime }) => Date.parse(dateTime))
/** The same instant with an offset of so many hours. */
const inZone = (at: number, hours: number) =>
  iso(at + hours * 3_600_000).replace('Z', `+0${hours}:00`)
const minutes = (count: number) =>
  Array.from({ length: count }, (_, index) => START + index * 60_000)

beforeEach(async () => {
  account = await openAccount()
  path = await newTrack()
})

describe('a query', () => {
  test('by POST and by GET returns the same, ascending, both ends included', async () => {
    const times = minutes(10)
    await fill(times.toReversed())
    const span = { from: iso(times[2] ?? 0), to: iso(times[5] ?? 0) }
    const posted = await account.call('POST', path, { body: span })
    expect(posted.status).toBe(200)
    expect(timesOf(posted)).toEqual(times.slice(2, 6))
    expect(posted.body.nextCursor).toBeNull()
    const got = await account.call('GET', `${path}?${new URLSearchParams(span)}`)
    expect(got.body).toEqual(posted.body)
    const offset = await account.call(
      'GET',
      `${path}?from=${inZone(times[2] ?? 0, 2)}&to=${inZone(times[5] ?? 0, 1)}`,
    )
    expect(offset.body).toEqual(posted.body)
  })

  test('without from or to is open at that end', async () => {
    const times = minutes(5)
    await fill(times)
    expect(timesOf(await account.call('GET', path))).toEqual(times)
    expect(timesOf(await account.call('GET', `${path}?from=${iso(times[3] ?? 0)}`))).toEqual(
      times.slice(3),
    )
    expect(timesOf(await account.call('POST', path, { body: { to: iso(times[1] ?? 0) } }))).toEqual(
      times.slice(0, 2),
    )
  })

  test('pages exactly while other locations arrive, and a cursor works in POST and GET', async () => {
    const times = minutes(25)
    await fill(times)
    const span = { from: iso(START), to: iso(START + 86_400_000) }
    const seen: number[] = []
    let cursor: string | undefined
    for (let round = 0; ; round++) {
      const page =
        round % 2
          ? await account.call(
              'GET',
              `${path}?${new URLSearchParams({ ...span, limit: '7', ...(cursor && { cursor }) })}`,
            )
          : await account.call('POST', path, {
              body: { ...span, limit: 7, ...(cursor && { cursor }) },
            })
      expect(page.status).toBe(200)
      seen.push(...timesOf(page))
      if (page.body.nextCursor === null) {
        expect(page.headers.get('Link')).toBeNull()
        break
      }
      const next = /^<(.*)>; rel="next"$/.exec(page.headers.get('Link') ?? '')?.[1] ?? ''
      const followed = await account.call('GET', next)
      expect(followed.status).toBe(200)
      cursor = page.body.nextCursor
      await fill([START + 5 * round + 1])
    }
    expect(seen.filter((at) => times.includes(at))).toEqual(times)
    expect(new Set(seen).size).toBe(seen.length)
  })

  test('by GET returns the newest first with order=desc, and pages backwards', async () => {
    const times = minutes(25)
    await fill(times)
    const seen: number[] = []
    let next = `${path}?order=desc&limit=7&from=${iso(times[1] ?? 0)}&to=${iso(times[22] ?? 0)}`
    for (let pages = 0; next !== '' && pages < 9; pages++) {
      const page = await account.call('GET', next)
      expect(page.status).toBe(200)
      seen.push(...timesOf(page))
      next = /^<(.*)>; rel="next"$/.exec(page.headers.get('Link') ?? '')?.[1] ?? ''
      expect(next === '').toBe(page.body.nextCursor === null)
      await fill([START + pages, times[22] ?? 0])
    }
    expect(seen).toEqual(times.slice(1, 23).reverse())
    const [newest] = timesOf(await account.call('GET', `${path}?order=desc&limit=1`))
    expect(newest).toBe(times[24])
    const { nextCursor: cursor } = (await account.call('GET', `${path}?order=desc&limit=1`)).body
    const forwards = await account.call('GET', `${path}?cursor=${encodeURIComponent(cursor)}`)
    expect([forwards.status, forwards.body.code]).toEqual([400, 'invalid-cursor'])
    const ascending = await account.call('GET', `${path}?order=asc`)
    expect(timesOf(ascending)).toEqual(timesOf(await account.call('GET', path)))
  })

  test('with a cursor of another span or device, or a forged one, is 400 with a pointer to it', async () => {
    await fill(minutes(5))
    const span = { from: iso(START), to: iso(START + 86_400_000) }
    const { nextCursor: cursor } = (
      await account.call('POST', path, { body: { ...span, limit: 2 } })
    ).body
    const tries = [
      account.call('POST', path, { body: { ...span, to: iso(START + 1), cursor } }),
      account.call('POST', await newTrack(), { body: { ...span, cursor } }),
      account.call('POST', path, { body: { ...span, cursor: 'WzFd.AAAAAAAAAAAAAAAA' } }),
    ]
    for (const reply of await Promise.all(tries)) {
      expect(reply.status).toBe(400)
      expect(reply.body).toMatchObject({ code: 'invalid-cursor', errors: [{ pointer: '/cursor' }] })
    }
  })

  test.each([
    ['POST', { from: iso(START + 1), to: iso(START) }, '/from'],
    ['POST', { from: 'yesterday', to: iso(START) }, '/from'],
    ['POST', { from: iso(START), to: 7 }, '/to'],
    ['POST', { from: iso(START), to: iso(START), limit: 0 }, '/limit'],
    ['POST', { from: iso(START), to: iso(START), limit: '10' }, '/limit'],
    ['POST', { from: iso(START), to: iso(START), format: 'gpx' }, '/format'],
    ['GET', { from: iso(START + 1), to: iso(START) }, '#/query/from'],
    ['GET', { from: '2026-01-01' }, '#/query/from'],
    ['GET', { limit: '1001' }, '#/query/limit'],
    ['GET', { format: 'shapefile' }, '#/query/format'],
    ['GET', { simplify: '0' }, '#/query/simplify'],
    ['GET', { simplify: '10', limit: '5' }, '#/query/limit'],
    ['GET', { format: 'csv', cursor: 'x' }, '#/query/cursor'],
    ['GET', { colour: 'red' }, '#/query/colour'],
    ['GET', { order: 'newest' }, '#/query/order'],
    ['GET', { order: 'desc', format: 'csv' }, '#/query/order'],
    ['GET', { order: 'desc', simplify: '10' }, '#/query/order'],
  ])('%s %j is 400 and points at %s', async (method, asked, pointer) => {
    const reply =
      method === 'POST'
        ? await account.call('POST', path, { body: asked })
        : await account.call(
            'GET',
            `${path}?${new URLSearchParams(asked as Record<string, string>)}`,
          )
    expect(reply.status).toBe(400)
    expect(reply.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
  })

  test('has shorter pages for large locations, and loses none', async () => {
    const times = minutes(400)
    const attributes = { note: 'x'.repeat(8000) }
    for (let at = 0; at < times.length; at += 100)
      await fill(times.slice(at, at + 100), () => ({ attributes }))
    const first = await account.call('GET', path)
    expect(first.body.locations.length).toBeLessThan(300)
    const rest = await account.call(
      'GET',
      `${path}?cursor=${encodeURIComponent(first.body.nextCursor)}`,
    )
    expect([...timesOf(first), ...timesOf(rest)]).toEqual(times)
    const exported = await account.call('GET', `${path}?format=geojson`)
    expect(exported.body.features).toHaveLength(400)
  })

  test('searches by the key and reads no more rows than it returns', async () => {
    await fill(minutes(2000))
    const batch = vi.spyOn(env.DB, 'batch')
    for (const order of ['asc', 'desc']) {
      batch.mockClear()
      const query = `from=${iso(START + 500 * 60_000)}&to=${iso(START + 1500 * 60_000)}&limit=10`
      await account.call('GET', `${path}?${query}&order=${order}`)
      const results = await (batch.mock.results[0]?.value as Promise<D1Result[]>)
      expect(results[1]?.meta.rows_read).toBeLessThan(50)
    }
    batch.mockRestore()
  })
})

describe('simplify', () => {
  const degreesPerMetre = 1 / 111_195

  test('keeps the ends and what is farther from the line than the tolerance', async () => {
    const offsets = [0, 3, -4, 40, 2, 0]
    await fill(minutes(offsets.length), (index) => ({
      longitude: index / 100,
      latitude: (offsets[index] ?? 0) * degreesPerMetre,
      battery: index,
    }))
    const reply = await account.call('GET', `${path}?simplify=10`)
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ success: true, nextCursor: null })
    expect(reply.body.locations.map(({ battery }: { battery: number }) => battery)).toContain(3)
    expect(reply.body.locations.length).toBeLessThan(offsets.length)
    const all = await account.call('GET', `${path}?simplify=1`)
    expect(all.body.locations).toHaveLength(offsets.length)
    const line = await account.call('GET', `${path}?simplify=100&format=geojson&geometry=line`)
    expect(line.body.features[0].geometry.coordinates).toHaveLength(2)
  })

  test('accepts 50,000 locations and says how to handle more', async () => {
    await fill(minutes(51), (index) => ({ longitude: index / 1000 }))
    const key = await env.DB.prepare('SELECT key FROM devices WHERE id = ?')
      .bind(path.split('/')[3])
      .first('key')
    const more = (count: number) =>
      env.DB.prepare(
        `INSERT INTO locations (device_key, time, latitude, longitude, received_at)
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) SELECT ?1, ?3 + i * 1000, 0, i, 0 FROM n WHERE true ON CONFLICT DO NOTHING`,
      )
        .bind(key, count, START + 86_400_000)
        .run()
    await more(50_000 - 51)
    expect((await account.call('GET', `${path}?simplify=5`)).status).toBe(200)
    await more(50_000 - 50)
    const refused = await account.call('GET', `${path}?simplify=5`)
    expect(refused.status).toBe(400)
    expect(refused.body.errors[0]).toMatchObject({
      pointer: '#/query/simplify',
      detail: expect.stringContaining('from and to'),
    })
    expect(
      (await account.call('GET', `${path}?simplify=5&to=${iso(START + 86_400_000)}`)).status,
    ).toBe(200)
  })
})
