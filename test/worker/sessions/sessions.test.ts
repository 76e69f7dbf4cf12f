import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { callerWith, fetchToken, openAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { passTime } from '../../support/feed/feed.ts'
import { listen } from '../../support/feed/streams.ts'
import { createGroup } from '../../support/groups.ts'
import { call } from '../../support/http.ts'
import { createSignInUser, postWithCookie, refresh, signIn } from '../../support/sessions.ts'
import { createBoundUser } from '../../support/users.ts'

afterEach(() => {
  vi.useRealTimers()
})

const DAY_MS = 86_400_000

const start = async (members: object = {}) => {
  const account = await openAccount()
  const user = await createSignInUser(account, members)
  return { account, user, ...(await signIn(account, user)) }
}

const signOut = (cookie: string, body?: unknown) =>
  postWithCookie('/api/Auth/SignOut', cookie, body === undefined ? {} : { body })

const codeOf = async (token: string) => (await call('GET', '/api/devices', { token })).body.code

describe('signing out', () => {
  test('ends this session and removes the cookie; others go on', async () => {
    const { account, user, cookie, token } = await start()
    const other = await signIn(account, user)
    const reply = await signOut(cookie)
    expect([reply.status, reply.body]).toEqual([200, { success: true }])
    expect(reply.headers.get('Set-Cookie')).toBe(
      '__Secure-perigee_session=; Max-Age=0; Path=/api/Auth; HttpOnly; Secure; SameSite=Strict',
    )
    expect((await refresh(cookie)).body.code).toBe('session-ended')
    expect(await codeOf(token)).toBe('session-ended')
    expect((await refresh(other.cookie)).status).toBe(200)
    const again = await signOut(cookie)
    expect([again.status, again.body.code]).toEqual([401, 'session-ended'])
  })

  test('everywhere ends all sessions of the user, and no one else’s', async () => {
    const { account, user, cookie } = await start()
    const [second, third] = [await signIn(account, user), await signIn(account, user)]
    const colleague = await signIn(account, await createSignInUser(account))
    expect((await signOut(cookie, { everywhere: true })).status).toBe(200)
    for (const ended of [second, third]) {
      expect((await refresh(ended.cookie)).status).toBe(401)
      expect(await codeOf(ended.token)).toBe('session-ended')
    }
    expect((await refresh(colleague.cookie)).status).toBe(200)
    const bad = await signOut(colleague.cookie, { everywhere: 'yes' })
    expect([bad.status, bad.body.errors[0].pointer]).toEqual([400, '/everywhere'])
  })
})

describe('the list of sessions', () => {
  test('shows where the user is signed in, and which session asks', async () => {
    const { account, user, ...first } = await start()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 })
    const second = await signIn(account, user)
    await signIn(account, await createSignInUser(account))
    const { body } = await second.call('GET', '/api/Auth/Sessions')
    expect(
      body.sessions.map(({ id, current }: { id: string; current: boolean }) => [id, current]),
    ).toEqual([
      [second.sessionId, true],
      [first.sessionId, false],
    ])
    expect(body.sessions[0]).toMatchObject({ userAgent: 'Test/1.0' })
    const { creation, lastUsed, expires } = body.sessions[0]
    expect(lastUsed).toBe(creation)
    expect(Date.parse(expires) - Date.parse(creation)).toBe(7 * DAY_MS)
    // A key of the user sees the same; one without a user sees none.
    expect((await account.call('GET', '/api/Auth/Sessions')).body.sessions).toEqual([])
    vi.setSystemTime(Date.now() + 8 * DAY_MS)
    const third = await signIn(account, user)
    expect((await third.call('GET', '/api/Auth/Sessions')).body.sessions).toHaveLength(1)
  })

  test('a user ends own sessions; others’ only with admin and without a group', async () => {
    const { account, user, ...mine } = await start({ privileges: ['read'] })
    const second = await signIn(account, user)
    const ended = await mine.call('DELETE', `/api/Auth/Sessions/${second.sessionId}`)
    expect(ended.status).toBe(200)
    expect((await refresh(second.cookie)).status).toBe(401)
    expect(await codeOf(second.token)).toBe('session-ended')

    const colleague = await signIn(account, await createSignInUser(account))
    const path = `/api/Auth/Sessions/${colleague.sessionId}`
    const refused = await mine.call('DELETE', path)
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden'])
    const unknown = await mine.call('DELETE', `/api/Auth/Sessions/ses_${'0'.repeat(22)}`)
    expect(unknown.body.detail).toBe(refused.body.detail)

    const group = await createGroup(account, { name: 'North' })
    const confined = await createBoundUser(account, { privileges: ['admin'], group: group.id })
    expect((await confined.call('DELETE', path)).body.code).toBe('session-not-found')
    const foreign = await openAccount()
    expect((await foreign.call('DELETE', path)).body.code).toBe('session-not-found')
    expect((await refresh(colleague.cookie)).status).toBe(200)
    expect((await account.call('DELETE', path)).status).toBe(200)
    expect((await account.call('DELETE', path)).body.code).toBe('session-not-found')
  })
})

describe('the token of a session', () => {
  test('stops within 30 seconds everywhere, and follows the user’s privileges and group', async () => {
    const { account, user, call: callAs } = await start({ privileges: ['read'] })
    const deviceId = await createDevice(account, 'Tern')
    const group = await createGroup(account, { name: 'North' })
    expect((await callAs('POST', '/api/groups', { body: { name: 'A' } })).status).toBe(403)
    await account.call('PATCH', `/api/users/${user.id}`, { body: { privileges: ['write'] } })
    expect((await callAs('POST', '/api/groups', { body: { name: 'A' } })).status).toBe(201)
    await account.call('PATCH', `/api/users/${user.id}`, { body: { group: group.name } })
    const hidden = await callAs('GET', `/api/devices/${deviceId}`)
    expect(hidden.body.code).toBe('device-not-found')
    // Another isolate ends the session: this one has its status cached for up to 15 s.
    await env.DB.prepare('DELETE FROM sessions WHERE user_id = ?').bind(user.id).run()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30_000 })
    expect((await callAs('GET', '/api/devices')).body.code).toBe('session-ended')
  })

  test('a changed password ends all sessions, whoever changed it', async () => {
    const { account, user, cookie, token } = await start()
    const body = { password: 'another good phrase' }
    await account.call('PATCH', `/api/users/${user.id}`, { body: { name: 'Same password' } })
    expect((await refresh(cookie)).status).toBe(200)
    await account.call('PATCH', `/api/users/${user.id}`, { body })
    expect(await codeOf(token)).toBe('session-ended')
    const { results } = await env.DB.prepare('SELECT id FROM sessions WHERE user_id = ?')
      .bind(user.id)
      .all()
    expect(results).toEqual([])
  })

  test('a deleted user’s sessions are gone', async () => {
    const { account, user, cookie, token } = await start()
    await account.call('DELETE', `/api/users/${user.id}`)
    expect(await codeOf(token)).toBe('session-ended')
    expect((await refresh(cookie)).status).toBe(401)
    expect(
      await env.DB.prepare('SELECT 1 FROM sessions WHERE user_id = ?').bind(user.id).first(),
    ).toBeNull()
  })

  test('opens a stream, which closes when the session ends', async () => {
    const { account, token, cookie } = await start()
    const stream = await listen(account, { token, query: '?types=device.*' })
    await createDevice(account, 'Tern')
    await stream.waitForEvents(1)
    await signOut(cookie)
    await passTime(account, 30_000)
    expect((await stream.waitForClose()).code).toBe(4401)
  })

  test('makes keys that are bound to the user, no wider, and outlast the session', async () => {
    const { account, user, cookie, call: callAs } = await start({ privileges: ['admin'] })
    const made = await callAs('POST', '/api/account/keys', {
      body: { name: 'Dispatch', scopes: ['read'] },
    })
    expect([made.status, made.body.key.userId, made.body.key.expires]).toEqual([201, user.id, null])
    const other = await createSignInUser(account)
    const wider = await callAs('POST', '/api/account/keys', {
      body: { name: 'Other', scopes: ['read'], userId: other.id },
    })
    expect(wider.status).toBe(403)
    // Within the 30 s that a token may outlive its session, it makes no key.
    await env.DB.prepare('DELETE FROM sessions WHERE user_id = ?').bind(user.id).run()
    const late = await callAs('POST', '/api/account/keys', {
      body: { name: 'Late', scopes: ['read'] },
    })
    expect([late.status, late.body.code]).toEqual([401, 'session-ended'])
    expect((await refresh(cookie)).status).toBe(401)
  })
})

test('the sweep deletes sessions that have ended, and erasing an account all of its', async () => {
  const { sessionId } = await start()
  const isStored = async () =>
    (await env.DB.prepare('SELECT 1 FROM sessions WHERE id = ?').bind(sessionId).first()) !== null
  await sweep(env, Date.now() + 7 * DAY_MS - 60_000)
  expect(await isStored()).toBe(true)
  await sweep(env, Date.now() + 7 * DAY_MS + 60_000)
  expect(await isStored()).toBe(false)
})

test('a bound key ends sessions with `write` only, and with `ingest` knows nothing of its user', async () => {
  const account = await openAccount()
  const user = await createSignInUser(account, { privileges: ['write'] })
  const { sessionId } = await signIn(account, user)
  const keyWith = async (...scopes: string[]) => {
    const { body } = await account.call('POST', '/api/account/keys', {
      body: { name: 'k', scopes, userId: user.id },
    })
    return callerWith(await fetchToken(account.userName, body.apiKey))
  }
  const [ingest, read, write] = [
    await keyWith('ingest'),
    await keyWith('read'),
    await keyWith('write'),
  ]
  for (const path of ['/api/me', '/api/Auth/Sessions'])
    expect([path, (await ingest.call('GET', path)).status]).toEqual([path, 403])
  const own = `/api/Auth/Sessions/${sessionId}`
  for (const key of [ingest, read]) expect((await key.call('DELETE', own)).status).toBe(403)
  expect((await read.call('GET', '/api/Auth/Sessions')).body.sessions).toHaveLength(1)
  expect((await write.call('DELETE', own)).status).toBe(200)
  expect((await read.call('GET', '/api/Auth/Sessions')).body.sessions).toEqual([])
})

describe('GET /api/me', () => {
  test('says who is calling: a session, a bound key, a key', async () => {
    const { account, user, call: callAs } = await start({ privileges: ['write'] })
    const own = {
      id: account.id,
      userName: account.userName,
      name: 'Test',
      timeZone: 'UTC',
      status: 'active',
      statusMessage: '',
      sandbox: null,
    }
    const session = await callAs('GET', '/api/me')
    expect(session.body).toEqual({
      success: true,
      account: own,
      user: {
        id: user.id,
        name: user.name,
        email: user.email,
        timeZone: 'Europe/Lisbon',
        message: '',
        notify: { email: true, sms: false, push: true, voice: false },
        privileges: ['write'],
        group: null,
        groupId: null,
        lastLogin: expect.any(String),
      },
      key: null,
      scopes: ['ingest', 'read', 'write'],
    })
    const bound = await createBoundUser(account, { privileges: ['read'] })
    const { body } = await bound.call('GET', '/api/me')
    expect([body.user.id, body.key.id, body.scopes]).toEqual([bound.id, bound.keyId, ['read']])
    const plain = await account.call('GET', '/api/me')
    expect(plain.body).toMatchObject({ account: own, user: null, scopes: ['admin'] })
    expect(plain.body.key).toMatchObject({ scopes: ['admin'], userId: null })
    expect(JSON.stringify(plain.body)).not.toContain('hash')
  })
})
