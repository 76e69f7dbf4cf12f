import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import { fetchToken, openAccount } from '../../support/accounts.ts'
import { SCOPES_OF } from '../../support/scopes.ts'
import { badTokens, makeToken, readToken } from '../../support/tokens.ts'
import { createBoundUser } from '../../support/users.ts'
import { type Fixture, type Request, withHeaders } from './fixture.ts'
import type { Route } from './routes.ts'
import { SAMPLES } from './samples.ts'
import { send } from './send.ts'

/** Scopes that do not include a scope. Written out: the tested code must not compute it. */
const INSUFFICIENT: Record<string, string[]> = {
  ingest: ['read', 'execute'],
  read: ['ingest', 'execute'],
  write: ['ingest', 'read', 'execute'],
  execute: ['ingest', 'read', 'write'],
  admin: ['ingest', 'read', 'write', 'execute'],
}
const SCOPES = ['ingest', 'read', 'write', 'execute', 'admin']

/** Tests which tokens are accepted. */
export const checkAuthentication = (route: Route, fixtureOf: () => Fixture): void => {
  const { scope } = route.contract
  if (scope === 'open') return

  describe('refuses a request', () => {
    let fixture: Fixture
    let request: Request
    beforeAll(async () => {
      fixture = fixtureOf()
      request = await fixture.request()
    })
    const expectRefused = async (authorization: string | null, code: string, message = code) => {
      const reply = await send(withHeaders(request, { Authorization: authorization }))
      expect([reply.status, reply.body.code], message).toEqual([401, code])
      const challenge = reply.headers.get('WWW-Authenticate')
      expect(challenge, message).toMatch(/^Bearer [\x20-\x7e]+$/)
      expect(challenge, message).toContain(`code="${code}"`)
    }

    test('without a bearer token in the Authorization header', async () => {
      const good = request.headers.Authorization ?? ''
      const token = good.slice('Bearer '.length)
      await expectRefused(null, 'token-missing', 'none')
      await expectRefused(
        `Basic ${btoa(`${fixture.mine.userName}:${fixture.mine.apiKey}`)}`,
        'token-missing',
        'Basic',
      )
      await expectRefused(token, 'token-missing', 'no scheme')
      await expectRefused('Bearer', 'token-missing', 'no token')
      await expectRefused(`${good}, ${good}`, 'token-invalid', 'two of them')
      const { path, ...sent } = withHeaders(request, { Authorization: null })
      const inQuery = await send({
        ...sent,
        path: `${path}${path.includes('?') ? '&' : '?'}access_token=${token}&token=${token}`,
      })
      expect(inQuery.status).toBe(401)
      const inCookie = await send(
        withHeaders(request, {
          Authorization: null,
          Cookie: `token=${token}; Authorization=${good}`,
        }),
      )
      expect(inCookie.status).toBe(401)
    })

    test('with a token that is not valid', async () => {
      for (const [name, token] of Object.entries(
        await badTokens(fixture.mine.token, env.TOKEN_SECRET),
      )) {
        const isExpired = name.startsWith('that expired') && scope !== 'operator'
        const code = isExpired ? 'token-expired' : 'token-invalid'
        await expectRefused(`Bearer ${token}`, code, `a token ${name}`)
      }
      const code = scope === 'operator' ? 'token-invalid' : 'not-a-token'
      await expectRefused(`Bearer ${fixture.mine.apiKey}`, code)
      await expectRefused('Bearer pgk_short', code)
    })

    if (scope === 'operator') {
      test("with an account's token, or half of the operator's", async () => {
        await expectRefused(`Bearer ${fixture.mine.token}`, 'token-invalid', "an account's")
        await expectRefused(`Bearer ${env.ADMIN_TOKEN?.slice(0, -1)}`, 'token-invalid', 'half')
      })
      return
    }

    if (SAMPLES[route.id]?.person) {
      test('of a key, even of one that is bound to a user', async () => {
        const user = await createBoundUser(await openAccount(), { privileges: ['admin'] })
        const headers = { Authorization: `Bearer ${user.token}` }
        const reply = await send(withHeaders(await fixture.request(), headers))
        expect([reply.status, reply.body.code]).toEqual([403, 'forbidden'])
      })
      return
    }

    test('with a token whose key was deleted', async () => {
      const made = await fixture.mine.call('POST', '/api/account/keys', {
        body: { name: 'Deleted', scopes: ['admin'], userId: fixture.userId },
      })
      const token = await fetchToken(fixture.mine.userName, made.body.apiKey)
      const reply = await send(
        withHeaders(await fixture.request(), { Authorization: `Bearer ${token}` }),
      )
      const refused = SAMPLES[route.id]?.refused
      if (refused) expect(reply.body.code).toBe(refused)
      else expect(reply.status).toBeLessThan(400)
      await fixture.mine.call('DELETE', `/api/account/keys/${made.body.key.id}`)
      await expectRefused(`Bearer ${token}`, 'key-revoked')
    })

    test('whose token lacks the scope, and no other', async () => {
      const needed = [SAMPLES[route.id]?.scope ?? SCOPES_OF[route.id] ?? []].flat()
      const insufficient = SCOPES.filter((granted) =>
        needed.every((name) => INSUFFICIENT[name]?.includes(granted)),
      )
      const { header, claims } = readToken(fixture.mine.token)
      for (const granted of SCOPES) {
        const token = await makeToken(header, { ...claims, scope: granted }, env.TOKEN_SECRET)
        const reply = await send(
          withHeaders(await fixture.request(), { Authorization: `Bearer ${token}` }),
        )
        if (insufficient.includes(granted))
          expect([reply.status, reply.body.code], granted).toEqual([403, 'forbidden'])
        else if (SAMPLES[route.id]?.refused)
          expect(reply.body.code, granted).toBe(SAMPLES[route.id]?.refused)
        else expect(reply.status, `${granted}: ${reply.text}`).toBeLessThan(300)
      }
    })
  })
}
