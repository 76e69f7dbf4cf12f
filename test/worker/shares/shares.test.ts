import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { awaitCostlyTurn, endCostlyTurn } from '../../../src/http/admission/loadShedding.ts'
import { countersOfShare } from '../../../src/sessions/attempts.ts'
import { eraseAccount, openAccount, openSandbox, type TestAccount } from '../../support/accounts.ts'
import { callWithBindings, watchStatements } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { call, callAsOperator } from '../../support/http.ts'
import { eventually, iso } from '../../support/time.ts'
import { createBoundUser } from '../../support/users.ts'

const MINUTE = 60_000
let account: TestAccount
let device: string

const report = (minutesAgo: number, latitude: number, longitude: number) =>
  account.call('POST', `/api/devices/${device}/locations`, {
    body: {
      locations: [{ dateTime: iso(Date.now() - minutesAgo * MINUTE), latitude, longitude }],
    },
  })

afterEach(() => {
  vi.useRealTimers()
})

beforeEach(async () => {
  account = await openAccount()
  device = await createDevice(account, { name: 'Tern "7" <i>', maxSpeed: 0 })
})

const share = async (members: object = {}) => {
  const body = { name: 'Regatta <b>', devices: [device], ...members }
  const reply = await account.call('POST', '/api/shares', { body })
  expect(reply.status, reply.text).toBe(201)
  const { url, share: made } = reply.body
  return { id: made.id as string, path: new URL(url).pathname, made }
}

const readGeoJson = async (path: string) => (await call('GET', `${path}/locations.geojson`)).body
const basic = (password: string) => ({ Authorization: `Basic ${btoa(`anyone:${password}`)}` })

describe('a share', () => {
  test('shows names, places and times, and no id', async () => {
    await report(30, 38.7, -9.1)
    await report(10, 38.71234, -9.12345)
    const { path, made } = await share({ history: 1 })
    expect(path).toMatch(/^\/s\/[0-9a-z]{42}$/)
    expect(made).toMatchObject({ password: null, hasPassword: false, views: 0, lastViewed: null })
    const page = await call('GET', path)
    expect(page.status).toBe(200)
    for (const part of ['Regatta &lt;b&gt;', 'Tern &quot;7&quot; &lt;i&gt;', '38.71234'])
      expect(page.text).toContain(part)
    expect(page.text).not.toMatch(/<script|<i>|<b>|\son\w+=|style=/)
    expect(page.headers.get('Content-Security-Policy')).toContain("default-src 'none'")
    const geojson = await call('GET', `${path}/locations.geojson`)
    expect(geojson.headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect(geojson.headers.get('Content-Type')).toBe('application/geo+json')
    expect(geojson.body.features).toMatchObject([
      {
        geometry: { type: 'Point', coordinates: [-9.12345, 38.71234] },
        properties: { name: 'Tern "7" <i>', time: expect.any(String) },
      },
      {
        geometry: {
          type: 'LineString',
          coordinates: [
            [-9.1, 38.7],
            [-9.12345, 38.71234],
          ],
        },
      },
    ])
    const kml = await call('GET', `${path}/locations.kml`)
    expect(kml.headers.get('Content-Type')).toContain('application/vnd.google-earth.kml+xml')
    expect(kml.text).toContain('<coordinates>-9.12345,38.71234</coordinates>')
    expect(kml.text).toContain('<gx:coord>-9.1 38.7 0</gx:coord>')
    const link = await call('GET', `${path}/link.kml`)
    expect(link.text).toContain(`${path}/locations.kml</href>`)
    for (const { text } of [page, geojson, kml, link])
      expect(text).not.toMatch(/(dev|shr|acc|grp)_[0-9a-z]{20}/)
  })

  test('counts views without an edit', async () => {
    const { id, path } = await share()
    await call('HEAD', path)
    await call('GET', path)
    await eventually(async () => {
      const { body, headers } = await account.call('GET', `/api/shares/${id}`)
      expect(body.share).toMatchObject({ views: 1, lastViewed: expect.any(String) })
      expect(headers.get('ETag')).toMatch(/^"1\./)
    })
  })

  test('shows the middle of a grid cell for all places in it', async () => {
    const { path } = await share({ precision: '1km', history: 3 })
    const other = await share({ precision: '10km' })
    for (const [index, degrees] of [0.0001, 0.0004, 0.0007, 0.0011].entries())
      await report(100 - index, 38.7015 + degrees, -9.1005 + degrees)
    const { features } = await readGeoJson(path)
    expect(features).toHaveLength(1)
    const [, latitude] = features[0].geometry.coordinates
    expect(Math.abs(latitude - 38.702)).toBeLessThan(0.006)
    const [feature] = (await readGeoJson(other.path)).features
    // Nor do times tell when the device came into the cell.
    expect([features[0], feature].map(({ properties }) => properties.time)).toEqual([
      expect.stringMatching(/:\d0:00\.000Z$/),
      expect.stringMatching(/:00:00\.000Z$/),
    ])
    expect(Math.abs(feature.geometry.coordinates[1] - 38.702)).toBeLessThan(0.05)
  })

  test.each([
    ['1km', 10 * MINUTE],
    ['10km', 60 * MINUTE],
  ])(
    'at %s changes only at its rounded times, whenever somebody looks',
    async (precision, step) => {
      const start = Math.floor(Date.now() / step) * step - step
      for (const [time, latitude] of [
        [start, 38],
        [start + step - 2, 39],
      ] as const)
        await report((Date.now() - time) / MINUTE, latitude, -9)
      const delayMinutes = 120
      const shown = start + step + delayMinutes * MINUTE
      const gone = shown + 120 * MINUTE
      // A share for each look: what was seen is kept for some seconds.
      const looks = []
      for (const at of [shown - 2, shown - 1, gone - 2, gone - 1])
        looks.push({ at, ...(await share({ precision, history: 2, delayMinutes })) })
      vi.useFakeTimers({ toFake: ['Date'] })
      const seen = []
      for (const { at, path } of looks) {
        vi.setSystemTime(at)
        seen.push((await readGeoJson(path)).features)
      }
      expect(seen.map(({ length }) => length)).toEqual([0, 2, 2, 1])
      expect(seen[1][0].properties.time).toBe(iso(start))
    },
  )

  test('shows a location only after the delay, and none from before its beginning', async () => {
    await report(90, 38.1, -9.1)
    await report(45, 38.2, -9.2)
    await report(5, 38.3, -9.3)
    const delayed = await share({ delayMinutes: 30, history: 24 })
    const { features } = await readGeoJson(delayed.path)
    expect(features[0].geometry.coordinates).toEqual([-9.2, 38.2])
    expect(JSON.stringify(features)).not.toContain('38.3')
    const begun = await share({
      from: iso(Date.now() - 60 * MINUTE),
      until: iso(Date.now() + MINUTE),
      history: 24,
    })
    expect(JSON.stringify(await readGeoJson(begun.path))).not.toContain('38.1')
  })

  test('of a group shows the devices that are in it', async () => {
    const { body } = await account.call('POST', '/api/groups', { body: { name: 'Boats' } })
    const groupId = body.id
    await report(1, 1, 2)
    const { path, id } = await share({ devices: [], groups: [groupId] })
    expect((await readGeoJson(path)).features).toEqual([])
    await account.call('PATCH', `/api/groups/${groupId}`, { body: { devices: [device] } })
    await account.call('PATCH', `/api/shares/${id}`, { body: { name: 'Boats' } })
    expect((await readGeoJson(path)).features).toHaveLength(1)
  })
})

describe('the same 404 page', () => {
  const pathsOf = (path: string) =>
    ['', '/locations.geojson', '/locations.kml', '/link.kml'].map((rest) => path + rest)

  const expectNone = async (path: string) => {
    const { text } = await call('GET', '/s/nothing')
    for (const one of pathsOf(path)) {
      const reply = await call('GET', one)
      expect([reply.status, reply.text], one).toEqual([404, text])
    }
  }

  test('is shown for wrong, deleted, ended and future addresses', async () => {
    const { id, path } = await share()
    const last = path.endsWith('0') ? '1' : '0'
    await expectNone(path.slice(0, -1) + last)
    await expectNone(`/s/zz${path.slice(5)}`)
    expect((await call('GET', path)).status).toBe(200)
    await account.call('DELETE', `/api/shares/${id}`)
    await expectNone(path)
    await expectNone((await share({ until: iso(Date.now() - 1000) })).path)
    await expectNone((await share({ from: iso(Date.now() + MINUTE) })).path)
  })

  test.each(['ingestOnly', 'disabled'])('is shown while the account is %s', async (status) => {
    const { path } = await share()
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { status } })
    await expectNone(path)
  })

  test('is shown once the account is deleted', async () => {
    const { path } = await share()
    await callAsOperator('DELETE', `/admin/accounts/${account.id}`)
    await expectNone(path)
  })
})

describe('a password', () => {
  test('is needed for the page and the data, and is never shown', async () => {
    const { id, path, made } = await share({ password: 'pässword 1' })
    expect(made).toMatchObject({ password: null, hasPassword: true })
    const stored = await env.DB.prepare('SELECT * FROM shares WHERE id = ?').bind(id).first()
    expect(JSON.stringify(stored)).not.toMatch(/pässword 1/)
    expect(JSON.stringify(stored)).not.toContain(path.slice(3))
    for (const rest of ['', '/locations.geojson', '/locations.kml', '/link.kml']) {
      const reply = await call('GET', path + rest)
      expect([reply.status, reply.headers.get('WWW-Authenticate')]).toEqual([
        401,
        'Basic realm="Share", charset="UTF-8"',
      ])
      expect(reply.text).not.toContain('Regatta')
    }
    const bytes = new TextEncoder().encode('x:pässword 1')
    const headers = { Authorization: `Basic ${bytes.toBase64()}` }
    expect((await call('GET', path, { headers })).status).toBe(200)
    // A body from GET, sent back, keeps it.
    const { body } = await account.call('GET', `/api/shares/${id}`)
    await account.call('PUT', `/api/shares/${id}`, { body })
    expect((await call('GET', path)).status).toBe(401)
    await account.call('PATCH', `/api/shares/${id}`, { body: { password: '' } })
    expect((await call('GET', path)).status).toBe(200)
  })

  test('can be guessed only slowly', async () => {
    const { path } = await share({ password: 'correct horse' })
    // At the same time: one after another, a slow machine would wait for long enough.
    const guesses = Array.from({ length: 30 }, (_, n) => basic(`guess ${n}`))
    const replies = await Promise.all(guesses.map((headers) => call('GET', path, { headers })))
    const statuses = Object.groupBy(replies, ({ status }) => status)
    // A slow machine refuses some hashes too.
    expect(Object.keys(statuses).filter((status) => status !== '503')).toEqual(['401', '429'])
    expect(statuses[401]?.length).toBeLessThan(20)
  })

  test('is limited by network, and costs no query while it has to wait', async () => {
    const { path } = await share({ password: 'correct horse' })
    const limited = (password: string) =>
      callWithBindings({ SIGN_INS_PER_ADDRESS: '2' }, 'GET', path, {
        headers: { ...basic(password), 'CF-Connecting-IP': '192.0.2.81' },
      })
    const replies = [await limited('a'), await limited('b'), await limited('c')]
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 429])
    const statements: string[] = []
    const DB = watchStatements(env.DB, (text) => statements.push(text))
    const guess = (password: string) =>
      callWithBindings({ DB }, 'GET', path, {
        headers: { ...basic(password), 'CF-Connecting-IP': '192.0.2.82' },
      })
    const startedAt = Date.now()
    const guesses = Array.from({ length: 16 }, (_, n) => guess(`guess ${n}`))
    expect((await Promise.all(guesses)).map(({ status }) => status)).toContain(429)
    statements.length = 0
    // A slow machine has waited for long enough by now.
    vi.useFakeTimers({ toFake: ['Date'], now: startedAt })
    expect((await guess('correct horse')).status).toBe(429)
    expect(statements.filter((text) => text.includes('sign_in_attempts'))).toEqual([])
  })

  test('that is guessed holds up no viewers of other shares', async () => {
    const open = await share()
    const { path } = await share({ password: 'correct horse' })
    const address = '192.0.2.83'
    const holder = new Request('https://perigee.test/')
    await awaitCostlyTurn(holder, address, 1)
    // As many as an account has slots for viewers.
    const guesses = Array.from({ length: 8 }, (_, n) =>
      callWithBindings({}, 'GET', path, {
        headers: { ...basic(`guess ${n}`), 'CF-Connecting-IP': address },
      }),
    )
    await scheduler.wait(500)
    const startedAt = Date.now()
    expect((await callWithBindings({}, 'HEAD', open.path)).status).toBe(200)
    expect(Date.now() - startedAt).toBeLessThan(4000)
    endCostlyTurn(holder)
    await Promise.all(guesses)
  })

  test('gives nobody who guesses further attempts when others know it', async () => {
    const { id: shareId, path } = await share({ password: 'correct horse' })
    const levelOf = async () => {
      const { hash } = (await env.DB.prepare('SELECT hash FROM shares WHERE id = ?')
        .bind(shareId)
        .first<{ hash: string }>()) ?? { hash: '' }
      const id = (await countersOfShare(hash, ''))[0]?.[0]?.id
      const row = await env.DB.prepare('SELECT level FROM sign_in_attempts WHERE id = ?')
        .bind(id)
        .first<{ level: number }>()
      return row?.level ?? 0
    }
    for (let n = 0; n < 5; n++) await call('GET', path, { headers: basic(`guess ${n}`) })
    const right = () => call('GET', path, { headers: basic('correct horse') })
    expect((await right()).status).toBe(200)
    expect(await levelOf()).toBeGreaterThan(4.5)
    // While others guess, who knows it waits for nothing, also minutes later.
    const guesses = Array.from({ length: 20 }, (_, n) => basic(`further ${n}`))
    await Promise.all(guesses.map((headers) => call('GET', path, { headers })))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * MINUTE })
    const statements: string[] = []
    const DB = watchStatements(env.DB, (text) => statements.push(text))
    const headers = basic('correct horse')
    expect((await callWithBindings({ DB }, 'GET', path, { headers })).status).toBe(200)
    expect(statements.filter((text) => text.includes('sign_in_attempts'))).toEqual([])
  })
})

describe('a share of a sandbox', () => {
  test('says so in every format', async () => {
    account = await openSandbox()
    const { devices } = (await account.call('GET', '/api/devices')).body
    device = devices[0].id
    const { path } = await share({ name: 'Regatta' })
    const read = async (rest = '') => (await call('GET', path + rest)).text
    const page = await read()
    expect(page).toContain('<h1>[Sandbox] Regatta</h1>')
    expect(page).toContain('<p>This is a sandbox')
    for (const rest of ['/locations.kml', '/link.kml'])
      expect(await read(rest)).toContain('<name>[Sandbox] Regatta</name>')
    const geojson = JSON.parse(await read('/locations.geojson'))
    expect(geojson).toMatchObject({ name: '[Sandbox] Regatta', sandbox: true })
    await eraseAccount(account)
  })
})

describe('what viewers cost', () => {
  const watch = () => {
    const statements: string[] = []
    const DB = watchStatements(env.DB, (text) => statements.push(text))
    const countOf = (pattern: RegExp) => statements.filter((text) => pattern.test(text)).length
    return { DB, counts: () => [countOf(/FROM "shares"/), countOf(/FROM "locations"/)] }
  }

  test('nothing is read of the devices before the password is right', async () => {
    const { path } = await share({ password: 'correct horse' })
    const { DB, counts } = watch()
    const view = (headers = {}) => callWithBindings({ DB }, 'GET', path, { headers })
    for (const headers of [{}, basic('wrong')]) expect((await view(headers)).status).toBe(401)
    expect(counts()).toEqual([1, 0])
    expect((await view(basic('correct horse'))).status).toBe(200)
    expect(counts()[1]).toBe(1)
  })

  test('viewers within a few seconds share one read, in all formats', async () => {
    const { path } = await share()
    const { DB, counts } = watch()
    const first = await callWithBindings({ DB }, 'GET', `${path}/locations.kml`)
    const viewers = Array.from({ length: 10 }, () => callWithBindings({ DB }, 'HEAD', path))
    const again = await callWithBindings({ DB }, 'GET', `${path}/locations.kml`)
    expect(again.text).toBe(first.text)
    for (const { status } of await Promise.all(viewers)) expect(status).toBe(200)
    expect(counts()).toEqual([1, 1])
  })

  test('what they read is limited by account, and costs the account none of its requests', async () => {
    const [one, two] = [await share(), await share({ history: 24 })]
    const LIMIT = { ACCOUNT_REQUESTS_PER_MINUTE: '5' }
    const view = ({ path }: { path: string }) => callWithBindings(LIMIT, 'GET', path)
    expect((await view(one)).status).toBe(200)
    const refused = await view(two)
    expect([refused.status, Number(refused.headers.get('Retry-After')) > 0]).toEqual([429, true])
    expect((await view(one)).status).toBe(200)
    const other = await openAccount()
    const own = await callWithBindings(LIMIT, 'GET', '/api/account', { token: other.token })
    expect(own.status).toBe(200)
  })

  test('each network has a number of requests a minute, right or wrong', async () => {
    const { path } = await share()
    const view = (address: string, of = path) =>
      callWithBindings({ SHARE_VIEWS_PER_ADDRESS: '3' }, 'HEAD', of, {
        headers: { 'CF-Connecting-IP': address },
      })
    const replies = [await view('2001:db8:5:1::1'), await view('2001:db8:5:1::2', '/s/nothing')]
    for (let n = 0; n < 3; n++) replies.push(await view('2001:db8:5:1::3'))
    expect(replies.map(({ status }) => status)).toEqual([200, 404, 200, 429, 429])
    expect(Number(replies.at(-1)?.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect((await view('2001:db8:5:2::1')).status).toBe(200)
  })
})

describe('a user who is confined to a group', () => {
  test('shares its own devices, while they are in the group', async () => {
    const group = await account.call('POST', '/api/groups', {
      body: { name: 'North', devices: [device] },
    })
    const groupId = group.body.id
    const other = await account.call('POST', '/api/groups', { body: { name: 'South' } })
    const user = await createBoundUser(account, { privileges: ['write'], group: 'North' })
    const hidden = await createDevice(account, 'Hidden')
    const body = { name: 'Mine', devices: [device] }
    const refused = await user.call('POST', '/api/shares', {
      body: { ...body, devices: [device, hidden] },
    })
    const unknown = await user.call('POST', '/api/shares', {
      body: { ...body, devices: [device, 'dev_none'] },
    })
    expect([refused.status, refused.body.errors]).toEqual([400, unknown.body.errors])
    await report(1, 1, 2)
    const made = await user.call('POST', '/api/shares', { body })
    expect(made.status, made.text).toBe(201)
    const path = new URL(made.body.url).pathname
    expect((await readGeoJson(path)).features).toHaveLength(1)
    const others = await share()
    expect((await user.call('GET', `/api/shares/${others.id}`)).status).toBe(404)
    expect((await user.call('DELETE', `/api/shares/${others.id}`)).status).toBe(404)
    // Nobody adds what users of the group do not see, who would see its id.
    for (const added of [{ devices: [device, hidden] }, { groups: [other.body.id] }]) {
      const edit = await account.call('PATCH', `/api/shares/${made.body.share.id}`, { body: added })
      expect([edit.status, edit.body.code]).toEqual([400, 'invalid-request'])
    }
    const { shares } = (await user.call('GET', '/api/shares')).body
    expect(shares.map(({ id }: { id: string }) => id)).toEqual([made.body.share.id])
    await account.call('PATCH', `/api/groups/${groupId}`, { body: { devices: [] } })
    const renamed = await account.call('PATCH', `/api/shares/${made.body.share.id}`, {
      body: { name: 'Left' },
    })
    expect(renamed.status).toBe(200)
    expect((await readGeoJson(path)).features).toEqual([])
  })
})
