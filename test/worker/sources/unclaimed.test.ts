import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { garminEvent, garminPush, makeSource, type TestSource } from '../../support/sources.ts'

const IMEI = '300434060000000'
const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000
const unclaimedOf = async (account: TestAccount, { id }: TestSource, query = '') =>
  (await account.call('GET', `/api/sources/${id}/unclaimed${query}`)).body
const claim = (account: TestAccount, { id }: TestSource, body: object, identifier = IMEI) =>
  account.call('POST', `/api/sources/${id}/unclaimed/${identifier}/claim`, { body })
const flespiPush = (messages: object[]) => ({
  contentType: 'application/json',
  body: JSON.stringify(messages),
})
const fix = (ident: string, timestamp: number) => ({
  ident,
  timestamp,
  'position.latitude': 1,
  'position.longitude': 2,
})

test('a source counts what waits in it, to at most 100', async () => {
  const account = await openAccount()
  const [source, other] = [await makeSource(account, 'flespi'), await makeSource(account, 'flespi')]
  const countsOf = async ({ id }: TestSource) => {
    const { unclaimed, failures } = (await account.call('GET', `/api/sources/${id}`)).body.source
    return [unclaimed, failures]
  }
  const fixes = Array.from({ length: 101 }, (_, at) => fix(`u${at}`, Date.now() / 1000 - at))
  await source.push(flespiPush(fixes.slice(0, 2)))
  await source.push({ contentType: 'application/json', body: '{' })
  expect(await countsOf(source)).toEqual([2, 1])
  expect(await countsOf(other)).toEqual([0, 0])
  await source.push(flespiPush(fixes))
  const { sources } = (await account.call('GET', '/api/sources')).body
  expect(sources).toMatchObject([
    { id: source.id, unclaimed: 100, failures: 1 },
    { id: other.id, unclaimed: 0, failures: 0 },
  ])
})

describe('a device that is known by its former identifier', () => {
  const locate = (tid: string) => ({
    query: '?u=kim&d=phone',
    contentType: 'application/json',
    body: JSON.stringify({
      _type: 'location',
      tid,
      lat: 47.5,
      lon: 8.7,
      tst: Math.floor(Date.now() / 1000),
      t: '!',
    }),
  })
  const makeDevice = async (account: TestAccount, identifier: string) =>
    (await account.call('POST', '/api/devices', { body: { name: identifier, identifier } })).body
      .device.id
  const locationsOf = async (account: TestAccount, id: string) =>
    (await account.call('GET', `/api/devices/${id}/locations`)).body.locations

  test('takes what is reported by the new one, and its alerts', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'owntracks', { newDevices: 'create' })
    const id = await makeDevice(account, 'KB')
    expect((await source.push(locate('KB'))).status).toBe(200)
    expect(await locationsOf(account, id)).toHaveLength(1)
    const { alerts } = (await account.call('GET', '/api/alerts')).body
    expect(alerts).toMatchObject([{ deviceId: id, alerts: ['Movement'] }])
    expect((await unclaimedOf(account, source)).unclaimed).toEqual([])
    expect((await account.call('GET', '/api/devices')).body.devices).toHaveLength(1)
  })

  test('takes nothing once a device has the new one', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'owntracks')
    const [former, current] = [
      await makeDevice(account, 'KB'),
      await makeDevice(account, 'kim/phone'),
    ]
    expect((await source.push(locate('KB'))).status).toBe(200)
    expect(await locationsOf(account, former)).toEqual([])
    expect(await locationsOf(account, current)).toHaveLength(1)
  })

  test('leaves those of others unclaimed, under the new one', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'owntracks')
    await makeDevice(account, 'KB')
    expect((await source.push(locate('OT'))).status).toBe(200)
    const { unclaimed } = await unclaimedOf(account, source)
    expect(unclaimed).toMatchObject([{ identifier: 'kim/phone', count: 2 }])
  })
})

describe('an identifier that no device has', () => {
  test('waits with its reports, each once, until a new device claims it', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin')
    const old = minutesAgo(180)
    const sent = [
      garminEvent(IMEI, old, { messageCode: 4 }),
      garminEvent(IMEI, minutesAgo(20), { freeText: 'Hello' }),
    ]
    expect((await source.push(garminPush(sent))).status).toBe(200)
    expect((await source.push(garminPush(sent))).status).toBe(200)
    const { unclaimed, dropped } = await unclaimedOf(account, source)
    expect(unclaimed).toMatchObject([
      { identifier: IMEI, count: 4, lastLocation: { latitude: 43.8, longitude: -70.16 } },
    ])
    expect(dropped).toBe(0)
    const { status, body } = await claim(account, source, { device: { name: 'Tern 7' } })
    expect(status).toBe(200)
    expect(body).toMatchObject({ imported: 4, pending: 0, device: { identifier: IMEI } })
    const { locations } = (await account.call('GET', `/api/devices/${body.device.id}/locations`))
      .body
    expect(locations).toHaveLength(2)
    expect((await unclaimedOf(account, source)).unclaimed).toEqual([])
    const { alerts } = (await account.call('GET', '/api/alerts')).body
    expect(alerts).toMatchObject([{ alerts: ['SOSButton'], late: true, deliveries: [] }])
    const events = await account.call('GET', '/api/events?types=message.received')
    expect(events.body.events).toHaveLength(1)
    expect((await claim(account, source, { device: { name: 'x' } })).status).toBe(404)
  })

  test('goes to an existing device, whose further pushes are stored at once', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin')
    await source.push(garminPush([garminEvent(IMEI, minutesAgo(20))]))
    const device = (await account.call('POST', '/api/devices', { body: { name: 'Tern' } })).body
      .device
    expect((await claim(account, source, { deviceId: device.id })).body).toMatchObject({
      imported: 1,
      device: { id: device.id, identifier: IMEI },
    })
    await source.push(garminPush([garminEvent(IMEI, minutesAgo(10))]))
    const { locations } = (await account.call('GET', `/api/devices/${device.id}/locations`)).body
    expect(locations).toHaveLength(2)
    for (const body of [{}, { deviceId: device.id, device: { name: 'x' } }])
      expect((await claim(account, source, body)).status).toBe(400)
  })

  test('is discarded', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin')
    await source.push(garminPush([garminEvent(IMEI, minutesAgo(20))]))
    const path = `/api/sources/${source.id}/unclaimed/${IMEI}`
    expect((await account.call('DELETE', path)).status).toBe(200)
    expect((await account.call('DELETE', path)).status).toBe(404)
    expect((await unclaimedOf(account, source)).unclaimed).toEqual([])
  })

  test('with an SOS notifies the administrators, once', async () => {
    const account = await openAccount()
    await account.call('POST', '/api/users', {
      body: {
        name: 'Ana',
        email: 'ana@example.com',
        country: 'PT',
        timeZone: 'Europe/Lisbon',
        privileges: ['admin'],
      },
    })
    const source = await makeSource(account, 'garmin')
    const sos = garminPush([garminEvent(IMEI, minutesAgo(2), { messageCode: 4 })])
    await source.push(sos)
    await source.push(sos)
    const { body } = await account.call('GET', '/api/account/messages')
    expect(body.messages).toMatchObject([{ kind: 'notice', to: 'ana@example.com' }])
    expect(body.messages[0].subject).toContain(IMEI)
  })
})

describe('a flood of unknown identifiers', () => {
  test('stays within 1,000 identifiers and 100 reports, and is counted', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'flespi')
    const now = Math.floor(Date.now() / 1000)
    for (let page = 0; page < 3; page++) {
      const messages = Array.from({ length: 500 }, (_, index) =>
        fix(`flood-${page * 500 + index}`, now - index),
      )
      expect((await source.push(flespiPush(messages))).status).toBe(200)
    }
    const many = Array.from({ length: 150 }, (_, index) => fix('flood-0', now - 1000 - index))
    expect((await source.push(flespiPush(many))).status).toBe(200)
    const counts = await env.DB.prepare('SELECT count(*) AS n FROM unclaimed WHERE source_id = ?')
      .bind(source.id)
      .first<{ n: number }>()
    expect(counts?.n).toBe(1000)
    const { unclaimed, dropped } = await unclaimedOf(account, source, '?limit=1')
    expect(unclaimed).toMatchObject([{ identifier: 'flood-0', count: 100 }])
    expect(dropped).toBe(500 + 51)
  })

  test('drops no real tracker: what has not reported for longest goes', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'flespi')
    const now = Math.floor(Date.now() / 1000)
    const flood = Array.from({ length: 999 }, (_, index) => fix(`flood-${index}`, now))
    await source.push(flespiPush([fix('first', now), ...flood.slice(0, 500)]))
    await source.push(flespiPush(flood.slice(500)))
    await source.push(flespiPush([fix('first', now + 1)]))
    await source.push(flespiPush([fix('real', now)]))
    const { results } = await env.DB.prepare(
      'SELECT identifier, (SELECT count(*) FROM unclaimed_reports r WHERE r.source_id = u.source_id AND r.identifier_key = u.identifier_key) AS reports FROM unclaimed u WHERE source_id = ?',
    )
      .bind(source.id)
      .all<{ identifier: string; reports: number }>()
    expect(results).toHaveLength(1000)
    const reportsOf = new Map(results.map(({ identifier, reports }) => [identifier, reports]))
    expect([reportsOf.get('first'), reportsOf.get('real')]).toEqual([2, 1])
  })
})

describe('a source that creates devices', () => {
  test('creates them while there are licenses; the others wait', async () => {
    const account = await openAccount({ licenses: 2 })
    const source = await makeSource(account, 'flespi', { newDevices: 'create' })
    const now = Math.floor(Date.now() / 1000)
    await source.push(flespiPush(['a', 'b', 'c'].map((ident) => fix(ident, now - 60))))
    const { devices } = (await account.call('GET', '/api/devices')).body
    expect(devices.map(({ identifier }: { identifier: string }) => identifier)).toEqual(['a', 'b'])
    expect(devices[0].lastLocation).toMatchObject({ latitude: 1 })
    expect((await unclaimedOf(account, source)).unclaimed).toMatchObject([{ identifier: 'c' }])
  })

  test('creates at most 20 a day', async () => {
    const account = await openAccount({ licenses: 50 })
    const source = await makeSource(account, 'flespi', { newDevices: 'create' })
    const now = Math.floor(Date.now() / 1000)
    const messages = Array.from({ length: 25 }, (_, index) => fix(`n-${index}`, now - 60))
    await source.push(flespiPush(messages))
    expect((await account.call('GET', '/api/devices')).body.devices).toHaveLength(20)
    expect((await unclaimedOf(account, source)).unclaimed).toHaveLength(5)
  })
})

describe('payloads', () => {
  test('that fail are kept with their reason, answered with success, and replayed', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin')
    const reply = await source.push({ body: '{"Events": 7}', contentType: 'application/json' })
    expect(reply.status).toBe(200)
    const path = `/api/sources/${source.id}`
    const { failures } = (await account.call('GET', `${path}/failures`)).body
    expect(failures).toMatchObject([{ reason: '`Events` is missing or is no list.', size: 13 }])
    const raw = (await account.call('GET', `${path}/failures/${failures[0].id}/raw`)).body
    expect(atob(raw.bodyBase64)).toBe('{"Events": 7}')
    const span = { from: new Date(minutesAgo(5)).toISOString(), to: new Date().toISOString() }
    const replayed = await account.call('POST', `${path}/replay`, { body: span })
    expect(replayed.body).toEqual({ success: true, decoded: 0, failed: 1 })
  })

  test('of a source that keeps all are decoded again; nothing is stored twice', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin', { keepRaw: true })
    await account.call('POST', '/api/devices', { body: { name: 'Tern', identifier: IMEI } })
    const sos = garminPush([garminEvent(IMEI, minutesAgo(5), { messageCode: 4 })])
    await source.push(sos)
    const span = { from: new Date(minutesAgo(5)).toISOString(), to: new Date().toISOString() }
    const replayed = await account.call('POST', `/api/sources/${source.id}/replay`, { body: span })
    expect(replayed.body).toEqual({ success: true, decoded: 1, failed: 0 })
    expect((await account.call('GET', '/api/alerts')).body.alerts).toHaveLength(1)
  })

  test('are no sign of life when they are replayed', async () => {
    const account = await openAccount()
    const { body } = await account.call('POST', '/api/devices', {
      body: { name: 'Tern', identifier: IMEI },
    })
    const path = `/api/devices/${body.device.id}`
    const source = await makeSource(account, 'garmin', { keepRaw: true })
    const newer = await makeSource(account, 'garmin')
    const sent = [garminEvent(IMEI, minutesAgo(9)), garminEvent(IMEI, minutesAgo(8))]
    await source.push(garminPush(sent))
    const { point: _, ...contactOnly } = garminEvent(IMEI, minutesAgo(7))
    await newer.push(garminPush([contactOnly]))
    const contactOf = async () => (await account.call('GET', path)).body.device.lastContact
    const sourceOf = async () =>
      (
        await env.DB.prepare('SELECT source_id FROM devices WHERE id = ?')
          .bind(body.device.id)
          .first<{ source_id: string }>()
      )?.source_id
    const contact = await contactOf()
    // The second location is lost, as if its decoder had failed.
    await env.DB.prepare(
      'DELETE FROM locations WHERE time = ? AND device_key = (SELECT key FROM devices WHERE id = ?)',
    )
      .bind(sent[1]?.timeStamp, body.device.id)
      .run()
    const span = { from: new Date(minutesAgo(5)).toISOString(), to: new Date().toISOString() }
    await account.call('POST', `/api/sources/${source.id}/replay`, { body: span })
    const { locations } = (await account.call('GET', `${path}/locations`)).body
    expect(locations).toHaveLength(2)
    expect(locations[1].receivedAt).toBe(locations[0].receivedAt)
    expect(await contactOf()).toBe(contact)
    expect(await sourceOf()).toBe(newer.id)
  })

  test('of many pushes are replayed in pages, those in the span alone', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'flespi', { keepRaw: true })
    const now = Math.floor(Date.now() / 1000)
    for (let index = 0; index < 45; index++)
      await source.push(flespiPush([fix(`d${index % 3}`, now - index), ...(index % 9 ? [] : [{}])]))
    await env.DB.prepare('DELETE FROM unclaimed_reports WHERE source_id = ?').bind(source.id).run()
    const path = `/api/sources/${source.id}/replay`
    const to = new Date().toISOString()
    const body = { from: new Date(minutesAgo(5)).toISOString(), to }
    const replayed = await account.call('POST', path, { body })
    expect(replayed.body).toEqual({ success: true, decoded: 40, failed: 5 })
    const { unclaimed } = await unclaimedOf(account, source)
    expect(unclaimed.map(({ count }: { count: number }) => count)).toEqual([15, 15, 15])
    const later = { from: to, to: new Date(Date.now() + 60_000).toISOString() }
    expect((await account.call('POST', path, { body: later })).body.decoded).toBe(0)
  })

  test('of more than 1,000 pushes are not replayed in one call, and the reply says why', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin')
    await env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
       INSERT INTO source_payloads (id, account_id, source_id, received_at, reason, size)
       SELECT 'pay_1' || printf('%05d', i) || ?2, ?1, ?2, i, 'wrong', 10 FROM n`,
    )
      .bind(account.id, source.id)
      .run()
    const body = { from: new Date(0).toISOString(), to: new Date().toISOString() }
    const refused = await account.call('POST', `/api/sources/${source.id}/replay`, { body })
    expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
      400,
      'span-too-large',
      'The span has more than 1,000 payloads. Choose a shorter one with `from` and `to`.',
    ])
  })

  test('partly understood: the good part is stored, the payload kept', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'flespi')
    const now = Math.floor(Date.now() / 1000)
    await source.push(flespiPush([fix('good', now), { ident: 'bad' }]))
    expect((await unclaimedOf(account, source)).unclaimed).toMatchObject([{ identifier: 'good' }])
    const { failures } = (await account.call('GET', `/api/sources/${source.id}/failures`)).body
    expect(failures).toMatchObject([{ reason: 'Message 2: `timestamp` is missing or is no time.' }])
  })

  test('stay within 20 MB of a source, however small or large each is', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin')
    await env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49999)
       INSERT INTO source_payloads (id, account_id, source_id, received_at, reason, size)
       SELECT 'pay_0' || printf('%05d', i) || ?2, ?1, ?2, i, 'wrong', 262144 FROM n`,
    )
      .bind(account.id, source.id)
      .run()
    await source.push({ body: '{', contentType: 'application/json' })
    const large = JSON.stringify({ Events: 'x'.repeat(100_000) })
    await source.push({ body: large, contentType: 'application/json' })
    const row = await env.DB.prepare(
      'SELECT count(*) AS n, min(received_at) AS oldest FROM source_payloads WHERE source_id = ?',
    )
      .bind(source.id)
      .first<{ n: number; oldest: number }>()
    // 500 bytes are counted for a row; the oldest went first.
    expect(row?.n).toBeGreaterThan(39_900)
    expect(row?.n).toBeLessThan(40_100)
    expect(row?.oldest).toBeGreaterThan(9000)
    const { failures } = (await account.call('GET', `/api/sources/${source.id}/failures?limit=2`))
      .body
    expect(failures.map(({ size }: { size: number }) => size)).toEqual([large.length, 1])
    const raw = await account.call(
      'GET',
      `/api/sources/${source.id}/failures/${failures[0].id}/raw`,
    )
    expect(raw.body.bodyBase64).toBeNull()
  })

  test('of any kind never get a 5xx', async () => {
    const account = await openAccount()
    for (const provider of ['osmand', 'spot', 'rockblock', 'cloudloop']) {
      const source = await makeSource(account, provider)
      for (const body of ['', '\0', '{}', '[]', '<a/>', '<!DOCTYPE a>', '{"id":{}}', 'a=%ff'])
        expect((await source.push({ body, contentType: 'text/plain' })).status).toBeLessThan(500)
    }
  })
})
