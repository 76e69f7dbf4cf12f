import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { Streams } from '../../../src/feed/streams/streams.ts'
import { newSubscriber } from '../../../src/feed/streams/subscriber.ts'
import { awaitToken } from '../../../src/stream/pendingSocket.ts'
import {
  fetchToken,
  fetchTokenWithScopes,
  openAccount,
  type TestAccount,
} from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { feedStub, passTime } from '../../support/feed/feed.ts'
import { Listener, listen, namesOf, tokenExpiringIn, upgrade } from '../../support/feed/streams.ts'
import { call, callAsOperator, readReply } from '../../support/http.ts'
import { eventually } from '../../support/time.ts'
import { readToken } from '../../support/tokens.ts'
import { createBoundUser } from '../../support/users.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('the token', () => {
  test('a token sent as a subprotocol opens the stream and is not sent back', async () => {
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

  test('a token in the first message opens the stream', async () => {
    const account = await openAccount()
    const { webSocket } = await upgrade('/api/stream?types=device.*')
    const stream = new Listener(webSocket as WebSocket)
    stream.send({ type: 'token', token: account.token })
    await stream.waitForReady()
    await createDevice(account, 'Tern')
    await stream.waitForEvents(1)
    expect(namesOf(stream)).toEqual(['device.created Tern'])
    stream.send('{"type":"ping"}')
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

  test('messages right after the token are handled', async () => {
    const account = await openAccount()
    const { webSocket } = await upgrade('/api/stream')
    const stream = new Listener(webSocket as WebSocket)
    stream.send({ type: 'token', token: account.token })
    stream.send('{"type":"ping"}')
    stream.send({ type: 'token', token: account.token })
    await stream.until(() =>
      expect(stream.messages.map(({ type }) => type).sort()).toEqual(['pong', 'ready', 'token']),
    )
  })

  test('messages before the feed is connected are forwarded in order; too many close the stream', async () => {
    const openPending = (early: string[]) => {
      const { 0: inner, 1: feed } = new WebSocketPair()
      const received: unknown[] = []
      feed.addEventListener('message', ({ data }) => void received.push(data))
      feed.accept()
      const gate = { isOpen: false }
      const connect = () => eventually(() => (gate.isOpen ? inner : expect.fail('not yet')), 5)
      const stream = new Listener(awaitToken(connect))
      for (const message of [{ type: 'token', token: 'x.y.z' }, ...early]) stream.send(message)
      return { received, stream, gate }
    }
    const few = Array.from({ length: 16 }, (_, n) => `{"type":"ack","ack":"${n}"}`)
    const { received, stream, gate } = openPending(few)
    await scheduler.wait(50)
    gate.isOpen = true
    await eventually(() => expect(received).toHaveLength(16))
    stream.send('later')
    await eventually(() => expect(received).toEqual([...few, 'later']))
    for (const many of [[...few, 'one more'], ['x'.repeat(65_537)]]) {
      const { stream, gate } = openPending(many)
      expect((await stream.waitForClose()).code).toBe(4400)
      gate.isOpen = true
    }
  })

  test.each([
    ['an invalid token', { type: 'token', token: 'x.y.z' }, 4401],
    ['another message', { type: 'ack', ack: '1' }, 4400],
    ['nonsense', 'hello', 4400],
  ])('a first message that is %s closes the stream', async (_, message, code) => {
    const { webSocket } = await upgrade('/api/stream')
    const stream = new Listener(webSocket as WebSocket)
    stream.send(message)
    expect((await stream.waitForClose()).code).toBe(code)
  })

  test('a first message with a token without the scope read closes the stream', async () => {
    const account = await openAccount()
    const token = await fetchTokenWithScopes(account, ['ingest'])
    const { webSocket } = await upgrade('/api/stream')
    const stream = new Listener(webSocket as WebSocket)
    stream.send({ type: 'token', token })
    expect((await stream.waitForClose()).code).toBe(4403)
  })

  test('a stream without a token is closed after ten seconds', async () => {
    const startedAt = performance.now()
    const { webSocket } = await upgrade('/api/stream')
    const stream = new Listener(webSocket as WebSocket)
    expect((await stream.waitForClose()).code).toBe(4401)
    expect(performance.now() - startedAt).toBeGreaterThan(9_500)
  })

  test('a token in the Authorization header opens the stream', async () => {
    const account = await openAccount()
    const bearer = { Authorization: `Bearer ${account.token}` }
    const { status, webSocket } = await upgrade('/api/stream?types=device.*', bearer)
    expect(status).toBe(101)
    const stream = new Listener(webSocket as WebSocket)
    await stream.waitForReady()
    await createDevice(account, 'Tern')
    await stream.waitForEvents(1)
    expect(namesOf(stream)).toEqual(['device.created Tern'])
  })

  test('a token in the Authorization header is checked before the stream opens', async () => {
    const account = await openAccount()
    const refusal = async (authorization: string) => {
      const response = await upgrade('/api/stream', { Authorization: authorization })
      return [response.status, (await readReply(response)).body.code]
    }
    const ingest = await fetchTokenWithScopes(account, ['ingest'])
    expect(await refusal('Bearer x.y.z')).toEqual([401, 'token-invalid'])
    expect(await refusal(`Bearer ${account.apiKey}`)).toEqual([401, 'not-a-token'])
    expect(await refusal(`Bearer ${ingest}`)).toEqual([403, 'forbidden'])
  })

  test('a header of another scheme leaves the token to the first message', async () => {
    const account = await openAccount()
    const { webSocket } = await upgrade('/api/stream', { Authorization: 'Basic YTpi' })
    const stream = new Listener(webSocket as WebSocket)
    stream.send({ type: 'token', token: account.token })
    await stream.waitForReady()
  })

  test('a token elsewhere, or a request without an upgrade, opens no stream', async () => {
    const account = await openAccount()
    const plain = await account.call('GET', '/api/stream')
    expect([plain.status, plain.body.errors[0].pointer]).toEqual([400, '#/header/Upgrade'])
    const anonymous = await call('GET', '/api/stream')
    expect([anonymous.status, anonymous.body.code]).toEqual([401, 'token-missing'])
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
  })
})

describe('closing', () => {
  test('a stream is closed when its token expires', async () => {
    const account = await openAccount()
    const stream = await listen(account, { token: await tokenExpiringIn(account, 300) })
    await passTime(account, 290_000)
    await createDevice(account, 'Before')
    await stream.waitForEvents(1)
    expect(stream.closed).toBeNull()
    await passTime(account, 11_000)
    expect(await stream.waitForClose()).toEqual({
      code: 4401,
      reason: 'the token is no longer valid',
    })
  })

  test('a new token sent on the stream extends it', async () => {
    const account = await openAccount()
    const stream = await listen(account, { token: await tokenExpiringIn(account, 300) })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 290_000 })
    const fresh = await fetchToken(account.userName, account.apiKey)
    stream.send({ type: 'token', token: fresh })
    await stream.until(() => expect(stream.messages.at(-1)).toMatchObject({ type: 'token' }))
    await passTime(account, 20_000)
    await createDevice(account, 'After')
    await stream.waitForEvents(1)
    expect(stream.closed).toBeNull()
    await passTime(account, 3_700_000)
    expect((await stream.waitForClose()).code).toBe(4401)
  })

  test('new tokens count as requests: beyond the limit the stream is closed', async () => {
    const account = await openAccount()
    const stream = await listen(account)
    // All objects of the file share these bindings, so the limit is restored.
    const limit = env.ACCOUNT_REQUESTS_PER_MINUTE ?? ''
    env.ACCOUNT_REQUESTS_PER_MINUTE = '3'
    const typesOf = ({ messages }: Listener) => messages.map(({ type }) => type)
    try {
      // Opening the stream was the first request. Each reply is awaited: tokens are checked in parallel.
      for (const expected of [
        ['ready', 'token'],
        ['ready', 'token', 'token'],
      ]) {
        stream.send({ type: 'token', token: account.token })
        await stream.until(() => expect(typesOf(stream)).toEqual(expected))
      }
      stream.send({ type: 'token', token: account.token })
      expect((await stream.waitForClose()).code).toBe(4429)
      expect(stream.messages).toHaveLength(3)
    } finally {
      env.ACCOUNT_REQUESTS_PER_MINUTE = limit
    }
  })

  test('a new token that is invalid or of another account closes the stream', async () => {
    const [account, other] = await Promise.all([openAccount(), openAccount()])
    for (const token of [other.token, 'x.y.z']) {
      const stream = await listen(account)
      stream.send({ type: 'token', token })
      expect((await stream.waitForClose()).code).toBe(4401)
    }
  })

  test('deleting a key closes its streams at once and no others', async () => {
    const account = await openAccount()
    const created = (
      await account.call('POST', '/api/account/keys', {
        body: { name: 'Deleted', scopes: ['read'] },
      })
    ).body
    const closed = await listen(account, {
      token: await fetchToken(account.userName, created.apiKey),
    })
    const other = await listen(account)
    await account.call('DELETE', `/api/account/keys/${created.key.id}`)
    expect((await closed.waitForClose()).code).toBe(4401)
    await other.waitForEvents(1)
    expect(other.events.map(({ type }) => type)).toEqual(['key.revoked'])
    expect(other.closed).toBeNull()
  })

  test('without a poke, losing access by key, user or account closes the stream within 30 seconds', async () => {
    const changes = {
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
    for (const [which, statements] of Object.entries(changes)) {
      vi.useRealTimers()
      const account = await openAccount()
      const ana = await createBoundUser(account, {})
      const keyId = String(readToken(ana.token).claims.key)
      const stream = await listen(account, { token: ana.token })
      await env.DB.batch(statements(account, { keyId, userId: ana.id }))
      await passTime(account, 25_000)
      expect((await stream.waitForClose()).code, which).toBe(4401)
    }
  })

  test('a key that was deleted just after a check is found at a poll soon after it', async () => {
    const account = await openAccount()
    const ana = await createBoundUser(account, {})
    const stream = await listen(account, { token: ana.token })
    await passTime(account, 25_000)
    await env.DB.prepare('DELETE FROM keys WHERE id = ?')
      .bind(readToken(ana.token).claims.key)
      .run()
    // The next poll is due 20 s after this one: too late if this one skips the check.
    await passTime(account, 9_900)
    expect((await stream.waitForClose()).code).toBe(4401)
  })

  test('a deleted key that an isolate still caches neither opens nor extends a stream', async () => {
    // The clock stands still, so that nothing leaves the cache.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const account = await openAccount()
    const ana = await createBoundUser(account, {})
    const open = await listen(account)
    open.send({ type: 'token', token: ana.token })
    await open.until(() => expect(open.messages.at(-1)).toMatchObject({ type: 'token' }))
    open.send({ type: 'token', token: account.token })
    await open.until(() => expect(open.messages).toHaveLength(3))
    await env.DB.prepare('DELETE FROM keys WHERE id = ?')
      .bind(readToken(ana.token).claims.key)
      .run()
    const late = await listen(account, { token: ana.token })
    open.send({ type: 'token', token: ana.token })
    for (const stream of [late, open]) expect((await stream.waitForClose()).code).toBe(4401)
    expect(late.messages).toEqual([])
    expect(open.messages.map(({ type }) => type)).toEqual(['ready', 'token', 'token'])
  })

  test('a stream that opens while keys are being checked stays open', async () => {
    const streams = new Streams(env, [])
    const openWith = (keyId: string) => {
      const { 1: socket } = new WebSocketPair()
      socket.accept()
      const claims = { accountId: 'acc_1', cell: 0, keyId, userId: null, exp: 1e10 }
      const filter = { types: [], devices: [], groups: [] }
      streams.save(socket, newSubscriber({ ...claims, scopes: ['read'] }, null, filter, 0))
      return socket
    }
    const before = openWith('key_deleted')
    const check = streams.recheckKeys(openCell(env, 0), Date.now())
    const during = openWith('key_new')
    await check
    expect([streams.has(before), streams.has(during)]).toEqual([false, true])
  })

  test('disabling the account closes its streams', async () => {
    const account = await openAccount()
    const stream = await listen(account)
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: true } })
    await passTime(account, 25_000)
    expect((await stream.waitForClose()).code).toBe(4401)
  })

  test.each([
    ['not JSON', 'hello'],
    ['an unknown type', '{"type":"subscribe"}'],
    ['an unknown member', '{"type":"ack","ack":"0.0.x","more":1}'],
    ['an ack that was not sent', '{"type":"ack","ack":"1.200.aaaaaaaaaaaaaaaa"}'],
    ['an ack that is no ack', '{"type":"ack","ack":""}'],
    ['the number of an event', '{"type":"ack","sequence":0}'],
  ])('an invalid message closes the stream: %s', async (_, message) => {
    const stream = await listen(await openAccount())
    stream.send(message)
    expect((await stream.waitForClose()).code).toBe(4400)
  })
})
