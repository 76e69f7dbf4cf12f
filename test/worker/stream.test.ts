import { evictDurableObject, listDurableObjectIds, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { AccountFeed } from '../../src/feed/feed.ts'
import type { Subscriber } from '../../src/feed/subscriber.ts'
import { awaitToken } from '../../src/stream/pendingSocket.ts'
import {
  fetchToken,
  fetchTokenWithScopes,
  openAccount,
  type TestAccount,
} from '../support/accounts.ts'
import { createDevice } from '../support/devices.ts'
import { callAsOperator } from '../support/http.ts'
import { eventually } from '../support/time.ts'
import { createBoundUser } from '../support/users.ts'
import {
  createWebhook,
  feedStub,
  from,
  headOf,
  Listener,
  listen,
  logLargeReports,
  logUnheard,
  passTime,
  receiver,
  upgrade,
} from './eventSupport.ts'
import { makeToken, readToken } from './law/tokens.ts'

afterEach(() => {
  vi.useRealTimers()
})

const names = (stream: Listener) => stream.events.map(({ type, data }) => `${type} ${data.name}`)

/** How the account's streams stand, as it goes with them through hibernation. */
const seatsOf = (account: TestAccount): Promise<Subscriber[]> =>
  runInDurableObject(feedStub(account), (_, state) =>
    state.getWebSockets().map((socket) => socket.deserializeAttachment()),
  )

/** The account's token, but that it ends after so many seconds. */
const endingIn = async (account: TestAccount, seconds: number): Promise<string> => {
  const { header, claims } = readToken(account.token)
  const now = Math.floor(Date.now() / 1000)
  return makeToken(header, { ...claims, iat: now - 30, exp: now - 30 + seconds }, env.TOKEN_SECRET)
}

describe('what happens is heard', () => {
  test('by every open stream, in sequence, in the envelope of the log', async () => {
    const account = await openAccount()
    const streams = await Promise.all([listen(account), listen(account)])
    const device = await createDevice(account, 'Tern 1')
    await account.call('PATCH', `/api/devices/${device}`, { body: { name: 'Tern 2' } })
    await account.call('DELETE', `/api/devices/${device}`)
    for (const stream of streams) {
      await stream.heard(3)
      expect(names(stream)).toEqual([
        'device.created Tern 1',
        'device.updated Tern 2',
        'device.deleted Tern 2',
      ])
    }
    const log = (await account.call('GET', '/api/events?types=device.*')).body.events
    expect(streams[0]?.events).toEqual(log)
    expect(Object.keys(log[0])).toEqual(['id', 'type', 'time', 'sequence', 'accountId', 'data'])
  })

  test('and nothing of another account', async () => {
    const [mine, other] = await Promise.all([openAccount(), openAccount()])
    const stream = await listen(mine)
    await createDevice(other, 'Theirs')
    await createDevice(mine, 'Mine')
    await stream.heard(1)
    expect(names(stream)).toEqual(['device.created Mine'])
  })

  test('a report is an event with its newest location, which the log does not hold twice', async () => {
    const account = await openAccount()
    const device = await createDevice(account, 'Tern')
    const stream = await listen(account, { query: '?types=location.reported' })
    const at = (minute: number) => `2026-11-14T09:0${minute}:00.000Z`
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
    const [event] = await stream.heard(1)
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
    await stream.heard(2)
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
  test('by type, device and group', async () => {
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
    await types?.heard(2)
    await either?.heard(3)
    expect(types && names(types)).toEqual(['device.deleted B', 'key.created K'])
    expect(device && names(device)).toEqual(['device.updated A'])
    expect(either && names(either)).toEqual([
      'device.updated A',
      'device.updated B',
      'device.deleted B',
    ])
    expect(nothing?.events).toEqual([])
  })

  test('a bound user hears of its group alone, of devices that join and leave it, and of the end of one', async () => {
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
    // An event is judged by the group as it stands when the event is read: each is heard before the group changes under it.
    await stream.heard(1)
    await account.call('PATCH', `/api/groups/${group}`, { body: { devices: [inside, outside] } })
    await edit(outside, '2')
    const own = await createDevice(ana, 'Own')
    await stream.heard(3)
    await account.call('DELETE', `/api/devices/${own}`)
    await stream.heard(4)
    await account.call('PATCH', `/api/groups/${group}`, { body: { devices: [outside] } })
    await edit(inside, '2')
    await account.call('DELETE', `/api/devices/${outside}`)
    await stream.heard(5)
    expect(names(stream)).toEqual([
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

  test('a change of the user’s group or privileges holds within 30 seconds', async () => {
    const account = await openAccount()
    const [a, b] = [await createDevice(account, 'A'), await createDevice(account, 'B')]
    const groupOf = async (name: string, device: string) =>
      (await account.call('POST', '/api/groups', { body: { name, devices: [device] } })).body.id
    const [north, south] = [await groupOf('North', a), await groupOf('South', b)]
    const ana = await createBoundUser(account, { group: north })
    const stream = await listen(account, { token: ana.token })
    await account.call('PATCH', `/api/users/${ana.id}`, { body: { group: south } })
    await passTime(account, 25_000)
    await account.call('PATCH', `/api/devices/${a}`, { body: { description: 'x' } })
    await account.call('PATCH', `/api/devices/${b}`, { body: { description: 'x' } })
    await stream.heard(1)
    expect(names(stream)).toEqual(['device.updated B'])
    await account.call('PATCH', `/api/users/${ana.id}`, { body: { privileges: [] } })
    await passTime(account, 25_000)
    expect((await stream.end()).code).toBe(4403)
  })

  test('unknown types, and anything that is none of the query, are refused', async () => {
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

describe('the token', () => {
  test('as a subprotocol: the other one is chosen, and never the token said back', async () => {
    const account = await openAccount()
    const response = await upgrade('/api/stream', {
      'Sec-WebSocket-Protocol': `perigee, bearer.${account.token}`,
    })
    expect([response.status, response.headers.get('Sec-WebSocket-Protocol')]).toEqual([
      101,
      'perigee',
    ])
    expect(response.headers.get('X-Request-Id')).toBeTruthy()
    response.webSocket?.accept()
    response.webSocket?.close()
  })

  test('in the first message', async () => {
    const account = await openAccount()
    const { webSocket } = await upgrade('/api/stream?types=device.*')
    const stream = new Listener(webSocket as WebSocket)
    stream.say({ type: 'token', token: account.token })
    await stream.ready()
    await createDevice(account, 'Tern')
    await stream.heard(1)
    expect(names(stream)).toEqual(['device.created Tern'])
    stream.say('{"type":"ping"}')
    await stream.until(() => expect(stream.messages.at(-1)).toEqual({ type: 'pong' }))
    stream.socket.close(1000, 'done')
    await eventually(async () => {
      const open = await runInDurableObject(
        feedStub(account),
        (_, state) => state.getWebSockets().length,
      )
      expect(open).toBe(0)
    })
  })

  test('in the first message: what is said right after it is heard', async () => {
    const account = await openAccount()
    const { webSocket } = await upgrade('/api/stream')
    const stream = new Listener(webSocket as WebSocket)
    stream.say({ type: 'token', token: account.token })
    stream.say('{"type":"ping"}')
    stream.say({ type: 'token', token: account.token })
    await stream.until(() =>
      expect(stream.messages.map(({ type }) => type).sort()).toEqual(['pong', 'ready', 'token']),
    )
  })

  test('in the first message: what is said before there is a way in goes first, in order; too much of it closes the stream', async () => {
    const waiting = (said: string[]) => {
      const { 0: inner, 1: feed } = new WebSocketPair()
      const heard: unknown[] = []
      feed.addEventListener('message', ({ data }) => void heard.push(data))
      feed.accept()
      const door = { open: false }
      const enter = () => eventually(() => (door.open ? inner : expect.fail('not yet')), 5)
      const stream = new Listener(awaitToken(enter))
      for (const message of [{ type: 'token', token: 'x.y.z' }, ...said]) stream.say(message)
      return { heard, stream, door }
    }
    const few = Array.from({ length: 16 }, (_, n) => `{"type":"ack","sequence":${n}}`)
    const { heard, stream, door } = waiting(few)
    await scheduler.wait(50)
    door.open = true
    await eventually(() => expect(heard).toHaveLength(16))
    stream.say('later')
    await eventually(() => expect(heard).toEqual([...few, 'later']))
    for (const many of [[...few, 'one more'], ['x'.repeat(65_537)]]) {
      const { stream, door } = waiting(many)
      expect((await stream.end()).code).toBe(4400)
      door.open = true
    }
  })

  test.each([
    ['a token that does not hold', { type: 'token', token: 'x.y.z' }, 4401],
    ['another message', { type: 'ack', sequence: 1 }, 4400],
    ['nonsense', 'hello', 4400],
  ])('in the first message: %s closes the stream', async (_, message, code) => {
    const { webSocket } = await upgrade('/api/stream')
    const stream = new Listener(webSocket as WebSocket)
    stream.say(message)
    expect((await stream.end()).code).toBe(code)
  })

  test('in the first message of a key that may not read closes the stream', async () => {
    const account = await openAccount()
    const token = await fetchTokenWithScopes(account, ['ingest'])
    const { webSocket } = await upgrade('/api/stream')
    const stream = new Listener(webSocket as WebSocket)
    stream.say({ type: 'token', token })
    expect((await stream.end()).code).toBe(4403)
  })

  test('that does not come closes the stream after ten seconds', async () => {
    const began = performance.now()
    const { webSocket } = await upgrade('/api/stream')
    const stream = new Listener(webSocket as WebSocket)
    expect((await stream.end()).code).toBe(4401)
    expect(performance.now() - began).toBeGreaterThan(9_500)
  })

  test('anywhere else, or without an upgrade, opens nothing', async () => {
    const account = await openAccount()
    const bearer = { Authorization: `Bearer ${account.token}` }
    const plain = await account.call('GET', '/api/stream')
    expect([plain.status, plain.body.code]).toEqual([401, 'unauthorized'])
    expect((await upgrade(`/api/stream?access_token=${account.token}`)).status).toBe(400)
    const shown = await account.call('GET', '/api/stream', {
      headers: { 'Sec-WebSocket-Protocol': `perigee, bearer.${account.token}` },
    })
    expect([shown.status, shown.body.errors[0].pointer]).toEqual([400, '#/header/Upgrade'])
    expect(
      (await upgrade('/api/stream', { 'Sec-WebSocket-Protocol': 'perigee, bearer.x.y.z' })).status,
    ).toBe(401)
    const ingest = await fetchTokenWithScopes(account, ['ingest'])
    expect(
      (await upgrade('/api/stream', { 'Sec-WebSocket-Protocol': `perigee, bearer.${ingest}` }))
        .status,
    ).toBe(403)
    const lobby = await upgrade('/api/stream', bearer)
    const stream = new Listener(lobby.webSocket as WebSocket)
    stream.say({ type: 'ack', sequence: 0 })
    expect((await stream.end()).code).toBe(4400)
  })
})

describe('the end of a stream', () => {
  test('comes with its token', async () => {
    const account = await openAccount()
    const stream = await listen(account, { token: await endingIn(account, 300) })
    await passTime(account, 290_000)
    await createDevice(account, 'Before')
    await stream.heard(1)
    expect(stream.closed).toBeNull()
    await passTime(account, 11_000)
    expect(await stream.end()).toEqual({ code: 4401, reason: 'the token does not hold any more' })
  })

  test('is put off by a fresh token sent on it', async () => {
    const account = await openAccount()
    const stream = await listen(account, { token: await endingIn(account, 300) })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 290_000 })
    const fresh = await fetchToken(account.userName, account.apiKey)
    stream.say({ type: 'token', token: fresh })
    await stream.until(() => expect(stream.messages.at(-1)).toMatchObject({ type: 'token' }))
    await passTime(account, 20_000)
    await createDevice(account, 'After')
    await stream.heard(1)
    expect(stream.closed).toBeNull()
    await passTime(account, 3_700_000)
    expect((await stream.end()).code).toBe(4401)
  })

  test('comes with more fresh tokens than the account may make requests', async () => {
    const account = await openAccount()
    const stream = await listen(account)
    await runInDurableObject(feedStub(account), (feed) => {
      const { env: bound } = feed as unknown as { env: object }
      Object.defineProperty(feed, 'env', { value: { ...bound, ACCOUNT_REQUESTS_PER_MINUTE: '3' } })
    })
    // The opening was the first of the three requests. Each reply is awaited, because tokens are checked side by side.
    for (const expected of [
      ['ready', 'token'],
      ['ready', 'token', 'token'],
    ]) {
      stream.say({ type: 'token', token: account.token })
      await stream.until(() => expect(stream.messages.map(({ type }) => type)).toEqual(expected))
    }
    stream.say({ type: 'token', token: account.token })
    expect((await stream.end()).code).toBe(4429)
    expect(stream.messages).toHaveLength(3)
  })

  test('comes with a fresh token of another account, or one that does not hold', async () => {
    const [account, other] = await Promise.all([openAccount(), openAccount()])
    for (const token of [other.token, 'x.y.z']) {
      const stream = await listen(account)
      stream.say({ type: 'token', token })
      expect((await stream.end()).code).toBe(4401)
    }
  })

  test('comes at once when its key is deleted, and other keys’ streams stay', async () => {
    const account = await openAccount()
    const made = (
      await account.call('POST', '/api/account/keys', {
        body: { name: 'Doomed', scopes: ['read'] },
      })
    ).body
    const doomed = await listen(account, { token: await fetchToken(account.userName, made.apiKey) })
    const stays = await listen(account)
    await account.call('DELETE', `/api/account/keys/${made.key.id}`)
    expect((await doomed.end()).code).toBe(4401)
    await stays.heard(1)
    expect(stays.events.map(({ type }) => type)).toEqual(['key.revoked'])
    expect(stays.closed).toBeNull()
  })

  test('comes within 30 seconds though nobody told: key, user or account gone or disabled', async () => {
    const ends = {
      'key deleted': (account: TestAccount, { keyId }: { keyId: string }) => [
        env.DB.prepare('DELETE FROM keys WHERE id = ? AND account_id = ?').bind(keyId, account.id),
      ],
      'user disabled': (_: TestAccount, { userId }: { userId: string }) => [
        env.DB.prepare('UPDATE users SET disabled = 1 WHERE id = ?').bind(userId),
      ],
      'account disabled': (account: TestAccount) => [
        env.DB.prepare('UPDATE accounts SET disabled = 1 WHERE id = ?').bind(account.id),
      ],
      'account gone': (account: TestAccount) => [
        env.DB.prepare('DELETE FROM accounts WHERE id = ?').bind(account.id),
      ],
    }
    for (const [which, statements] of Object.entries(ends)) {
      vi.useRealTimers()
      const account = await openAccount()
      const ana = await createBoundUser(account, {})
      const keyId = String(readToken(ana.token).claims.key)
      const stream = await listen(account, { token: ana.token })
      await env.DB.batch(statements(account, { keyId, userId: ana.id }))
      await passTime(account, 25_000)
      expect((await stream.end()).code, which).toBe(4401)
    }
  })

  test('comes at once with a key that is no more, though an isolate remembers it: opened with it, or gone on with it', async () => {
    // The clock stands, so that nothing is forgotten before its time.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const account = await openAccount()
    const ana = await createBoundUser(account, {})
    const open = await listen(account)
    open.say({ type: 'token', token: ana.token })
    await open.until(() => expect(open.messages.at(-1)).toMatchObject({ type: 'token' }))
    open.say({ type: 'token', token: account.token })
    await open.until(() => expect(open.messages).toHaveLength(3))
    await env.DB.prepare('DELETE FROM keys WHERE id = ?')
      .bind(readToken(ana.token).claims.key)
      .run()
    const late = await listen(account, { token: ana.token })
    open.say({ type: 'token', token: ana.token })
    for (const stream of [late, open]) expect((await stream.end()).code).toBe(4401)
    expect(late.messages).toEqual([])
    expect(open.messages.map(({ type }) => type)).toEqual(['ready', 'token', 'token'])
  })

  test('comes when the operator disables the account', async () => {
    const account = await openAccount()
    const stream = await listen(account)
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: true } })
    await passTime(account, 25_000)
    expect((await stream.end()).code).toBe(4401)
  })

  test.each([
    ['not JSON', 'hello'],
    ['an unknown type', '{"type":"subscribe"}'],
    ['a member that nobody knows', '{"type":"ack","sequence":0,"more":1}'],
    ['an acknowledgement of what was not sent', '{"type":"ack","sequence":999999}'],
  ])('comes with a bad message: %s', async (_, message) => {
    const stream = await listen(await openAccount())
    stream.say(message)
    expect((await stream.end()).code).toBe(4400)
  })
})

describe('resuming', () => {
  test('goes on after a number, without a gap or a repeat, through page after page', async () => {
    const account = await openAccount()
    await createDevice(account, 'Tern')
    const start = await headOf(account)
    await logUnheard(account, 1300)
    const stream = await listen(account, { query: `?after=${start + 5}` })
    await stream.heard(1295)
    await createDevice(account, 'Later')
    await stream.heard(1296)
    expect(stream.sequences).toEqual(from(start + 6, start + 1301))
  })

  test('while events pour in: those who come and go see every one once', async () => {
    const account = await openAccount({ licenses: 100 })
    const first = await listen(account)
    const begin = await headOf(account)
    const pouring = Promise.all(
      Array.from({ length: 60 }, (_, n) => createDevice(account, `Tern ${n}`)),
    )
    await first.heard(10)
    first.socket.close()
    const seen = first.sequences
    const second = await listen(account, { query: `?after=${seen.at(-1)}` })
    await pouring
    await second.heard(60 - seen.length)
    expect([...seen, ...second.sequences]).toEqual(from(begin + 1, begin + 60))
  })

  test('says where it begins, where the log ends and how far back it goes', async () => {
    const account = await openAccount()
    await logUnheard(account, 5)
    const head = await headOf(account)
    await env.DB.prepare('DELETE FROM events WHERE account_id = ? AND sequence < ?')
      .bind(account.id, head - 1)
      .run()
    const stream = await listen(account, { query: '?after=0' })
    expect(await stream.ready()).toMatchObject({
      sequence: 0,
      lastSequence: head,
      oldestSequence: head - 1,
      expires: expect.any(String),
    })
    await stream.heard(2)
    expect(stream.sequences).toEqual([head - 1, head])
  })

  test('from beyond the last event is refused', async () => {
    const account = await openAccount()
    const { webSocket } = await upgrade('/api/stream?after=999999', {
      'Sec-WebSocket-Protocol': `perigee, bearer.${account.token}`,
    })
    expect((await new Listener(webSocket as WebSocket).end()).code).toBe(4400)
    const lobby = new Listener((await upgrade('/api/stream?after=999999')).webSocket as WebSocket)
    lobby.say({ type: 'token', token: account.token })
    lobby.say('{"type":"ping"}')
    expect((await lobby.end()).code).toBe(4400)
  })
})

describe('one that is far behind', () => {
  const LOOK = -1
  /** What the feed reads of its cell, in order: where a page of the log begins, LOOK for what there is to do. Each waits for `gate`. */
  const spyOnFeed = (account: TestAccount, gate = async (_read: number) => {}) => {
    const batch = env.DB.batch.bind(env.DB)
    const reads: number[] = []
    const spy = vi.spyOn(env.DB, 'batch').mockImplementation(async (statements) => {
      const [{ statement, params }] = statements as unknown as [
        { statement: string; params: unknown[] },
      ]
      const read = /AS bytes FROM/.test(statement)
        ? Number(params[1])
        : /SELECT disabled FROM accounts/.test(statement)
          ? LOOK
          : null
      if (params[0] === account.id && read !== null) {
        reads.push(read)
        await gate(read)
      }
      return batch(statements)
    })
    return { reads, [Symbol.dispose]: () => spy.mockRestore() }
  }

  test('is brought on in steps, and between them the feed looks after all else', async () => {
    const account = await openAccount()
    await logUnheard(account, 10_700)
    await logUnheard(account, 1, 'limit.reached')
    using feed = spyOnFeed(account)
    const stream = await listen(account, { query: '?after=0&types=limit.reached' })
    await stream.heard(1)
    let pages = 0
    const perLook = feed.reads.map((read) => {
      pages = read === LOOK ? 0 : pages + 1
      return pages
    })
    expect(feed.reads.length).toBeGreaterThan(22)
    expect(Math.max(...perLook)).toBe(20)
  })

  test('holds up no webhook', async () => {
    const account = await openAccount()
    await logUnheard(account, 5)
    const at = receiver()
    await createWebhook(account, { url: at.url() })
    const since = await headOf(account)
    let opened = false
    // Nothing is looked at before the stream is there, and none of what it has missed is read before the webhook is called.
    using _ = spyOnFeed(account, async (read) => {
      if (read === LOOK) await eventually(() => expect(opened).toBe(true))
      else if (read < since) await at.called(1)
    })
    await logUnheard(account, 1)
    const stream = await listen(account, { query: '?after=0' })
    opened = true
    await stream.heard(since + 1)
    expect(await at.calls()).toHaveLength(1)
  })
})

describe('acknowledging', () => {
  test('not in time: dropped with a code that says so, and resumes later', async () => {
    const account = await openAccount()
    const silent = await listen(account, { acknowledges: false })
    await createDevice(account, 'Tern 1')
    await silent.heard(1)
    await passTime(account, 29_000)
    expect(silent.closed).toBeNull()
    await passTime(account, 2_000)
    expect(await silent.end()).toEqual({
      code: 4408,
      reason: 'events were not acknowledged in time',
    })
    const [last = 0] = silent.sequences
    await createDevice(account, 'Tern 2')
    const resumed = await listen(account, { query: `?after=${last}` })
    await resumed.heard(1)
    expect(names(resumed)).toEqual(['device.created Tern 2'])
  })

  test('a reader that owes nothing is not dropped, however long it is quiet', async () => {
    const account = await openAccount()
    const stream = await listen(account, { token: await endingIn(account, 3000) })
    await createDevice(account, 'Tern')
    await stream.heard(1)
    // What it has acknowledged must be there before the clock jumps.
    await eventually(async () =>
      expect(await seatsOf(account)).toMatchObject([{ acked: stream.sequences[0] }]),
    )
    for (let round = 0; round < 5; round++) await passTime(account, 60_000)
    expect(stream.closed).toBeNull()
  })

  test('speaks for what the reader itself was told of, not for what another that asks for the same was sent', async () => {
    const account = await openAccount()
    const query = '?types=device.created'
    const unwanted = async (name: string) => {
      await account.call('POST', '/api/account/keys', { body: { name, scopes: ['read'] } })
      const head = await headOf(account)
      await eventually(async () =>
        expect(
          (await seatsOf(account)).filter(
            ({ readUpTo, unacked }) => readUpTo < head || unacked > 0,
          ),
        ).toEqual([]),
      )
    }
    const early = await listen(account, { query })
    await createDevice(account, 'Tern 1')
    await early.heard(1)
    await unwanted('K 1')
    const late = await listen(account, { query })
    await unwanted('K 2')
    late.say({ type: 'ack', sequence: (await late.ready()).sequence })
    await createDevice(account, 'Tern 2')
    await late.heard(1)
    expect(late.closed).toBeNull()
  })

  test('a slow reader is sent a thousand events and no more until it has acknowledged some', async () => {
    const account = await openAccount()
    await logUnheard(account, 2200)
    const slow = await listen(account, { query: '?after=0', acknowledges: false })
    await slow.heard(1000)
    await slow.until(() => expect(slow.messages.length).toBeGreaterThan(10))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(slow.events).toHaveLength(1000)
    slow.say({ type: 'ack', sequence: slow.sequences[399] })
    await slow.heard(1400)
    slow.say({ type: 'ack', sequence: slow.sequences.at(-1) })
    await slow.heard(2201)
    expect(slow.sequences).toEqual(from(1, 2201))
  })

  test('a slow reader of large events is sent about 2 MB and no more until it has acknowledged some', async () => {
    const account = await openAccount()
    await logLargeReports(account, await createDevice(account, 'Tern'), 70)
    const head = await headOf(account)
    const slow = await listen(account, { query: '?after=0', acknowledges: false })
    await slow.heard(31)
    // Where there is room, one look reads to the end of the log; the pong comes after all that it sent.
    await runInDurableObject(feedStub(account), (feed: AccountFeed) => feed.alarm())
    slow.say('{"type":"ping"}')
    await slow.until(() => expect(slow.messages.at(-1)).toEqual({ type: 'pong' }))
    expect(slow.events.length).toBeLessThan(40)
    while (slow.events.length < head) {
      slow.say({ type: 'ack', sequence: slow.sequences.at(-1) })
      await slow.heard(Math.min(head, slow.events.length + 20))
    }
    expect(slow.sequences).toEqual(from(1, head))
  })
})

describe('hibernation and crashes', () => {
  test('a hibernated object wakes for an event, and its streams hear of it', async () => {
    const account = await openAccount()
    const stream = await listen(account, { query: '?types=device.*' })
    await createDevice(account, 'Before')
    await stream.heard(1)
    await evictDurableObject(feedStub(account))
    await createDevice(account, 'After')
    await stream.heard(2)
    expect(names(stream)).toEqual(['device.created Before', 'device.created After'])
    await evictDurableObject(feedStub(account))
    await logUnheard(account, 1)
    await passTime(account, 21_000)
    await stream.heard(3)
    expect(stream.sequences).toEqual(from(stream.sequences[0] ?? 0, (stream.sequences[0] ?? 0) + 2))
  })

  test('a ping is answered without waking it', async () => {
    const account = await openAccount()
    const stream = await listen(account)
    await evictDurableObject(feedStub(account))
    stream.say('{"type":"ping"}')
    await stream.until(() => expect(stream.messages.at(-1)).toEqual({ type: 'pong' }))
    // Only an object that runs can be evicted.
    await expect(evictDurableObject(feedStub(account))).rejects.toThrow()
  })

  test('a crash in the middle of a storm leaves neither gap nor repeat behind', async () => {
    const account = await openAccount({ licenses: 100 })
    const begin = await headOf(account)
    const storm = Array.from({ length: 40 }, (_, n) => createDevice(account, `Tern ${n}`))
    const seen: number[] = []
    for (let round = 0; seen.length < 40 && round < 50; round++) {
      const stream = await listen(account, { query: `?after=${seen.at(-1) ?? begin}` })
      await stream.heard(1)
      if (round < 3)
        await evictDurableObject(feedStub(account), { webSockets: 'close' }).catch(() => {})
      seen.push(...stream.sequences)
      stream.socket.close()
    }
    await Promise.all(storm)
    expect(seen).toEqual(from(begin + 1, begin + 40))
  })

  test('a lost poke loses nothing', async () => {
    const account = await openAccount()
    const stream = await listen(account)
    await logUnheard(account, 3)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(stream.events).toEqual([])
    await passTime(account, 21_000)
    await stream.heard(3)
  })
})

test('a thousand streams hear of an event, each once', async () => {
  const account = await openAccount()
  const streams: Listener[] = []
  while (streams.length < 1000)
    streams.push(...(await Promise.all(Array.from({ length: 50 }, () => listen(account)))))
  const heardBy = streams.map(
    (stream) =>
      new Promise<void>((resolve) =>
        stream.socket.addEventListener('message', () => resolve(), { once: true }),
      ),
  )
  await createDevice(account, 'Tern')
  await Promise.all(heardBy)
  expect(new Set(streams.map(({ events }) => JSON.stringify(events)))).toHaveLength(1)
  expect(streams[0]?.events).toHaveLength(1)
  for (const { socket } of streams) socket.close()
})

describe('nobody listens', () => {
  const logged = async (account: TestAccount) =>
    (await account.call('GET', '/api/events?types=location.reported')).body.events.length
  const report = async (account: TestAccount, device: string, minute: number) => {
    const dateTime = `2026-11-14T09:${String(minute).padStart(2, '0')}:00Z`
    const reply = await account.call('POST', `/api/devices/${device}/locations`, {
      body: { dateTime, latitude: 1, longitude: 2 },
    })
    expect(reply.status).toBe(201)
  }

  test('and there is no feed at all', async () => {
    const account = await openAccount()
    const device = await createDevice(account, 'Tern')
    await report(account, device, 1)
    await account.call('POST', '/api/account/keys', { body: { name: 'K', scopes: ['read'] } })
    const id = env.FEED.idFromName(account.id).toString()
    expect((await listDurableObjectIds(env.FEED)).map(String)).not.toContain(id)
  })

  test('a report is one round trip of three statements; while someone listens, one of five', async () => {
    const account = await openAccount()
    const device = await createDevice(account, 'Tern')
    await report(account, device, 1)
    const batch = vi.spyOn(env.DB, 'batch')
    /** How many statements each round trip of a report has; the feed's own reading has other words. */
    const sizes = async (minute: number) => {
      batch.mockClear()
      await report(account, device, minute)
      const trips = batch.mock.calls.map(
        ([statements]) => statements as unknown as { statement: string }[],
      )
      return trips
        .filter((trip) => trip.some(({ statement }) => /INTO locations/i.test(statement)))
        .map((trip) => trip.length)
    }
    try {
      expect(await sizes(2)).toEqual([3])
      const stream = await listen(account)
      await sizes(3)
      await stream.heard(1)
      expect(await sizes(4)).toEqual([5])
      await stream.heard(2)
    } finally {
      batch.mockRestore()
    }
  })

  test('two streams that open together: what one asks for is not unmarked by the other', async () => {
    const account = await openAccount()
    await env.DB.prepare(
      `CREATE TRIGGER unmarked BEFORE UPDATE ON event_heads WHEN NEW.account_id = '${account.id}'
         AND (NEW.location_streams_until < OLD.location_streams_until OR NEW.streams_until < OLD.streams_until)
       BEGIN SELECT RAISE(ABORT, 'unmarked'); END`,
    ).run()
    try {
      const queries = ['', '?types=alert.*', '', '?types=device.*']
      const streams = await Promise.all(queries.map((query) => listen(account, { query })))
      expect(streams.map(({ closed }) => closed)).toEqual([null, null, null, null])
      await report(account, await createDevice(account, 'Tern'), 1)
      expect(await logged(account)).toBe(1)
    } finally {
      await env.DB.prepare('DROP TRIGGER unmarked').run()
    }
  })

  test('a report is logged only while a stream or an enabled webhook asks for it', async () => {
    const account = await openAccount()
    const device = await createDevice(account, 'Tern')
    let minute = 0
    const isLogged = async () => {
      const before = await logged(account)
      await report(account, device, minute++)
      return (await logged(account)) - before
    }
    expect(await isLogged()).toBe(0)
    const others = await listen(account, { query: '?types=device.*' })
    expect(await isLogged()).toBe(0)
    const stream = await listen(account)
    expect(await isLogged()).toBe(1)
    stream.socket.close()
    others.socket.close()
    await eventually(async () => expect(await isLogged()).toBe(0))
    const { webhook } = (
      await account.call('POST', '/api/webhooks', {
        body: { url: 'https://receiver.example/none/ok', events: ['device.*'] },
      })
    ).body
    expect(await isLogged()).toBe(0)
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { events: ['location.*'] } })
    expect(await isLogged()).toBe(1)
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { enabled: false } })
    expect(await isLogged()).toBe(0)
  })
})
