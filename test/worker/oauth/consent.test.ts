import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { type Caller, callerWith, openAccount } from '../../support/accounts.ts'
import { call, ORIGIN } from '../../support/http.ts'
import { createSignInUser, signIn } from '../../support/sessions.ts'
import {
  codeOf,
  connectAgent,
  decide,
  exchange,
  REDIRECT_URI,
  register,
  startClient,
} from './agent.ts'

const start = async (members: object = {}) => {
  const account = await openAccount()
  const user = await createSignInUser(account, { privileges: ['admin'], ...members })
  return { account, user, ...(await signIn(account, user)) }
}

const read = (person: Caller, query: string) =>
  person.call('GET', `/api/Auth/Consent?query=${encodeURIComponent(query)}`)

describe('the metadata', () => {
  test('name the resource, the server and its endpoints', async () => {
    const resource = await call('GET', '/.well-known/oauth-protected-resource/mcp')
    expect(resource.body).toMatchObject({
      resource: `${ORIGIN}/mcp`,
      authorization_servers: [ORIGIN],
      scopes_supported: ['read', 'write', 'execute'],
    })
    const root = await call('GET', '/.well-known/oauth-protected-resource')
    expect(root.body.resource).toBe(ORIGIN)
    const server = await call('GET', '/.well-known/oauth-authorization-server')
    expect(server.body).toMatchObject({
      issuer: ORIGIN,
      authorization_endpoint: `${ORIGIN}/oauth/authorize`,
      token_endpoint: `${ORIGIN}/oauth/token`,
      registration_endpoint: `${ORIGIN}/oauth/register`,
      revocation_endpoint: `${ORIGIN}/oauth/revoke`,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      scopes_supported: ['ingest', 'read', 'write', 'execute', 'admin'],
    })
    expect(server.headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect((await call('GET', '/.well-known/other')).status).toBe(404)
  })

  test('are named by the 401 of /mcp, and by no other', async () => {
    const metadata = `resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/mcp"`
    const reply = await call('POST', '/mcp', { body: {} })
    expect(reply.status).toBe(401)
    expect(reply.headers.get('WWW-Authenticate')).toContain(metadata)
    const other = await call('GET', '/api/devices')
    expect(other.headers.get('WWW-Authenticate')).not.toContain('resource_metadata')
  })
})

describe('a request for access', () => {
  test('is sent to the page that asks the user', async () => {
    const { query } = await startClient()
    const reply = await call('GET', `/oauth/authorize?${query}`)
    expect([reply.status, reply.headers.get('Location')]).toEqual([302, `/connect?${query}`])
  })

  test.each([
    ['no client', { client_id: 'unknown' }],
    ['no client at all', { client_id: undefined }],
    ['an address of somebody else', { redirect_uri: 'https://evil.example.com/callback' }],
    ['an address below the registered one', { redirect_uri: `${REDIRECT_URI}/more` }],
    ['a query at the registered address', { redirect_uri: `${REDIRECT_URI}?to=evil` }],
    ['a script for an address', { redirect_uri: 'javascript:alert(1)' }],
    ['no address', { redirect_uri: undefined }],
  ])('with %s is sent nowhere', async (_, changes) => {
    const { query } = await startClient(changes)
    const reply = await call('GET', `/oauth/authorize?${query}`)
    expect([reply.status, reply.headers.get('Location')]).toEqual([400, null])
    expect(reply.text).toContain('not valid')
    const person = await start()
    const refused = await read(person, query)
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid-authorization'])
    expect((await decide(person, { query, clientId: '', verifier: '' }, ['read'])).status).toBe(400)
  })

  test.each([
    ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }],
    ['plain PKCE', { code_challenge_method: 'plain' }],
    ['another resource', { resource: 'https://other.example.com/mcp' }],
    ['an implicit grant', { response_type: 'token' }],
  ])('with %s is sent nowhere, and the page names the program’s host', async (_, changes) => {
    const { query } = await startClient(changes)
    const reply = await call('GET', `/oauth/authorize?${query}`)
    expect([reply.status, reply.headers.get('Location')]).toEqual([400, null])
    expect(reply.text).toContain('(agent.example.com)')
    expect(reply.text).not.toContain(REDIRECT_URI)
    expect((await read(await start(), query)).body.code).toBe('invalid-authorization')
  })

  test('of a client with a secret needs PKCE too', async () => {
    const secret = { token_endpoint_auth_method: 'client_secret_basic' }
    const { body } = await register(secret)
    expect(body.client_secret).toBeTypeOf('string')
    const changes = { code_challenge: undefined, code_challenge_method: undefined }
    const { query } = await startClient({ client_id: body.client_id, ...changes })
    const reply = await call('GET', `/oauth/authorize?${query}`)
    expect([reply.status, reply.headers.get('Location')]).toEqual([400, null])
    expect(reply.text).toContain('code_challenge')
  })
})

describe('the consent', () => {
  test('shows who asks for what, and what of it the user may allow', async () => {
    const person = await start({ privileges: ['read'] })
    const { query } = await startClient({ scope: 'write openid' })
    const { body } = await read(person, query)
    expect(body.consent).toEqual({
      name: 'Field assistant',
      redirectHost: 'agent.example.com',
      isLocal: false,
      scopes: ['write'],
      allowedScopes: ['read'],
    })
  })

  test('shows a name on one line, and tells a program on this computer', async () => {
    const { body: client } = await register({
      client_name: `A\u202Eb\u0000c\n${'x'.repeat(100)}`,
      redirect_uris: ['http://127.0.0.1:5555/callback'],
    })
    const changes = { client_id: client.client_id, redirect_uri: 'http://127.0.0.1:6666/callback' }
    const { query } = await startClient({ ...changes, scope: undefined })
    const { body } = await read(await start(), query)
    expect(body.consent.name).toBe(`Abc${'x'.repeat(61)}`)
    expect(body.consent).toMatchObject({ isLocal: true, redirectHost: '127.0.0.1:6666' })
    expect(body.consent.scopes).toEqual(['read'])
  })

  test('lets the program in with what is allowed, and no more', async () => {
    const person = await start()
    const client = await startClient({ scope: 'read write' })
    const { body } = await decide(person, client, ['read'])
    const location = new URL(body.redirectTo)
    expect(location.origin + location.pathname).toBe(REDIRECT_URI)
    expect(location.searchParams.get('state')).toBe('state of the agent')
    expect(location.searchParams.get('iss')).toBe(ORIGIN)
    const token = await exchange(client, codeOf(body.redirectTo))
    expect(token.body).toMatchObject({ token_type: 'Bearer', scope: 'read' })
    expect(token.body.expires_in).toBeGreaterThan(3590)
    const agent = callerWith(token.body.access_token)
    expect((await agent.call('GET', '/api/me')).body.scopes).toEqual(['read'])
    const refused = await agent.call('POST', '/api/devices', { body: { name: 'A' } })
    expect(refused.status).toBe(403)
  })

  test('refuses with access_denied', async () => {
    const person = await start()
    const { body } = await decide(person, await startClient(), [])
    const { searchParams } = new URL(body.redirectTo)
    expect([searchParams.get('error'), searchParams.get('code')]).toEqual(['access_denied', null])
    expect((await person.call('GET', '/api/Auth/Sessions')).body.sessions).toHaveLength(1)
  })

  test('allows nothing that was not asked for, and nothing that the user may not do', async () => {
    const reader = await start({ privileges: ['read'] })
    for (const scopes of [['write'], ['admin'], ['read', 'execute']]) {
      const refused = await decide(reader, await startClient({ scope: 'read write admin' }), scopes)
      expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/scopes'])
    }
    const admin = await start()
    const narrow = await decide(admin, await startClient({ scope: 'read' }), ['write'])
    expect(narrow.status).toBe(400)
  })

  test('is a person’s: keys, agents and pages without a token have none', async () => {
    const { account, user, ...person } = await start()
    const client = await startClient()
    expect(
      (await call('POST', '/api/Auth/Consent', { body: { query: client.query, scopes: [] } }))
        .status,
    ).toBe(401)
    const withCookie = {
      headers: { Cookie: person.cookie, Origin: ORIGIN },
      body: { query: client.query, scopes: ['read'] },
    }
    expect((await call('POST', '/api/Auth/Consent', withCookie)).status).toBe(401)
    expect((await decide(account, client, ['read'])).status).toBe(403)
    const bound = await account.call('POST', '/api/account/keys', {
      body: { name: 'bound', scopes: ['admin'], userId: user.id },
    })
    expect(bound.status).toBe(201)
    const { token } = await connectAgent(person, ['admin'])
    for (const method of [
      () => decide(callerWith(token), client, ['read']),
      () => read(callerWith(token), client.query),
    ])
      expect((await method()).status).toBe(403)
  })

  test('ends with the session that gives it', async () => {
    const person = await start()
    const client = await startClient()
    await env.DB.prepare('DELETE FROM sessions WHERE id = ?').bind(person.sessionId).run()
    const reply = await decide(person, client, ['read'])
    expect([reply.status, reply.body.code]).toEqual([401, 'session-ended'])
  })
})
