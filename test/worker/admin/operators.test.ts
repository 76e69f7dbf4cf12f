import { env } from 'cloudflare:workers'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { callWithBindings } from '../../support/bindings.ts'
import { call, callAsOperator, ORIGIN } from '../../support/http.ts'
import { SCOPES_OF } from '../../support/scopes.ts'
import { eventually } from '../../support/time.ts'
import { routes } from '../everyRoute/routes.ts'

const OPERATORS = '/admin/operators'
const HOUR_MS = 3_600_000

const create = async (body: object) => {
  const reply = await callAsOperator('POST', OPERATORS, { body })
  expect(reply.status, reply.text).toBe(201)
  return reply.body as { operator: { id: string }; apiKey: string }
}

const whoIs = (token: string) => call('GET', '/admin/me', { token })

const auditOf = async (id: string) =>
  (await callAsOperator('GET', `/admin/audit?resource=${id}`)).body.entries.map(
    ({ action, actor }: { action: string; actor: { id: string } }) => [action, actor.id],
  )

describe('keys of operators', () => {
  test('a named operator signs in with a key, and the audit names it', async () => {
    const { operator, apiKey } = await create({ name: 'Ana Sousa', role: 'owner' })
    expect(apiKey).toMatch(/^pgo_/)
    const me = await whoIs(apiKey)
    expect(me.body.operator).toEqual({
      id: operator.id,
      name: 'Ana Sousa',
      role: 'owner',
      rights: ['read', 'usage', 'support', 'own'],
      signIn: 'key',
    })
    const made = await call('POST', OPERATORS, {
      token: apiKey,
      body: { name: 'Reports', role: 'billing' },
    })
    expect(made.status).toBe(201)
    expect(await auditOf(made.body.operator.id)).toEqual([['operator.created', operator.id]])
    const stored = await env.DB.prepare('SELECT * FROM operators WHERE id = ?')
      .bind(operator.id)
      .first()
    expect(JSON.stringify(stored)).not.toContain(apiKey.split('_')[2])
  })

  test('ADMIN_TOKEN, and the one before it, are owners without a row', async () => {
    const previous = 'the-token-that-was-in-use-before-this-one'
    const me = await whoIs(env.ADMIN_TOKEN ?? '')
    expect(me.body.operator).toMatchObject({ id: 'operator', role: 'owner', signIn: 'token' })
    const ask = (ADMIN_TOKEN_PREVIOUS: string, token: string) =>
      callWithBindings({ ADMIN_TOKEN_PREVIOUS }, 'GET', '/admin/me', { token })
    expect((await ask(previous, previous)).status).toBe(200)
    expect((await ask(previous, env.ADMIN_TOKEN ?? '')).status).toBe(200)
    expect((await ask('', previous)).status).toBe(401)
    expect((await ask('too-short', 'too-short')).status).toBe(401)
  })

  test('a key that is wrong, expired, deleted or of an account is refused', async () => {
    const { operator, apiKey } = await create({
      name: 'Ana',
      role: 'owner',
      expires: new Date(Date.now() + HOUR_MS).toISOString(),
    })
    const other = await create({ name: 'Rui', role: 'owner' })
    const mixed = [...apiKey.split('_').slice(0, 2), ...other.apiKey.split('_').slice(2)].join('_')
    for (const token of [`${apiKey}x`, apiKey.slice(0, -1), mixed, 'pgo_', `pgk${apiKey.slice(3)}`])
      expect((await whoIs(token)).body.code, token).toBe('token-invalid')
    expect((await call('GET', '/api/account', { token: apiKey })).body.code).toBe('not-a-token')
    expect((await whoIs(apiKey)).status).toBe(200)
    await env.DB.prepare('UPDATE operators SET expires = ? WHERE id = ?')
      .bind(Date.now() - 1, operator.id)
      .run()
    expect((await whoIs(apiKey)).status).toBe(401)
    expect((await callAsOperator('DELETE', `${OPERATORS}/${other.operator.id}`)).status).toBe(200)
    expect((await whoIs(other.apiKey)).status).toBe(401)
    const again = await callAsOperator('DELETE', `${OPERATORS}/${other.operator.id}`)
    expect(again.body.code).toBe('operator-not-found')
  })

  test('a regenerated key overlaps with the one before, and no longer than that expires', async () => {
    const { operator, apiKey } = await create({ name: 'Ana', role: 'support' })
    const path = `${OPERATORS}/${operator.id}/regenerate`
    const replaced = await call('POST', path, { token: apiKey, body: { overlapSeconds: 600 } })
    expect(replaced.status, replaced.text).toBe(200)
    const next = replaced.body.apiKey as string
    expect([(await whoIs(apiKey)).status, (await whoIs(next)).status]).toEqual([200, 200])
    expect(Date.parse(replaced.body.operator.oldKeyUntil)).toBeGreaterThan(Date.now())
    const last = await callAsOperator('POST', path)
    expect((await whoIs(apiKey)).status).toBe(401)
    expect((await whoIs(next)).status).toBe(401)
    expect((await whoIs(last.body.apiKey)).status).toBe(200)
    const past = new Date(Date.now() - 1000).toISOString()
    expect((await callAsOperator('POST', path, { body: { expires: past } })).status).toBe(400)
  })

  test('a repeated regeneration replays, and a retry after a crash keeps the overlap', async () => {
    const { operator, apiKey } = await create({ name: 'Ana', role: 'support' })
    const path = `${OPERATORS}/${operator.id}/regenerate`
    const options = {
      body: { overlapSeconds: 600 },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    }
    const first = await callAsOperator('POST', path, options)
    const replay = await callAsOperator('POST', path, options)
    expect([first.body.apiKey !== null, replay.body.apiKey]).toEqual([true, null])
    await env.DB.prepare(`UPDATE idempotency SET status = NULL, headers = NULL, leased_until = 1,
        body = 'an attempt that crashed'`).run()
    const retried = await callAsOperator('POST', path, options)
    expect(retried.status, retried.text).toBe(200)
    for (const token of [apiKey, retried.body.apiKey]) expect((await whoIs(token)).status).toBe(200)
  })

  test('only owners and the key itself replace a key', async () => {
    const { operator } = await create({ name: 'Ana', role: 'support' })
    const other = await create({ name: 'Rui', role: 'support' })
    const path = `${OPERATORS}/${operator.id}/regenerate`
    expect((await call('POST', path, { token: other.apiKey })).body.code).toBe('forbidden')
  })

  test('a key does not make itself last longer than an owner has allowed', async () => {
    const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()
    const { operator, apiKey } = await create({ name: 'Ana', role: 'support', expires: at(2) })
    const path = `${OPERATORS}/${operator.id}/regenerate`
    const later = await call('POST', path, { token: apiKey, body: { expires: at(3) } })
    expect([later.status, later.body.code]).toEqual([403, 'forbidden'])
    const sooner = await call('POST', path, { token: apiKey, body: { expires: at(1) } })
    expect(sooner.status, sooner.text).toBe(200)
    const kept = await call('POST', path, { token: sooner.body.apiKey, body: { expires: null } })
    expect(kept.body.operator.expires).toBe(sooner.body.operator.expires)
    const owned = await callAsOperator('POST', path, { body: { expires: at(9) } })
    expect(owned.status, owned.text).toBe(200)
  })

  test('sign-ins, and refused ones, are counted in the audit by hour and network', async () => {
    const { operator, apiKey } = await create({ name: 'Ana', role: 'support' })
    const entriesOf = async (resource: string, action: string) =>
      (await callAsOperator('GET', `/admin/audit?action=${action}&resource=${resource}`)).body
        .entries
    const wrong = `${apiKey.split('_').slice(0, 2).join('_')}`
    const other = await create({ name: 'Rui', role: 'support' })
    const mixed = [wrong, ...other.apiKey.split('_').slice(2)].join('_')
    // Its checksum is right only by chance.
    for (const token of [apiKey, apiKey, mixed, 'x'.repeat(40)]) await whoIs(token)
    await eventually(async () => {
      const [entry, ...more] = await entriesOf(operator.id, 'operator.signedIn')
      expect(more).toEqual([])
      expect(entry).toMatchObject({
        account: null,
        actor: { type: 'operator', id: operator.id, name: 'Ana' },
        changes: [{ path: 'attempts', from: null, to: 1 }],
      })
      const all = await entriesOf('operator', 'signIn.refused')
      const refused = all.find(({ actor }: { actor: { type: string } }) => actor.type === 'system')
      expect(refused).toMatchObject({ actor: { id: 'sign-in' }, account: null })
      expect(refused.changes[0].to).toBeGreaterThan(1)
      expect(JSON.stringify(refused)).not.toContain('xxxx')
    })
  })

  test('an edit holds from the next request on', async () => {
    const { operator, apiKey } = await create({ name: 'Ana', role: 'support' })
    expect((await call('GET', '/admin/accounts', { token: apiKey })).status).toBe(200)
    const patched = await callAsOperator('PATCH', `${OPERATORS}/${operator.id}`, {
      body: { role: 'billing' },
    })
    expect(patched.body.operator.role).toBe('billing')
    expect((await call('GET', '/admin/accounts', { token: apiKey })).body.code).toBe('forbidden')
    const stale = await callAsOperator('PATCH', `${OPERATORS}/${operator.id}`, {
      body: { name: 'Rui' },
      headers: { 'If-Match': '"1.x"' },
    })
    expect(stale.status).toBe(412)
    const [updated] = (await callAsOperator('GET', `/admin/audit?resource=${operator.id}`)).body
      .entries
    expect(updated).toMatchObject({
      action: 'operator.updated',
      changes: [{ path: 'role', from: 'support', to: 'billing' }],
    })
  })

  test('two operators cannot have the same address', async () => {
    const email = `ana-${crypto.randomUUID()}@example.com`
    await create({ name: 'Ana', role: 'support', email })
    const body = { name: 'Other', role: 'owner', email: email.toUpperCase() }
    const refused = await callAsOperator('POST', OPERATORS, { body })
    expect(refused.body.code).toBe('email-taken')
    const { operator } = await create({ name: 'Rui', role: 'support' })
    const patched = await callAsOperator('PATCH', `${OPERATORS}/${operator.id}`, {
      body: { email },
    })
    expect(patched.body.code).toBe('email-taken')
  })
})

/** What each role may call, written out. Operations that are not here are for owners alone. */
const SUPPORT = `
  listAccounts readOperatedAccount listAllAudit listOperators readOperator readSelf
  regenerateOperatorKey startSupport endSupport readOperatorHealth readMetrics readMove
  listUsage readOperatedUsage`
const BILLING = 'readSelf regenerateOperatorKey listUsage readOperatedUsage'
const ROLES = { support: SUPPORT.trim().split(/\s+/), billing: BILLING.split(' ') }

describe.each(Object.entries(ROLES))('the role %s', (role, allowed) => {
  let token: string
  beforeAll(async () => {
    token = (await create({ name: role, role })).apiKey
  })

  test.each(
    routes
      .filter(({ contract }) => contract.scope === 'operator')
      .map(({ id, method, path }) => [id, method, path] as const),
  )('%s', async (id, method, path) => {
    expect(SCOPES_OF[id] ?? ['operator']).toEqual(['operator'])
    const target = path.replaceAll(/:[A-Za-z]+/g, 'none')
    const reply = await call(method, target, { token, body: method === 'GET' ? undefined : {} })
    if (allowed.includes(id) && id !== 'regenerateOperatorKey') expect(reply.status).not.toBe(403)
    else expect([reply.status, reply.body.code]).toEqual([403, 'forbidden'])
  })
})

describe('Cloudflare Access', () => {
  const AUDIENCE = '32eafc7626e737ff44ba5c2f6f5b0b0a'
  let team: string
  let issuer: string
  let published: object[]
  let fetches: number
  let isDown: boolean

  const makeKey = async (kid: string) => {
    const pair = await generateKeyPair('RS256', { extractable: true })
    const jwk = { ...(await exportJWK(pair.publicKey)), kid, alg: 'RS256', use: 'sig' }
    return { kid, jwk, privateKey: pair.privateKey }
  }
  type Key = Awaited<ReturnType<typeof makeKey>>

  let key: Key
  beforeAll(async () => {
    key = await makeKey('first')
  })
  beforeEach(() => {
    team = `team-${crypto.randomUUID()}.cloudflareaccess.com`
    issuer = `https://${team}`
    published = [key.jwk]
    fetches = 0
    isDown = false
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
      expect(String(input)).toBe(`${issuer}/cdn-cgi/access/certs`)
      fetches++
      return isDown ? new Response('', { status: 502 }) : Response.json({ keys: published })
    })
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  const signAs = (claims: JWTPayload, signer = key) =>
    new SignJWT({ email: 'nobody@example.com', iss: issuer, aud: [AUDIENCE], ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: signer.kid })
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(signer.privateKey)

  const ask = (
    assertion: string,
    {
      method = 'GET',
      path = '/admin/me',
      headers = {},
      body,
    }: Record<string, unknown> & {
      method?: string
      path?: string
      headers?: Record<string, string>
      body?: unknown
    } = {},
  ) =>
    callWithBindings({ ACCESS_TEAM_DOMAIN: team, ACCESS_AUD: AUDIENCE }, method, path, {
      headers: { 'Cf-Access-Jwt-Assertion': assertion, ...headers },
      ...(body !== undefined && { body }),
    })

  const createPerson = async (role = 'support') => {
    const email = `${crypto.randomUUID()}@example.com`
    const { operator, apiKey } = await create({ name: 'Ana Sousa', role, email })
    expect(apiKey).toBeNull()
    return { id: operator.id, email }
  }

  test('an address that Access has verified is that of its operator', async () => {
    const { id, email } = await createPerson()
    const reply = await ask(await signAs({ email: email.toUpperCase() }))
    expect(reply.body.operator).toMatchObject({ id, role: 'support', signIn: 'access' })
    await ask(await signAs({ email }))
    expect(fetches).toBe(1)
  })

  test('an unknown address, and none, are refused with 403', async () => {
    for (const claims of [{}, { email: undefined, common_name: 'program.access' }, { email: 7 }]) {
      const reply = await ask(await signAs(claims))
      expect([reply.status, reply.body.code]).toEqual([403, 'forbidden'])
    }
  })

  test.each([
    ['of another audience', () => signAs({ aud: ['another'] })],
    ['of another team', () => signAs({ iss: 'https://other.cloudflareaccess.com' })],
    ['of no certificate', async () => signAs({}, { ...(await makeKey('first')), kid: 'first' })],
    ['of an unknown certificate', async () => signAs({}, await makeKey('unknown'))],
    ['that is not valid yet', () => signAs({ nbf: Date.now() / 1000 + 600 })],
    ['that is no token', async () => 'nonsense'],
    [
      'without a signature',
      async () => `${btoa('{"alg":"none"}')}.${(await signAs({})).split('.')[1]}.`,
    ],
  ])('a token %s is refused', async (_, make) => {
    const { email } = await createPerson()
    expect((await ask(await signAs({ email }))).status).toBe(200)
    const reply = await ask(await make())
    expect([reply.status, reply.body.code]).toEqual([401, 'token-invalid'])
  })

  test('a token that has expired is refused', async () => {
    const { email } = await createPerson()
    const token = await new SignJWT({ email, iss: issuer, aud: AUDIENCE })
      .setProtectedHeader({ alg: 'RS256', kid: key.kid })
      .setIssuedAt(0)
      .setExpirationTime(Math.floor(Date.now() / 1000) - 60)
      .sign(key.privateKey)
    expect((await ask(token)).body.code).toBe('token-expired')
  })

  test('a new certificate is fetched when a token has it, at most every 30 seconds', async () => {
    const { email } = await createPerson()
    await ask(await signAs({ email }))
    const rotated = await makeKey('second')
    published = [rotated.jwk]
    const token = await signAs({ email }, rotated)
    expect((await ask(token)).status).toBe(401)
    expect(fetches).toBe(1)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
    expect((await ask(token)).status).toBe(200)
    expect(fetches).toBe(2)
    expect((await ask(await signAs({ email }))).status).toBe(401)
  })

  test('without the certificates the reply is 503', async () => {
    isDown = true
    expect((await ask(await signAs({}))).status).toBe(503)
  })

  test('a change needs an origin of the service, or a key', async () => {
    const { email } = await createPerson('owner')
    const token = await signAs({ email })
    const request = { method: 'POST', path: OPERATORS, body: { name: 'Rui', role: 'support' } }
    for (const headers of [{}, { Origin: 'https://evil.example' }, { Origin: 'null' }]) {
      const reply = await ask(token, { ...request, headers: headers as Record<string, string> })
      expect([reply.status, reply.body.code]).toEqual([403, 'wrong-origin'])
    }
    expect((await ask(token, { ...request, headers: { Origin: ORIGIN } })).status).toBe(201)
    const { apiKey } = await create({ name: 'Program', role: 'owner' })
    const headers = { Authorization: `Bearer ${apiKey}` }
    expect((await ask(token, { ...request, headers })).status).toBe(201)
  })

  test('without the settings, or with wrong ones, the token is ignored', async () => {
    const { email } = await createPerson()
    const headers = { 'Cf-Access-Jwt-Assertion': await signAs({ email }) }
    for (const settings of [{}, { ACCESS_AUD: AUDIENCE }, { ACCESS_TEAM_DOMAIN: team }]) {
      const reply = await callWithBindings(settings, 'GET', '/admin/me', { headers })
      expect(reply.body.code).toBe('token-missing')
    }
  })
})
