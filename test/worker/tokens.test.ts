import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { fetchToken, openAccount } from '../support/accounts.ts'
import { callWithBindings, watchStatements } from '../support/bindings.ts'
import { call, callAsOperator } from '../support/http.ts'
import { kidOf, makeToken, readToken } from '../support/tokens.ts'
import { createBoundUser } from '../support/users.ts'

afterEach(() => {
  vi.useRealTimers()
})

const getToken = (userName: string, apiKey: string, headers: Record<string, string> = {}) =>
  call('POST', '/api/Auth/Token', {
    body: { userName, apiKey },
    headers: { 'X-Request-Id': 'the-same', ...headers },
  })

/** A well-formed key that does not belong to the user name: another account's. */
const keyOfAnother = async () => (await openAccount()).apiKey

test('a user name and an API key get a token that reads the account', async () => {
  const account = await openAccount({ licenses: 3 })
  const reply = await account.call('GET', '/api/account')
  expect(reply.status).toBe(200)
  expect(reply.body).toMatchObject({
    success: true,
    account: { id: account.id, licenses: { total: 3, used: 0, available: 3 } },
  })
})

test('both spellings of the path and any case of the user name get a token', async () => {
  const { userName, apiKey } = await openAccount()
  for (const path of ['/api/Auth/Token', '/api/auth/token']) {
    const reply = await call('POST', path, { body: { userName: userName.toUpperCase(), apiKey } })
    expect(reply.status).toBe(200)
    expect(Object.keys(reply.body)).toEqual(['success', 'token', 'expires'])
  }
})

test('a token has all claims and is signed with HS256 under the kid of its secret', async () => {
  const account = await openAccount({ cell: 1 })
  const before = Math.floor(Date.now() / 1000)
  const { body } = await getToken(account.userName, account.apiKey)
  const { header, claims } = readToken(body.token)
  expect(header).toEqual({ alg: 'HS256', typ: 'JWT', kid: await kidOf(env.TOKEN_SECRET) })
  const keyId = `key_${account.apiKey.split('_')[1]}`
  expect(claims).toMatchObject({
    iss: 'perigee',
    aud: 'perigee-api',
    sub: account.id,
    key: keyId,
    scope: 'admin',
    user: null,
    cell: 1,
  })
  const { iat, exp, jti } = claims as { iat: number; exp: number; jti: string }
  expect(iat).toBeGreaterThanOrEqual(before)
  expect(exp - iat).toBe(3600)
  expect(body.expires).toBe(new Date(exp * 1000).toISOString())
  expect(jti).not.toBe(
    readToken((await getToken(account.userName, account.apiKey)).body.token).claims.jti,
  )
})

test('the lifetime of a token is configurable', async () => {
  const { userName, apiKey } = await openAccount()
  const { body } = await callWithBindings({ TOKEN_TTL_SECONDS: '120' }, 'POST', '/api/Auth/Token', {
    body: { userName, apiKey },
  })
  const { claims } = readToken(body.token)
  expect(Number(claims.exp) - Number(claims.iat)).toBe(120)
})

/** A key with a wrong last character, so that its checksum does not match. */
const mistyped = (apiKey: string) => apiKey.slice(0, -1) + (apiKey.endsWith('0') ? '8' : '0')

test('an unknown user name, a wrong key and a key of another account get identical replies', async () => {
  const account = await openAccount()
  const wrong = await keyOfAnother()
  const replies = [
    await getToken('nobody-has-this-name', account.apiKey),
    await getToken(account.userName, wrong),
    await getToken('nobody-has-this-name', wrong),
    await getToken(account.userName, mistyped(account.apiKey)),
    await getToken(account.userName, 'not a key at all'),
  ]
  for (const reply of replies) {
    expect(reply.status).toBe(401)
    expect(reply.body).toMatchObject({ success: false, code: 'wrong-credentials' })
    expect(Object.keys(reply.body)).not.toContain('token')
    expect(reply.text).toBe(replies[0]?.text)
    expect([...reply.headers]).toEqual([...(replies[0]?.headers ?? [])])
  }
})

test('an unknown user name costs the same reads as a wrong key, a bad checksum none', async () => {
  const account = await openAccount()
  const wrong = await keyOfAnother()
  const reads = async (userName: string, apiKey: string) => {
    const statements: string[] = []
    // The audit is written after the reply.
    const look = (sql: string) =>
      /INSERT INTO "audit"/i.test(sql) || statements.push(sql.replaceAll(/\s+/g, ' '))
    const bindings = {
      DB: watchStatements(env.DB, look),
      CELL_1: watchStatements(env.CELL_1, look),
    }
    const reply = await callWithBindings(bindings, 'POST', '/api/Auth/Token', {
      body: { userName, apiKey },
    })
    expect(reply.status).toBe(401)
    return statements
  }
  const forWrongKey = await reads(account.userName, wrong)
  expect(forWrongKey).toHaveLength(3)
  expect(await reads('nobody-has-this-name-either', wrong)).toEqual(forWrongKey)
  const flipped = account.apiKey.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  expect(await reads(account.userName, flipped)).toEqual([])
  expect(await reads(account.userName, 'pgk_short')).toEqual([])
})

test('only the right key learns that its account is disabled', async () => {
  const account = await openAccount()
  await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: true } })
  const right = await getToken(account.userName, account.apiKey)
  expect([right.status, right.body.code]).toEqual([403, 'account-disabled'])
  expect(Object.keys(right.body)).not.toContain('token')
  const wrong = await getToken(account.userName, await keyOfAnother())
  expect([wrong.status, wrong.body.code]).toEqual([401, 'wrong-credentials'])
  await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: false } })
  expect((await getToken(account.userName, account.apiKey)).status).toBe(200)
})

test('an invalid body gets 400 with a pointer', async () => {
  const pointers = async (body: unknown) => {
    const reply = await call('POST', '/api/Auth/Token', { body })
    expect(reply.status).toBe(400)
    return reply.body.errors.map(({ pointer }: { pointer: string }) => pointer)
  }
  expect(await pointers({ userName: 'x' })).toEqual(['/apiKey'])
  expect(await pointers({ userName: 1, apiKey: null })).toEqual(['/userName', '/apiKey'])
  expect(await pointers({ userName: '', apiKey: 'x'.repeat(129) })).toEqual([
    '/userName',
    '/apiKey',
  ])
  expect(await pointers({ userName: 'x', apiKey: 'y', password: 'z' })).toEqual(['/password'])
})

test('a token signed with the previous secret is valid, one with an unknown secret is not', async () => {
  const account = await openAccount()
  const { header, claims } = readToken(account.token)
  const status = async (secret: string, kid: string) => {
    const token = await makeToken(
      { ...header, kid },
      { ...claims, jti: crypto.randomUUID() },
      secret,
    )
    return (await call('GET', '/api/account', { token })).status
  }
  const previous = env.TOKEN_SECRET_PREVIOUS ?? ''
  expect(await status(previous, await kidOf(previous))).toBe(200)
  expect(await status(previous, await kidOf(env.TOKEN_SECRET))).toBe(401)
  expect(await status(env.TOKEN_SECRET, await kidOf(previous))).toBe(401)
  const unknown = 'a-secret-that-this-service-has-never-seen'
  expect(await status(unknown, await kidOf(unknown))).toBe(401)
})

test('after a rotation old tokens stay valid and new ones are signed with the new secret', async () => {
  const account = await openAccount()
  const rotated = {
    TOKEN_SECRET: 'the-secret-that-comes-after-the-one-in-use',
    TOKEN_SECRET_PREVIOUS: env.TOKEN_SECRET,
  }
  const signIn = { body: { userName: account.userName, apiKey: account.apiKey } }
  const { body } = await callWithBindings(rotated, 'POST', '/api/Auth/Token', signIn)
  expect(readToken(body.token).header.kid).toBe(await kidOf(rotated.TOKEN_SECRET))
  for (const token of [account.token, body.token]) {
    expect((await callWithBindings(rotated, 'GET', '/api/account', { token })).status).toBe(200)
  }
})

test('a token with a missing or wrong claim is refused', async () => {
  const account = await openAccount()
  const { header, claims } = readToken(account.token)
  const status = async (changed: object, head: object = header) => {
    const token = await makeToken(
      head,
      { ...claims, jti: crypto.randomUUID(), ...changed },
      env.TOKEN_SECRET,
    )
    return (await call('GET', '/api/account', { token })).status
  }
  expect(await status({})).toBe(200)
  const wrong = {
    iss: ['another', undefined],
    aud: ['another', undefined, []],
    sub: ['acc_0000000000000000000000', '', undefined],
    key: ['key_0000000000000000000000', undefined, 7],
    exp: [undefined, 'soon', 0],
    iat: [undefined],
    jti: [undefined],
    cell: [77, '0', undefined, -1, 0.5],
    user: ['usr_0000000000000000000000'],
  }
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values)
      expect(await status({ [name]: value }), `${name}: ${value}`).toBe(401)
  }
  expect(await status({ scope: '' })).toBe(403)
  expect(await status({ scope: 'everything' })).toBe(403)
  const { kid } = header
  for (const head of [
    { alg: 'HS256' },
    { alg: 'hs256', kid },
    { alg: 'HS256', kid, crit: ['x'], x: 1 },
    { kid },
    { alg: 'HS256', kid: '' },
  ]) {
    expect(await status({}, head), JSON.stringify(head)).toBe(401)
  }
})

test('a token is valid for 30 s after it expires and no longer, cached or not', async () => {
  const account = await openAccount()
  const end = Number(readToken(account.token).claims.exp) * 1000
  const uncached = await fetchToken(account.userName, account.apiKey)
  vi.useFakeTimers({ toFake: ['Date'], now: end + 29_000 })
  expect((await account.call('GET', '/api/account')).status).toBe(200)
  vi.setSystemTime(end + 31_000)
  expect((await account.call('GET', '/api/account')).status).toBe(401)
  vi.setSystemTime(Number(readToken(uncached).claims.exp) * 1000 + 31_000)
  expect((await call('GET', '/api/account', { token: uncached })).status).toBe(401)
})

test('401 says why a token is refused, in `code` and in WWW-Authenticate', async () => {
  const refusal = async (token: string) => {
    const { status, body, headers } = await call('GET', '/api/account', { token })
    expect(status).toBe(401)
    expect(body.type).toBe(`/problems/${body.code}`)
    expect(headers.get('WWW-Authenticate')).toBe(
      `Bearer error="invalid_token", error_description="${body.detail}", code="${body.code}"`,
    )
    return body.code
  }
  const account = await openAccount()
  const { header, claims } = readToken(account.token)
  const past = Math.floor(Date.now() / 1000) - 60
  const sign = (changed: object, secret = env.TOKEN_SECRET) =>
    makeToken(header, { ...claims, ...changed }, secret)
  expect(await refusal(await sign({ exp: past }))).toBe('token-expired')
  expect(await refusal(`${account.token}x`)).toBe('token-invalid')
  expect(await refusal(account.apiKey)).toBe('not-a-token')

  const disabled = await createBoundUser(account, {})
  await account.call('PATCH', `/api/users/${disabled.id}`, { body: { disabled: true } })
  expect(await refusal(disabled.token)).toBe('user-disabled')
  const early = await createBoundUser(account, {})
  await account.call('PATCH', `/api/users/${early.id}`, {
    body: { from: '2099-01-01T00:00:00Z' },
  })
  expect(await refusal(early.token)).toBe('user-disabled')
  const deleted = await createBoundUser(account, {})
  await account.call('DELETE', `/api/users/${deleted.id}`)
  expect(await refusal(deleted.token)).toBe('key-revoked')

  await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: true } })
  expect(await refusal(account.token)).toBe('account-disabled')
  const missing = await call('GET', '/api/account')
  expect([missing.body.code, missing.headers.get('WWW-Authenticate')]).toEqual([
    'token-missing',
    'Bearer code="token-missing"',
  ])
})

test('a token without our signature learns nothing about its account, key or user', async () => {
  const account = await openAccount()
  const { header, claims } = readToken(account.token)
  await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: true } })
  const forged = [{}, { exp: 1 }, { key: 'key_0000000000000000000000' }, { cell: 77 }]
  for (const changed of forged) {
    const token = await makeToken(header, { ...claims, ...changed }, 'x'.repeat(40))
    const { body } = await call('GET', '/api/account', { token })
    expect(body.code, JSON.stringify(changed)).toBe('token-invalid')
  }
})

test('the tokens of an erased account are refused as revoked, also where the ledger decides', async () => {
  const account = await openAccount()
  // The clock stands still, so that the status of the key stays cached.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  await account.call('GET', '/api/account')
  const ledger = env.LEDGER.get(env.LEDGER.idFromName(account.id))
  await ledger.eraseAccount(null)
  for (const [method, path, body] of [
    ['GET', '/api/account', undefined],
    ['POST', '/api/devices', { name: 'Tern' }],
  ] as const) {
    const reply = await account.call(method, path, { body })
    expect([reply.status, reply.body.code], path).toEqual([401, 'key-revoked'])
  }
})
