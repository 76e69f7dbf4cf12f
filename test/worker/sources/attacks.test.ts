import { env, exports } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { noteRequest } from '../../../src/http/admission/pacing.ts'
import { fetchTokenWithScopes, openAccount, type TestAccount } from '../../support/accounts.ts'
import { callWithBindings, failExecutions } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { call } from '../../support/http.ts'
import {
  garminEvent,
  garminPush,
  makeSource,
  sendPush,
  type TestSource,
} from '../../support/sources.ts'
import { createBoundUser } from '../../support/users.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const secretOf = ({ url }: { url: string }) => url.split('/').at(-1) ?? ''
const pathOf = ({ url }: { url: string }) => new URL(url).pathname

/** Everything that the cell stores, as text. */
const dumpCell = async (): Promise<string> => {
  const { results } = await env.DB.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
  ).all<{ name: string }>()
  const tables = await Promise.all(
    results.map(({ name }) => env.DB.prepare(`SELECT * FROM "${name}"`).all()),
  )
  return JSON.stringify(tables.map((table) => table.results))
}

describe('the secret of an address', () => {
  test('is in no problem, whatever goes wrong', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin')
    const path = pathOf(source)
    const failing = failExecutions(env.DB, { pattern: /unclaimed/, times: 99 })
    const unavailable = new Error('D1_ERROR: out of order')
    const broken = failExecutions(env.DB, { pattern: /unclaimed/, times: 99, error: unavailable })
    const body = { Version: '2.0', Events: [{ imei: '1', messageCode: 0, timeStamp: Date.now() }] }
    const written: string[] = []
    for (const method of ['log', 'warn', 'error'] as const)
      vi.spyOn(console, method).mockImplementation((line) => void written.push(String(line)))
    const replies = [
      await callWithBindings({ DB: failing.db }, 'POST', path, { body }),
      await callWithBindings({ DB: broken.db }, 'POST', path, { body }),
      await call('POST', path, { body: 'x'.repeat(300_000) }),
      ...(await Promise.all(
        ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'].map((method) => call(method, path)),
      )),
      ...(await Promise.all(
        [
          `${path}/`,
          `${path}/more`,
          `${path}x`,
          `${path}%00`,
          `/in//${secretOf(source)}`,
          `/${path}`,
          `/api${path}`,
          path.replace('/in/', '/IN/'),
        ].map((wrong) => call('GET', wrong)),
      )),
    ]
    expect(replies.map(({ status }) => status).filter((status) => status >= 500)).toHaveLength(2)
    for (const { text, headers } of replies) {
      expect(text).not.toContain(secretOf(source))
      expect(JSON.stringify([...headers])).not.toContain(secretOf(source))
    }
    expect(written.length).toBeGreaterThan(10)
    expect(written.join('')).not.toContain(secretOf(source))
  })

  test('is in no replayed answer; neither it nor a secret of the settings is in D1', async () => {
    const account = await openAccount()
    const settings = { userName: 'fleet', password: 'a-secret-of-the-provider' }
    const body = { name: 'RB', provider: 'rockblock', keepRaw: true, settings }
    const headers = { 'Idempotency-Key': 'make' }
    const first = await account.call('POST', '/api/sources', { body, headers })
    const again = await account.call('POST', '/api/sources', { body, headers })
    expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    expect(again.body).toEqual({ ...first.body, url: null })
    const { source, url } = first.body
    const path = `/api/sources/${source.id}`
    await sendPush(url, { body: '{}', contentType: 'application/json' })
    const rotated = await account.call('POST', `${path}/rotate`, {
      headers: { 'Idempotency-Key': 'turn' },
    })
    const replayed = await account.call('POST', `${path}/rotate`, {
      headers: { 'Idempotency-Key': 'turn' },
    })
    expect(replayed.body.url).toBeNull()
    for (const change of [{ name: 'A' }, { settings: { password: 'another-secret' } }]) {
      const { text } = await account.call('PATCH', path, { body: change })
      expect(text).not.toMatch(/a-secret|another-secret/)
    }
    const stored = await dumpCell()
    expect(stored).toContain(source.id)
    for (const secret of [secretOf({ url }), secretOf(rotated.body), 'a-secret', 'another-secret'])
      expect(stored).not.toContain(secret)
  })

  test('that is wrong gets the reply of an address that does not exist', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'osmand')
    const disabled = await makeSource(account, 'osmand', { enabled: false })
    const other = await makeSource(await openAccount(), 'osmand')
    const path = pathOf(source)
    const paths = [
      `${path.slice(0, -1)}${path.endsWith('0') ? '1' : '0'}`,
      `/in/${source.id}/${secretOf(other)}`,
      `/in/${source.id}/${'é'.repeat(40)}`,
      `/in/${source.id}/x`,
      `/in/src_0000000000000000000000/${secretOf(source)}`,
      `/in/x/${secretOf(source)}`,
      pathOf(disabled),
    ]
    const replies = await Promise.all(
      paths.map((wrong) => call('GET', `${wrong}?id=7&lat=1&lon=1`)),
    )
    for (const { status, body } of replies)
      expect([status, body.code]).toEqual([404, 'route-not-found'])
  })
})

describe('another account', () => {
  const routesOf = ({ id }: TestSource): [string, string, object?][] => [
    ['GET', `/api/sources/${id}`],
    ['PATCH', `/api/sources/${id}`, { enabled: false }],
    ['PUT', `/api/sources/${id}`, { name: 'x', provider: 'osmand' }],
    ['DELETE', `/api/sources/${id}`],
    ['POST', `/api/sources/${id}/rotate`],
    ['GET', `/api/sources/${id}/unclaimed`],
    ['POST', `/api/sources/${id}/unclaimed/phone/claim`, { device: { name: 'x' } }],
    ['DELETE', `/api/sources/${id}/unclaimed/phone`],
    ['GET', `/api/sources/${id}/failures`],
    [
      'POST',
      `/api/sources/${id}/replay`,
      { from: '2026-01-01T00:00:00Z', to: new Date().toISOString() },
    ],
  ]

  test('finds nothing of a source, and changes nothing', async () => {
    const source = await makeSource(await openAccount(), 'osmand')
    await source.push({ query: '?id=phone&lat=1&lon=1' })
    const other = await openAccount()
    for (const [method, path, body] of routesOf(source)) {
      const reply = await other.call(method, path, body ? { body } : {})
      expect([path, reply.status]).toEqual([path, 404])
    }
    expect((await source.push({ query: '?id=phone&lat=1&lon=1' })).status).toBe(200)
  })

  test('with the same identifier gets none of its pushes', async () => {
    const [mine, other] = [await openAccount(), await openAccount()]
    const source = await makeSource(mine, 'osmand')
    const device = await createDevice(other, { identifier: 'phone' })
    await source.push({ query: '?id=phone&lat=1&lon=1&alarm=sos' })
    expect((await other.call('GET', `/api/devices/${device}/locations`)).body.locations).toEqual([])
    expect((await other.call('GET', '/api/alerts')).body.alerts).toEqual([])
    const claim = `/api/sources/${source.id}/unclaimed/phone/claim`
    const stolen = await mine.call('POST', claim, { body: { deviceId: device } })
    expect(stolen.body.code).toBe('device-not-found')
  })
})

describe('within the account', () => {
  const quarantineOne = async (account: TestAccount, identifier: string) => {
    const source = await makeSource(account, 'osmand')
    const device = await createDevice(account, { name: identifier, identifier })
    await source.push({ query: `?id=${identifier}&lat=0&lon=0` })
    const path = `/api/devices/${device}/quarantine`
    const { quarantine } = (await account.call('GET', path)).body
    return { device, path, ids: quarantine.map(({ id }: { id: string }) => id) }
  }

  test('a confined user sees no sources, and quarantine and commands of the group alone', async () => {
    const account = await openAccount()
    const [inside, outside] = [
      await quarantineOne(account, 'inside'),
      await quarantineOne(account, 'outside'),
    ]
    const { body: group } = await account.call('POST', '/api/groups', {
      body: { name: 'G', devices: [inside.device] },
    })
    const privileges = ['admin']
    const user = await createBoundUser(account, { group: group.id, privileges })
    for (const [method, path] of [
      ['GET', '/api/sources'],
      ['POST', '/api/sources'],
    ] as const) {
      const body = method === 'POST' ? { body: { name: 'x', provider: 'osmand' } } : {}
      expect((await user.call(method, path, body)).status).toBe(403)
    }
    expect((await user.call('GET', inside.path)).body.quarantine).toHaveLength(1)
    expect((await user.call('GET', outside.path)).status).toBe(404)
    for (const action of ['release', 'discard']) {
      const body = { ids: outside.ids }
      expect((await user.call('POST', `${outside.path}/${action}`, { body })).status).toBe(404)
      // The ids of another device do nothing at one's own.
      await user.call('POST', `${inside.path}/${action}`, { body })
    }
    expect((await account.call('GET', outside.path)).body.quarantine).toHaveLength(1)
    const commands = `/api/devices/${outside.device}/commands`
    expect((await user.call('GET', commands)).status).toBe(404)
    const send = `/api/devices/${outside.device}/sendCommand`
    expect((await user.call('POST', send, { body: { command: 'Hi' } })).status).toBe(404)
  })

  test('a token that reads may only decode; one that ingests may not even that', async () => {
    const account = await openAccount()
    const { path, ids } = await quarantineOne(account, 'phone')
    const read = await fetchTokenWithScopes(account, ['read'])
    const body = { provider: 'osmand', query: 'id=7&lat=1&lon=1' }
    const decode = (token: string) => call('POST', '/api/sources/decode', { token, body })
    expect((await decode(read)).status).toBe(200)
    expect((await decode(await fetchTokenWithScopes(account, ['ingest']))).status).toBe(403)
    for (const forbidden of ['/api/sources', '/api/sources/src_x/unclaimed'])
      expect((await call('GET', forbidden, { token: read })).status).toBe(403)
    for (const action of ['release', 'discard']) {
      const reply = await call('POST', `${path}/${action}`, { token: read, body: { ids } })
      expect(reply.status).toBe(403)
    }
  })

  test('a source calls no host but those of its provider', async () => {
    const account = await openAccount()
    for (const host of [
      'explore.garmin.com.evil.example',
      'explore.garmin.com@evil.example',
      'explore.garmin.com:8443',
      'EXPLORE.GARMIN.COM/x',
      '127.0.0.1',
      '',
    ]) {
      const body = { name: 'x', provider: 'garmin', settings: { host } }
      const reply = await account.call('POST', '/api/sources', { body })
      expect([host, reply.status]).toEqual([host, 400])
    }
  })
})

describe('payloads', () => {
  const PROVIDERS = [
    'osmand',
    'traccar',
    'garmin',
    'rockblock',
    'rock7',
    'cloudloop',
    'spot',
    'globalstar',
    'owntracks',
    'overland',
    'flespi',
  ]
  const deep = (open: string, close: string) => `${open.repeat(60_000)}${close.repeat(60_000)}`
  const BOMB = `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">${Array.from(
    { length: 9 },
    (_, at) => `<!ENTITY ${'abcdefghij'[at + 1]} "${`&${'abcdefghij'[at]};`.repeat(10)}">`,
  ).join('')}]><messageList><message><esn>&j;</esn></message></messageList>`

  /** Beside other accounts large XML waits, and is refused with a 503 if it would wait too long. */
  const leaveAlone = () => {
    for (const nobody of ['nobody', 'nobody either']) noteRequest(nobody, 0)
  }

  test.each(PROVIDERS)(
    'that are bombs are answered at once by %s, never with 5xx',
    async (provider) => {
      const account = await openAccount()
      const source = await makeSource(account, provider)
      leaveAlone()
      const bodies: [string, string][] = [
        [BOMB, 'text/xml'],
        [deep('<a>', '</a>').slice(0, 250_000), 'text/xml'],
        [`<messageList>${'<message/>'.repeat(20_000)}</messageList>`, 'text/xml'],
        [`<a ${'b="c" '.repeat(30_000)}/>`, 'text/xml'],
        [deep('[', ']'), 'application/json'],
        [`{"Events":[${'{},'.repeat(60_000)}{}]}`, 'application/json'],
        [`[${'0,'.repeat(100_000)}0]`, 'application/json'],
        [`${'a=1&'.repeat(50_000)}`, 'application/x-www-form-urlencoded'],
        [`{"__proto__":{"id":"x"},"id":"${'x'.repeat(1000)}"}`, 'application/json'],
        ['\u0000\ud800', 'application/json'],
      ]
      for (const [body, contentType] of bodies) {
        const startedAt = Date.now()
        const { status } = await source.push({ body, contentType })
        expect([contentType, body.slice(0, 20), status < 500]).toEqual([
          contentType,
          body.slice(0, 20),
          true,
        ])
        expect(Date.now() - startedAt).toBeLessThan(20_000)
      }
    },
  )

  test('become at most 64 KB of text; the rest is kept as failed, and alerts stay', async () => {
    const account = await openAccount()
    await createDevice(account, { identifier: '300434060000001' })
    const source = await makeSource(account, 'garmin')
    const text = { messageCode: 3, freeText: 'x'.repeat(10_000) }
    const at = Date.now() - 60_000
    const events = [
      ...Array.from({ length: 9 }, (_, index) => garminEvent('300434060000001', at + index, text)),
      garminEvent('300434060000001', at + 20, { messageCode: 4, freeText: 'Help' }),
    ]
    expect((await source.push(garminPush(events))).status).toBe(200)
    const stored = await env.DB.prepare('SELECT count(*) AS n FROM commands WHERE account_id = ?')
      .bind(account.id)
      .first('n')
    expect(stored).toBe(6)
    expect((await account.call('GET', '/api/alerts')).body.alerts).toHaveLength(1)
    const { failures } = (await account.call('GET', `/api/sources/${source.id}/failures`)).body
    expect(failures[0].reason).toMatch(/64 KB/)
  })

  test('that the database cannot take are kept as failed and answered with success', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin')
    const error = new Error('D1_ERROR: string or blob too big: SQLITE_TOOBIG')
    const { db: DB } = failExecutions(env.DB, { pattern: /unclaimed/, times: 9, error })
    const { body } = garminPush([garminEvent('300434060000002', Date.now() - 60_000)])
    const reply = await callWithBindings({ DB }, 'POST', pathOf(source), { body })
    expect(reply.status).toBe(200)
    const { failures } = (await account.call('GET', `/api/sources/${source.id}/failures`)).body
    expect(failures).toMatchObject([{ reason: expect.stringContaining('too much') }])
  })

  test('that are forged by someone without the key of Rock 7 store nothing', async () => {
    const account = await openAccount()
    const imei = '300234010753370'
    const device = await createDevice(account, { identifier: imei })
    const claims = {
      iss: 'Rock 7',
      imei,
      momsn: '1',
      transmit_time: '26-10-31 10:41:50',
      iridium_latitude: '52.3',
      iridium_longitude: '0.2',
      iridium_cep: '8',
      data: '48656c6c6f',
    }
    const part = (value: unknown) =>
      btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
    const { privateKey } = (await crypto.subtle.generateKey(
      {
        name: 'RSASSA-PKCS1-v1_5',
        modulusLength: 2048,
        publicExponent: new Uint8Array([1, 0, 1]),
        hash: 'SHA-256',
      },
      true,
      ['sign', 'verify'],
    )) as CryptoKeyPair
    const signed = `${part({ alg: 'RS256' })}.${part(claims)}`
    const bytes = await crypto.subtle.sign(
      'RSASSA-PKCS1-v1_5',
      privateKey,
      new TextEncoder().encode(signed),
    )
    const signature = new Uint8Array(bytes).toBase64({ alphabet: 'base64url', omitPadding: true })
    const forgeries = [
      `${signed}.${signature}`,
      `${part({ alg: 'none' })}.${part(claims)}.`,
      `${part({ alg: 'HS256' })}.${part(claims)}.${signature}`,
      'a.b.c',
    ]
    for (const provider of ['rockblock', 'rock7']) {
      const source = await makeSource(account, provider, { settings: { requireJwt: true } })
      for (const body of [{ ...claims }, ...forgeries.map((JWT) => ({ ...claims, JWT }))]) {
        const { status } = await source.push({
          body: JSON.stringify(body),
          contentType: 'application/json',
        })
        expect(status).toBe(200)
      }
      const { failures } = (await account.call('GET', `/api/sources/${source.id}/failures`)).body
      expect(failures).toHaveLength(5)
    }
    expect((await account.call('GET', `/api/devices/${device}/locations`)).body.locations).toEqual(
      [],
    )
    const { device: read } = (await account.call('GET', `/api/devices/${device}`)).body
    expect(read.lastContact).toBeNull()
  })

  test('that are sent without reading the reply do not break the connection', async () => {
    const source = await makeSource(await openAccount(), 'osmand')
    const reply = await exports.default.fetch(`https://perigee.test${pathOf(source)}`, {
      method: 'POST',
      body: 'id=7&lat=1&lon=1',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })
    expect([reply.status, reply.headers.get('Cache-Control')]).toEqual([200, 'no-store'])
    await reply.text()
  })
})
