import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { hashPassword, isPassword } from '../../../src/auth/password.ts'
import type { Env } from '../../../src/env.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { callWithBindings, watchStatements } from '../../support/bindings.ts'
import { call, callAsOperator, type Reply } from '../../support/http.ts'
import {
  cookieOf,
  createSignInUser,
  credentialsOf,
  PASSWORD,
  postSignIn,
  refresh,
  signIn,
} from '../../support/sessions.ts'
import { iso } from '../../support/time.ts'
import { readToken } from '../../support/tokens.ts'
import { createUser } from '../../support/users.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const sessionsOf = async (db: D1Database, userId: string) =>
  (await db.prepare('SELECT * FROM sessions WHERE user_id = ?').bind(userId).all()).results

test('a user signs in and gets a token with the user’s privileges, and the session cookie', async () => {
  const account = await openAccount({ cell: 1 })
  const user = await createSignInUser(account, { privileges: ['read', 'write'] })
  const before = Date.now()
  const reply = await postSignIn(credentialsOf(account, user))
  expect(reply.status, reply.text).toBe(200)
  expect(Object.keys(reply.body)).toEqual(['success', 'token', 'expires'])
  expect(Date.parse(reply.body.expires) - before).toBeGreaterThan(3_590_000)

  const [cookie = ''] = reply.headers.getSetCookie()
  const [value = '', ...attributes] = cookie.split('; ')
  expect(value).toMatch(/^__Secure-perigee_session=1\.ses_[0-9a-z]{22}\.1\.[\w-]{43}$/)
  expect(attributes.sort()).toEqual(
    ['HttpOnly', 'Max-Age=604800', 'Path=/api/Auth', 'SameSite=Strict', 'Secure'].sort(),
  )

  const { claims } = readToken(reply.body.token)
  expect(claims).toMatchObject({ sub: account.id, user: user.id, scope: 'read write', cell: 1 })
  expect(claims.key).toBe(value.split('.')[1])
  expect(await sessionsOf(env.DB, user.id)).toEqual([])
  expect(await sessionsOf(env.CELL_1, user.id)).toHaveLength(1)
  const devices = await call('GET', '/api/devices', { token: reply.body.token })
  expect(devices.status).toBe(200)
  const users = await call('DELETE', `/api/users/${user.id}`, { token: reply.body.token })
  expect([users.status, users.body.code]).toEqual([403, 'forbidden'])
  const { body } = await account.call('GET', `/api/users/${user.id}`)
  expect(Date.parse(body.lastLogin)).toBeGreaterThanOrEqual(before)
  expect(body.modification).toBe(user.modification)
})

test('account and e-mail are compared without regard to case, the password exactly', async () => {
  const account = await openAccount()
  const user = await createSignInUser(account, { email: `Ana.${Date.now()}@Example.com` })
  const credentials = credentialsOf(account, user)
  const loud = {
    ...credentials,
    account: credentials.account.toUpperCase(),
    email: credentials.email.toUpperCase(),
  }
  expect((await postSignIn(loud)).status).toBe(200)
  const wrong = { ...credentials, password: PASSWORD.toUpperCase() }
  expect((await postSignIn(wrong)).status).toBe(401)
})

describe('a failed sign-in', () => {
  const failures = async (account: TestAccount, other: TestAccount) => {
    const user = await createSignInUser(account)
    const unset = (await createUser(account, { email: `${crypto.randomUUID()}@example.com` })) as {
      email: string
    }
    const right = credentialsOf(account, user)
    return {
      'unknown account': { ...right, account: 'nobody-has-this-name' },
      'unknown e-mail': { ...right, email: 'nobody@example.com' },
      'not an e-mail': { ...right, email: 'nobody' },
      'user of another account': { ...right, account: other.userName },
      'wrong password': { ...right, password: 'incorrect horse battery' },
      'no password': { ...right, email: unset.email },
    }
  }

  test('is the same 401, byte for byte, whatever is wrong', async () => {
    const [account, other] = [await openAccount(), await openAccount({ cell: 1 })]
    const replies: Reply[] = []
    for (const body of Object.values(await failures(account, other)))
      replies.push(await postSignIn(body, { 'X-Request-Id': 'the-same' }))
    for (const { status, body, headers } of replies) {
      expect([status, body.code]).toEqual([401, 'wrong-credentials'])
      expect(headers.has('Set-Cookie')).toBe(false)
    }
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    const headersOf = ({ headers }: Reply) =>
      JSON.stringify([...headers].filter(([name]) => name !== 'ratelimit'))
    expect(new Set(replies.map(headersOf)).size).toBe(1)
  })

  test('costs the same reads and one hash of the same size, whatever is wrong', async () => {
    const [account, other] = [await openAccount(), await openAccount()]
    const cases = await failures(account, other)
    const work: Record<string, string> = {}
    for (const [name, body] of Object.entries(cases)) {
      const statements: string[] = []
      // The audit is written after the reply.
      const note = (sql: string) => {
        if (!/INSERT INTO "audit"/.test(sql)) statements.push(sql)
      }
      const watched = watchStatements(env.DB, note)
      const derive = vi.spyOn(crypto.subtle, 'deriveBits')
      const sign = vi.spyOn(crypto.subtle, 'sign')
      // The cell of an unknown name is picked among all.
      const CELL_1 = watchStatements(env.CELL_1, note)
      const cells = { DB: watched, CELL_1 } as Partial<Env>
      await callWithBindings(cells, 'POST', '/api/Auth/SignIn', { body })
      const hashes = derive.mock.calls.map(([algorithm, , bits]) => {
        const { iterations, salt } = algorithm as unknown as {
          iterations: number
          salt: Uint8Array
        }
        return [iterations, salt.byteLength, bits]
      })
      work[name] = JSON.stringify({ statements, hashes, signatures: sign.mock.calls.length })
      vi.restoreAllMocks()
    }
    expect(new Set(Object.values(work)).size, JSON.stringify(work, null, 2)).toBe(1)
    expect(work['wrong password']).toContain('[10000,16,256]')
  })

  test('is refused before any hash after 30 attempts a minute from one address', async () => {
    const account = await openAccount()
    const user = await createSignInUser(account)
    const derive = vi.spyOn(crypto.subtle, 'deriveBits')
    const attempt = (address: string, body: object = credentialsOf(account, user)) =>
      callWithBindings({ SIGN_INS_PER_ADDRESS: '' }, 'POST', '/api/Auth/SignIn', {
        body,
        headers: { 'CF-Connecting-IP': address },
      })
    const statuses = await Promise.all(
      Array.from(
        { length: 40 },
        async (_, index) =>
          (
            await attempt('192.0.2.7', {
              ...credentialsOf(account, user),
              email: `a${index}@x.example`,
            })
          ).status,
      ),
    )
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
    // On a slow machine most of thirty hashes would have to wait too long.
    const hashed = statuses.filter((status) => status === 401)
    expect(hashed.length).toBeGreaterThan(0)
    expect(derive).toHaveBeenCalledTimes(10 * hashed.length)
    // Even the right password waits, and so do links; another address does not.
    const refused = await attempt('192.0.2.7')
    expect([refused.status, refused.body.code]).toEqual([429, 'too-many-requests'])
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(refused.headers.get('RateLimit')).toMatch(/^"sign-in";r=0;t=\d+$/)
    const link = await callWithBindings(
      { SIGN_INS_PER_ADDRESS: '' },
      'POST',
      '/api/Auth/Password',
      {
        body: { link: 'x', password: PASSWORD },
        headers: { 'CF-Connecting-IP': '192.0.2.7' },
      },
    )
    expect(link.status).toBe(429)
    expect((await attempt('192.0.2.8')).status).toBe(200)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    expect((await attempt('192.0.2.7')).status).toBe(200)
  })
})

describe('a disabled user or account', () => {
  test('gets a reply that says so, once the password proved right', async () => {
    const account = await openAccount()
    const user = await createSignInUser(account)
    const right = credentialsOf(account, user)
    const wrong = { ...right, password: 'incorrect horse battery' }
    await account.call('PATCH', `/api/users/${user.id}`, {
      body: { disabled: true, disabledMessage: 'On leave until May.' },
    })
    const refused = await postSignIn(right)
    expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
      403,
      'user-disabled',
      'On leave until May.',
    ])
    expect(refused.headers.has('Set-Cookie')).toBe(false)
    expect((await postSignIn(wrong)).status).toBe(401)

    await account.call('PATCH', `/api/users/${user.id}`, {
      body: { disabled: false, expires: iso(Date.now() - 1000) },
    })
    expect((await postSignIn(right)).body.code).toBe('user-disabled')

    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: true } })
    const disabled = await postSignIn(right)
    expect([disabled.status, disabled.body.code]).toEqual([403, 'account-disabled'])
    expect((await postSignIn(wrong)).body.code).toBe('wrong-credentials')
  })

  test('loses all sessions when it is disabled, and enabling it brings none back', async () => {
    const account = await openAccount()
    const user = await createSignInUser(account)
    const { cookie, token } = await signIn(account, user)
    await account.call('PATCH', `/api/users/${user.id}`, { body: { disabled: true } })
    expect(await sessionsOf(env.DB, user.id)).toEqual([])
    expect((await refresh(cookie)).body.code).toBe('session-ended')
    await account.call('PATCH', `/api/users/${user.id}`, { body: { disabled: false } })
    expect((await refresh(cookie)).status).toBe(401)
    const reply = await call('GET', '/api/devices', { token })
    expect([reply.status, reply.body.code]).toEqual([401, 'session-ended'])
  })
})

test('a sign-in that was checked before the password changed starts no session', async () => {
  const account = await openAccount()
  const user = await createSignInUser(account)
  const changed = await account.call('PATCH', `/api/users/${user.id}`, {
    body: { password: 'another good phrase' },
  })
  expect(changed.status).toBe(200)
  const stored = await env.DB.prepare('SELECT password FROM users WHERE id = ?')
    .bind(user.id)
    .first<string>('password')
  await env.DB.prepare('UPDATE users SET password = ? WHERE id = ?')
    .bind(await hashPassword(env, PASSWORD), user.id)
    .run()
  // The password changes between the check and the insert.
  const { batch } = env.DB
  const racing = new Proxy(env.DB, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'batch') return member.bind(target)
      return async (statements: D1PreparedStatement[]) => {
        await target
          .prepare('UPDATE users SET password = ? WHERE id = ?')
          .bind(stored, user.id)
          .run()
        return batch.call(target, statements)
      }
    },
  })
  const reply = await callWithBindings({ DB: racing }, 'POST', '/api/Auth/SignIn', {
    body: credentialsOf(account, user),
  })
  expect([reply.status, reply.body.code]).toEqual([401, 'wrong-credentials'])
  expect(await sessionsOf(env.DB, user.id)).toEqual([])
})

test('a user has at most 50 sessions; a further one ends the oldest', async () => {
  const account = await openAccount()
  const user = await createSignInUser(account)
  const first = await signIn(account, user)
  await env.DB.batch(
    Array.from({ length: 49 }, (_, index) =>
      env.DB.prepare(
        `INSERT INTO sessions SELECT substr(id, 1, 22) || ?, account_id, user_id, counter, creation,
           last_used + ?, expires, user_agent, agent FROM sessions WHERE id = ?`,
      ).bind(String(index + 1000), index + 1, first.sessionId),
    ),
  )
  expect(await sessionsOf(env.DB, user.id)).toHaveLength(50)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 })
  const last = await signIn(account, user)
  expect(await sessionsOf(env.DB, user.id)).toHaveLength(50)
  expect((await refresh(first.cookie)).status).toBe(401)
  expect((await refresh(last.cookie)).status).toBe(200)
})

test('passwords that were hashed in one round keep working', async () => {
  const salt = new Uint8Array(16)
  const bytes = new TextEncoder().encode(PASSWORD)
  const key = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits'])
  const algorithm = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: 100_000 }
  const hash = new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, 256))
  const stored = `pbkdf2-sha256$100000$${salt.toBase64()}$${hash.toBase64()}`
  expect(await isPassword({}, PASSWORD, stored)).toBe(true)
  expect(await isPassword({}, `${PASSWORD}x`, stored)).toBe(false)
})

describe('the pepper', () => {
  test('is in new hashes, and hashes from before it was set keep working', async () => {
    const peppered = { PASSWORD_PEPPER: 'the-pepper-of-the-tests' }
    const [plain, hash] = [await hashPassword({}, PASSWORD), await hashPassword(peppered, PASSWORD)]
    expect(plain).toMatch(/^pbkdf2-sha256\$10x10000\$/)
    expect(hash).toMatch(/^pbkdf2-sha256-pepper\$10x10000\$/)
    expect(await isPassword(peppered, PASSWORD, plain)).toBe(true)
    expect(await isPassword(peppered, PASSWORD, hash)).toBe(true)
    expect(await isPassword({}, PASSWORD, hash)).toBe(false)
    expect(await isPassword({ PASSWORD_PEPPER: 'another' }, PASSWORD, hash)).toBe(false)
    expect(await isPassword(peppered, 'incorrect horse battery', hash)).toBe(false)
    expect(await isPassword(peppered, PASSWORD, null)).toBe(false)
  })

  test('is used by the routes', async () => {
    const account = await openAccount()
    const bindings = { PASSWORD_PEPPER: 'the-pepper-of-the-tests' }
    const body = {
      name: 'Ana',
      email: 'peppered@example.com',
      country: 'PT',
      timeZone: 'UTC',
      password: PASSWORD,
    }
    const { token } = account
    const made = await callWithBindings(bindings, 'POST', '/api/users', { token, body })
    expect(made.status).toBe(201)
    const credentials = credentialsOf(account, made.body)
    const signedIn = await callWithBindings(bindings, 'POST', '/api/Auth/SignIn', {
      body: credentials,
    })
    expect(signedIn.status, signedIn.text).toBe(200)
    expect((await postSignIn(credentials)).status).toBe(401)
  })
})

test('nothing under /api/Auth/ replays an Idempotency-Key', async () => {
  const account = await openAccount()
  const user = await createSignInUser(account)
  const headers = { 'Idempotency-Key': 'the-same' }
  const first = await postSignIn(credentialsOf(account, user), headers)
  const second = await postSignIn(credentialsOf(account, user), headers)
  expect([first.status, second.status]).toEqual([200, 200])
  expect(second.headers.has('Idempotent-Replayed')).toBe(false)
  expect(cookieOf(second)).not.toBe(cookieOf(first))
  const wrong = await postSignIn({ ...credentialsOf(account, user), password: 'x' }, headers)
  expect(wrong.status).toBe(401)
  for (const path of ['/api/auth/SignIn', '/api/Auth/signin', '/api/auth/signin']) {
    const other = await account.call('POST', path, { body: credentialsOf(account, user) })
    expect([other.status, other.body.code], path).toEqual([404, 'route-not-found'])
  }
})
