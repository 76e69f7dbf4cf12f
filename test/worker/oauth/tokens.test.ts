import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { networkOf } from '../../../src/domain/text/address.ts'
import { countersOfRegistration } from '../../../src/sessions/attempts.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { callerWith, openAccount } from '../../support/accounts.ts'
import { listSubscriptions, makeBrowser, PUSH_PATH, subscribe } from '../../support/alerts/push.ts'
import { callWithBindings } from '../../support/bindings.ts'
import { call, ORIGIN } from '../../support/http.ts'
import { createSignInUser, signIn } from '../../support/sessions.ts'
import { eventually } from '../../support/time.ts'
import {
  codeOf,
  connectAgent,
  decide,
  exchange,
  postForm,
  REDIRECT_URI,
  refreshAgent,
  register,
  startClient,
} from './agent.ts'

afterEach(() => {
  vi.useRealTimers()
})

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const start = async (members: object = {}) => {
  const account = await openAccount()
  const user = await createSignInUser(account, { privileges: ['admin'], ...members })
  return { account, user, ...(await signIn(account, user)) }
}

const statusOf = async (token: string) => (await call('GET', '/api/devices', { token })).status

const agentsOf = async (person: Pick<Awaited<ReturnType<typeof start>>, 'call'>) => {
  const { body } = await person.call('GET', '/api/Auth/Sessions')
  return body.sessions.filter(({ agent }: { agent: unknown }) => agent !== null)
}

/** What is stored of a session in the directory of all accounts. */
const countGrants = async (sessionId: string): Promise<number> => {
  const found = await env.DB.prepare('SELECT count(*) AS n FROM oauth_records WHERE id LIKE ?')
    .bind(`grant:${sessionId}:%`)
    .first<{ n: number }>()
  return found?.n ?? 0
}

const expectOutlasting = ({ status, body }: Awaited<ReturnType<typeof call>>) =>
  expect([status, body.detail]).toEqual([403, expect.stringContaining('would outlast the access')])

describe('what an agent leaves in the directory of all accounts', () => {
  test('ends when the user signs out everywhere, and with sessions beyond the limit', async () => {
    const { user, account, ...person } = await start()
    await connectAgent(person)
    const [first] = await agentsOf(person)
    const headers = { Cookie: person.cookie, Origin: ORIGIN }
    await call('POST', '/api/Auth/SignOut', { body: { everywhere: true }, headers })
    await eventually(async () => expect(await countGrants(first.id)).toBe(0))
    const again = await signIn(account, user)
    await connectAgent(again)
    const [second] = await agentsOf(again)
    const copies = `INSERT INTO sessions (id, account_id, user_id, counter, creation, last_used,
      expires, user_agent) SELECT 'ses_copy' || value, account_id, user_id, 1, creation,
      last_used + 60000, expires, '' FROM sessions, json_each(?) WHERE sessions.id = ?`
    await env.DB.prepare(copies)
      .bind(JSON.stringify([...Array(50).keys()]), second.id)
      .run()
    await signIn(account, user)
    await eventually(async () => expect(await countGrants(second.id)).toBe(0))
  })

  test('is limited: a user lets in thirty programs an hour', async () => {
    const { account, user, ...person } = await start()
    const client = await startClient()
    const other = await signIn(account, await createSignInUser(account))
    for (let n = 0; n < 30; n++) expect((await decide(person, client, ['read'])).status).toBe(200)
    const refused = await decide(person, client, ['read'])
    expect([refused.status, refused.body.code]).toEqual([429, 'too-many-requests'])
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect((await decide(person, client, [])).status).toBe(200)
    expect((await decide(other, client, ['read'])).status).toBe(200)
  })

  test('is a client for a day until it has a token, and then as long as its session', async () => {
    const person = await start()
    const client = await startClient()
    const read = () =>
      env.DB.prepare('SELECT is_unused, expires FROM oauth_records WHERE id = ?')
        .bind(`client:${client.clientId}`)
        .first<{ is_unused: number; expires: number }>()
    const { body } = await decide(person, client, ['read'])
    const asked = await read()
    expect(asked?.is_unused).toBe(1)
    expect(asked?.expires).toBeLessThanOrEqual(Date.now() + DAY_MS)
    await exchange(client, codeOf(body.redirectTo))
    const used = await read()
    expect(used?.is_unused).toBe(0)
    expect(Math.round(((used?.expires ?? 0) - Date.now()) / DAY_MS)).toBe(31)
  })
})

describe('a request of a program', () => {
  const asked = (path: string, address: string) =>
    callWithBindings(
      { OAUTH_REQUESTS_PER_ADDRESS: '2' },
      path ? 'POST' : 'GET',
      path || '/oauth/authorize',
      {
        headers: {
          'CF-Connecting-IP': address,
          ...(path && { 'Content-Type': 'application/x-www-form-urlencoded' }),
        },
        ...(path && { body: 'grant_type=refresh_token&client_id=unknown' }),
      },
    )

  test.each(['', '/oauth/token', '/oauth/revoke'])('counts for its network: %s', async (path) => {
    const address = `192.0.2.${path.length}`
    const statuses = []
    for (let n = 0; n < 3; n++) statuses.push((await asked(path, address)).status)
    expect(statuses).toEqual([...Array(2).fill(path ? 401 : 400), 429])
    expect((await asked(path, `${address}0`)).status).not.toBe(429)
  })

  test('for a token counts for the account of the session', async () => {
    const { client, reply, refreshToken } = await connectAgent(await start())
    const leftOf = ({ headers }: typeof reply) =>
      Number(/r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1])
    const left = leftOf(reply)
    expect(left).toBeGreaterThan(0)
    const refreshed = await refreshAgent(client, refreshToken)
    expect(leftOf(refreshed)).toBe(left - 1)
    const form = {
      grant_type: 'refresh_token',
      client_id: client.clientId,
      refresh_token: refreshed.body.refresh_token,
    }
    const refused = await callWithBindings(
      { ACCOUNT_REQUESTS_PER_MINUTE: '1' },
      'POST',
      '/oauth/token',
      {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
      },
    )
    expect(refused.status).toBe(429)
    // The refusal has not used the refresh token up.
    expect((await refreshAgent(client, refreshed.body.refresh_token)).status).toBe(200)
  })
})

describe('a code', () => {
  test('is good once: its second use ends the session of the first', async () => {
    const person = await start()
    const { client, code, token, refreshToken } = await connectAgent(person)
    expect(await statusOf(token)).toBe(200)
    const again = await exchange(client, code)
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant'])
    expect(await statusOf(token)).toBe(401)
    expect((await refreshAgent(client, refreshToken)).body.error).toBe('invalid_grant')
    expect(await agentsOf(person)).toEqual([])
  })

  test('is good once among many uses at the same time', async () => {
    const person = await start()
    const client = await startClient()
    const code = codeOf((await decide(person, client, ['read'])).body.redirectTo)
    const replies = await Promise.all(Array.from({ length: 5 }, () => exchange(client, code)))
    expect(replies.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(replies.filter(({ status }) => status === 400).length).toBeGreaterThanOrEqual(4)
  })

  test.each([
    ['another verifier', { code_verifier: 'x'.repeat(43) }],
    ['another address', { redirect_uri: 'https://agent.example.com/other' }],
    ['another resource', { resource: 'https://other.example.com/mcp' }],
    ['a changed secret', { code: 'ses_0:x:y' }],
  ])('is refused with %s', async (_, changes) => {
    const person = await start()
    const client = await startClient()
    const code = codeOf((await decide(person, client, ['read'])).body.redirectTo)
    const reply = await exchange(client, code, changes)
    expect(reply.status).toBe(400)
    expect(reply.body.access_token).toBeUndefined()
  })

  test('is refused to another client, and after ten minutes', async () => {
    const person = await start()
    const client = await startClient()
    const other = await startClient()
    const code = codeOf((await decide(person, client, ['read'])).body.redirectTo)
    const stolen = await exchange(client, code, { client_id: other.clientId })
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant'])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 601_000 })
    expect((await exchange(client, code)).body.error).toBe('invalid_grant')
  })
})

describe('an agent', () => {
  test('is a session of the user, with its name and what it may do', async () => {
    const person = await start()
    const { token } = await connectAgent(person, ['read'])
    const [agent] = await agentsOf(person)
    expect(agent).toMatchObject({
      current: false,
      userAgent: '',
      agent: { name: 'Field assistant', scopes: ['read'] },
    })
    expect(Date.parse(agent.expires) - Date.parse(agent.lastUsed)).toBe(30 * DAY_MS)
    const own = await callerWith(token).call('GET', '/api/me')
    expect(own.body).toMatchObject({ user: { id: person.user.id }, key: null, scopes: ['read'] })
  })

  test('uses the tools that its scopes allow, at /mcp', async () => {
    const person = await start()
    const listTools = async (scopes: string[]) => {
      const { token } = await connectAgent(person, scopes)
      const reply = await call('POST', '/mcp', {
        token,
        headers: { Accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
      })
      expect(reply.status, reply.text).toBe(200)
      return reply.text
    }
    const [reading, writing] = [await listTools(['read']), await listTools(['write'])]
    expect(reading).toContain('find_devices')
    expect(writing.length).toBeGreaterThan(reading.length)
  })

  test('ends when the user ends it: its token and its refresh token', async () => {
    const person = await start()
    const { client, token, refreshToken } = await connectAgent(person)
    const [agent] = await agentsOf(person)
    expect((await person.call('DELETE', `/api/Auth/Sessions/${agent.id}`)).status).toBe(200)
    expect(await statusOf(token)).toBe(401)
    await eventually(async () => expect(await countGrants(agent.id)).toBe(0))
    const refused = await refreshAgent(client, refreshToken)
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_grant'])
    expect(await statusOf(person.token)).toBe(200)
  })

  test('gets further tokens, each time with another refresh token', async () => {
    const person = await start()
    const { client, refreshToken } = await connectAgent(person)
    const second = await refreshAgent(client, refreshToken)
    expect(second.status).toBe(200)
    expect(await statusOf(second.body.access_token)).toBe(200)
    expect(second.body.refresh_token).not.toBe(refreshToken)
    const third = await refreshAgent(client, second.body.refresh_token)
    expect(third.status).toBe(200)
    const other = await startClient()
    const stolen = await refreshAgent(other, third.body.refresh_token)
    expect(stolen.body.error).toBe('invalid_grant')
    // Nor does another program end it with an earlier one.
    expect((await refreshAgent(other, refreshToken)).body.error).toBe('invalid_grant')
    expect(await statusOf(third.body.access_token)).toBe(200)
  })

  test('ends when a refresh token is used again after its successor', async () => {
    const person = await start()
    const { client, refreshToken } = await connectAgent(person)
    const second = await refreshAgent(client, refreshToken)
    const third = await refreshAgent(client, second.body.refresh_token)
    expect(await statusOf(third.body.access_token)).toBe(200)
    expect((await refreshAgent(client, refreshToken)).body.error).toBe('invalid_grant')
    const last = await refreshAgent(client, third.body.refresh_token)
    expect([last.status, last.body.error]).toEqual([400, 'invalid_grant'])
    expect(await statusOf(third.body.access_token)).toBe(401)
    expect(await statusOf(person.token)).toBe(200)
  })

  test('that has ended locks out no other program of its network', async () => {
    const { client, refreshToken } = await connectAgent(await start())
    const ask = (token: string) =>
      callWithBindings({ TOKEN_FAILURES_PER_ADDRESS: '2' }, 'POST', '/oauth/token', {
        headers: {
          'CF-Connecting-IP': '192.0.2.77',
          'Content-Type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          client_id: client.clientId,
          refresh_token: token,
        }).toString(),
      })
    for (let tries = 0; tries < 4; tries++) expect((await ask('ses_1:2:3')).status).toBe(400)
    expect((await ask(refreshToken)).status).toBe(200)
  })

  test('can ask for less in a refresh, and never for more', async () => {
    const person = await start()
    const { client, refreshToken } = await connectAgent(person, ['write'])
    const less = await refreshAgent(client, refreshToken, { scope: 'read' })
    expect(less.body.scope).toBe('read')
    const agent = callerWith(less.body.access_token)
    expect((await agent.call('POST', '/api/devices', { body: { name: 'A' } })).status).toBe(403)
    const more = await refreshAgent(client, less.body.refresh_token, { scope: 'admin' })
    expect(more.body.error).toBe('invalid_scope')
  })

  test('loses what the user loses, and ends with the user', async () => {
    const { account, user, ...person } = await start()
    const { client, token, refreshToken } = await connectAgent(person, ['write'])
    const path = `/api/users/${user.id}`
    await account.call('PATCH', path, { body: { privileges: ['read'] } })
    const { body } = await callerWith(token).call('GET', '/api/me')
    expect(body.scopes).toEqual(['read'])
    await account.call('PATCH', path, { body: { disabled: true } })
    expect(await statusOf(token)).toBe(401)
    expect((await refreshAgent(client, refreshToken)).status).toBe(400)
  })

  test('is replaced when the same program asks again', async () => {
    const person = await start()
    const { client, token } = await connectAgent(person)
    const [{ id }] = await agentsOf(person)
    expect(await countGrants(id)).toBe(1)
    await decide(person, client, ['read'])
    expect(await countGrants(id)).toBe(0)
    expect(await agentsOf(person)).toHaveLength(1)
    expect((await agentsOf(person))[0].agent.scopes).toEqual(['read'])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
    expect(await statusOf(token)).toBe(401)
  })

  test('with read ends no session but its own', async () => {
    const person = await start()
    const reader = callerWith((await connectAgent(person, ['read'])).token)
    const refused = await reader.call('DELETE', `/api/Auth/Sessions/${person.sessionId}`)
    expect(refused.status).toBe(403)
    const { body } = await reader.call('GET', '/api/Auth/Sessions')
    const own = body.sessions.find(({ current }: { current: boolean }) => current)
    expect((await reader.call('DELETE', `/api/Auth/Sessions/${own.id}`)).status).toBe(200)
  })

  test('makes no key and no user, which would outlast its access', async () => {
    const person = await start()
    const agent = callerWith((await connectAgent(person, ['admin'])).token)
    const body = { name: 'k', scopes: ['read'] }
    const own = await person.call('POST', '/api/account/keys', { body })
    const userId = (await person.call('GET', '/api/me')).body.user.id
    expect(own.status).toBe(201)
    for (const [path, given] of [
      ['/api/account/keys', body],
      [`/api/account/keys/${own.body.key.id}/regenerate`, {}],
      ['/api/account/sandbox', {}],
      ['/api/users', { name: 'Own', email: 'own@agent.example', country: 'PT', timeZone: 'UTC' }],
      [`/api/users/${userId}/invite`, {}],
    ] as const) {
      const refused = await agent.call('POST', path, { body: given })
      expect([refused.status, refused.body.code], path).toEqual([403, 'forbidden'])
      expect(refused.body.detail).toContain('makes no API keys')
    }
    const user = (await person.call('GET', `/api/users/${userId}`)).body
    const emergencyContacts = [{ name: 'Agent', email: 'own@agent.example' }]
    for (const [method, path, given] of [
      ['PATCH', `/api/users/${userId}`, { password: 'a sentence that only the agent knows' }],
      ['PATCH', `/api/users/${userId}`, { email: 'own@agent.example' }],
      ['PATCH', `/api/users/${userId}`, { phone: '+351912345678' }],
      ['PUT', `/api/users/${userId}`, { ...user, phone: '+351912345678' }],
      ['PATCH', '/api/account', { emergencyContacts }],
    ] as const) {
      const refused = await agent.call(method, path, { body: given })
      expect([refused.status, refused.body.code], JSON.stringify(given)).toEqual([403, 'forbidden'])
    }
    expect((await agent.call('PATCH', '/api/account', { body: { name: 'Fleet' } })).status).toBe(
      200,
    )
    const { keys } = (await person.call('GET', '/api/account/keys')).body
    expect(keys.map(({ id }: { id: string }) => id)).toContain(own.body.key.id)
    expect((await person.call('GET', '/api/account/sandbox')).body.sandboxes).toEqual([])
  })

  test('makes no share, webhook or source, which would outlast its access too', async () => {
    const person = await start()
    const agent = callerWith((await connectAgent(person, ['admin'])).token)
    const device = await person.call('POST', '/api/devices', { body: { name: 'Tern' } })
    const share = { name: 'S', devices: [device.body.device.id] }
    const webhook = { url: 'https://receiver.example/agent/ok', events: ['alert.*'] }
    const address = { url: `${webhook.url}-2` }
    const source = { name: 'S', provider: 'traccar' }
    for (const [path, body] of [
      ['/api/shares', share],
      ['/api/webhooks', webhook],
      ['/api/sources', source],
    ] as const) {
      const made = await person.call('POST', path, { body })
      expect(made.status, made.text).toBe(201)
      const refused = await agent.call('POST', path, { body })
      expect([refused.status, refused.body.code], path).toEqual([403, 'forbidden'])
      const { id } = made.body.share ?? made.body.webhook ?? made.body.source
      const calls = [
        ...(made.body.source
          ? []
          : [['PATCH', '', { body: made.body.share ? { name: 'T' } : address }] as const]),
        ...(made.body.share ? [] : [['POST', '/rotate', {}] as const]),
      ]
      for (const [method, rest, options] of calls)
        expectOutlasting(await agent.call(method, `${path}/${id}${rest}`, options))
    }
  })

  test('sees no link to check in, which would outlast its access too', async () => {
    const person = await start()
    const agent = callerWith((await connectAgent(person, ['write'])).token)
    const device = await person.call('POST', '/api/devices', { body: { name: 'Tern' } })
    const body = { name: 'W', deviceId: device.body.device.id, everyMinutes: 60 }
    const made = await agent.call('POST', '/api/watches', { body })
    expect([made.status, made.body.url]).toEqual([201, ''])
    const path = `/api/watches/${made.body.watch.id}/link`
    expectOutlasting(await agent.call('POST', path))
    expect((await person.call('POST', path)).body.url).toContain('/c/')
    expect((await person.call('POST', '/api/watches', { body })).body.url).toContain('/c/')
  })

  test('cannot see, add or delete the push subscriptions of its user', async () => {
    const person = await start()
    const made = await subscribe(person, await makeBrowser())
    const { token } = await connectAgent(person, ['admin'])
    const agent = callerWith(token)
    const { id } = made.body.pushSubscription
    for (const reply of [
      await agent.call('GET', PUSH_PATH),
      await subscribe(agent, await makeBrowser()),
      await agent.call('DELETE', `${PUSH_PATH}/${id}`),
    ])
      expect([reply.status, reply.body.code]).toEqual([403, 'forbidden'])
    expect(await listSubscriptions(person)).toEqual([made.body.pushSubscription])
  })

  test('is named in the audit', async () => {
    const { account, ...person } = await start()
    const { token } = await connectAgent(person, ['write'])
    await callerWith(token).call('POST', '/api/devices', { body: { name: 'A' } })
    const { body } = await account.call('GET', '/api/account/audit?action=device.created')
    expect(body.entries[0].actor.name).toMatch(/\(Field assistant\)$/)
    const started = await account.call('GET', '/api/account/audit?action=session.started')
    expect(JSON.stringify(started.body.entries)).toContain('Field assistant')
  })

  test('sees nothing of another account, and nobody there can end it', async () => {
    const person = await start()
    const other = await start()
    const { token } = await connectAgent(person, ['admin'])
    const [agent] = await agentsOf(person)
    expect((await other.account.call('DELETE', `/api/Auth/Sessions/${agent.id}`)).status).toBe(404)
    const seen = await callerWith(token).call('DELETE', `/api/Auth/Sessions/${other.sessionId}`)
    expect(seen.status).toBe(404)
  })

  test('of an account in another cell works alike', async () => {
    const account = await openAccount({ cell: 1 })
    const person = await signIn(account, await createSignInUser(account, { privileges: ['admin'] }))
    const { client, token, refreshToken } = await connectAgent(person)
    expect(await statusOf(token)).toBe(200)
    expect((await refreshAgent(client, refreshToken)).status).toBe(200)
  })
})

describe('a program that gives its access back', () => {
  test.each(['token', 'refreshToken'] as const)('by its %s ends its session', async (which) => {
    const person = await start()
    const agent = await connectAgent(person)
    const form = { client_id: agent.client.clientId, token: agent[which] }
    const reply = await postForm('/oauth/revoke', form)
    expect([reply.status, reply.text]).toEqual([200, ''])
    expect(await statusOf(agent.token)).toBe(401)
    expect(await agentsOf(person)).toEqual([])
  })

  test('ends no session of another program or of a person', async () => {
    const person = await start()
    const agent = await connectAgent(person)
    const { clientId } = await startClient()
    for (const token of [agent.token, agent.refreshToken, person.token])
      expect((await postForm('/oauth/revoke', { client_id: clientId, token })).status).toBe(200)
    expect(await statusOf(agent.token)).toBe(200)
    expect(await statusOf(person.token)).toBe(200)
    const own = { client_id: agent.client.clientId, token: person.token }
    expect((await postForm('/oauth/revoke', own)).status).toBe(200)
    expect(await statusOf(person.token)).toBe(200)
    const unknown = await postForm('/oauth/revoke', { client_id: 'unknown', token: agent.token })
    expect([unknown.status, unknown.body.error]).toEqual([401, 'invalid_client'])
  })
})

describe('the registration', () => {
  test('is refused where it is too large, too frequent or unsafe', async () => {
    expect((await register({ client_name: 'x'.repeat(9000) })).status).toBe(413)
    for (const redirect of ['javascript:alert(1)', 'http://agent.example.com/callback', 'data:,x'])
      expect((await register({ redirect_uris: [redirect] })).status).toBe(400)
    const again = () =>
      callWithBindings({ SIGN_INS_PER_ADDRESS: '2' }, 'POST', '/oauth/register', {
        headers: { 'CF-Connecting-IP': '192.0.2.7' },
        body: { redirect_uris: [REDIRECT_URI] },
      })
    const replies = [await again(), await again(), await again()]
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 429])
  })

  test('ends after a day without a user, and goes on with one', async () => {
    const person = await start()
    const unused = await startClient()
    const { client, refreshToken } = await connectAgent(person)
    const later = Date.now() + 2 * DAY_MS
    vi.useFakeTimers({ toFake: ['Date'], now: later })
    expect((await call('GET', `/oauth/authorize?${unused.query}`)).status).toBe(400)
    expect((await refreshAgent(client, refreshToken)).status).toBe(200)
    await sweep(env, later)
    const ids = await env.DB.prepare('SELECT id FROM oauth_records').all<{ id: string }>()
    const stored = ids.results.map(({ id }) => id)
    expect(stored).toContain(`client:${client.clientId}`)
    expect(stored).not.toContain(`client:${unused.clientId}`)
  })

  test('keeps a limited number of clients that nobody has let in', async () => {
    const used = await connectAgent(await start())
    await env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2100)
       INSERT INTO oauth_records (id, value, expires, is_unused)
       SELECT 'client:flood-' || i, '{}', ? + i, 1 FROM n`,
    )
      .bind(Date.now() + 60 * MINUTE_MS)
      .run()
    // An isolate looks once in a minute.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * MINUTE_MS })
    const { body } = await register()
    const count = await env.DB.prepare(
      'SELECT count(*) AS n FROM oauth_records WHERE is_unused = 1',
    ).first<{ n: number }>()
    expect(count?.n).toBe(2000)
    const find = (id: string) =>
      env.DB.prepare('SELECT id FROM oauth_records WHERE id = ?').bind(`client:${id}`).first()
    expect(await find(body.client_id)).not.toBeNull()
    expect(await find(used.client.clientId)).not.toBeNull()
    await env.DB.prepare(`DELETE FROM oauth_records WHERE id LIKE 'client:flood-%'`).run()
  })

  test('keeps a new client for ten minutes, however many others register', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 4 * MINUTE_MS })
    const first = await startClient()
    await env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2100)
       INSERT INTO oauth_records (id, value, expires, is_unused)
       SELECT 'client:flood-' || i, '{}', ? + i, 1 FROM n`,
    )
      .bind(Date.now() + DAY_MS)
      .run()
    vi.setSystemTime(Date.now() + 2 * MINUTE_MS)
    await register()
    expect((await call('GET', `/oauth/authorize?${first.query}`)).status).toBe(302)
    vi.setSystemTime(Date.now() + 10 * MINUTE_MS)
    await register()
    expect((await call('GET', `/oauth/authorize?${first.query}`)).status).toBe(400)
    await env.DB.prepare(`DELETE FROM oauth_records WHERE id LIKE 'client:flood-%'`).run()
  })

  test('is open to a hundred clients a day from one network', async () => {
    const id = (await countersOfRegistration(networkOf('2001:db8:7:1::1')))[0]?.[0]?.id
    await env.DB.prepare(
      'INSERT INTO sign_in_attempts (id, level, at, next_at) VALUES (?, 99, ?, 0)',
    )
      .bind(id, Date.now())
      .run()
    const from = async (address: string) =>
      (await register({}, { 'CF-Connecting-IP': address })).status
    expect(await from('2001:db8:7:1::2')).toBe(201)
    expect(await from('2001:db8:7:1::3')).toBe(429)
    expect(await from('2001:db8:7:2::1')).toBe(201)
  })
})
