import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import { fetchToken } from '../../support/accounts.ts'
import { type Fixture, type Request, withHeaders } from './fixture.ts'
import type { Route } from './routes.ts'
import { SAMPLES } from './samples.ts'
import { send } from './send.ts'
import { badTokens, makeToken, readToken } from './tokens.ts'

/** Scopes that do not include a scope. Written out: the tested code must not compute it. */
const INSUFFICIENT: Record<string, string[]> = {
  ingest: ['read'],
  read: ['ingest'],
  write: ['ingest', 'read'],
  admin: ['ingest', 'read', 'write'],
}
const SCOPES = ['ingest', 'read', 'write', 'admin']

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
    const expectRefused = async (authorization: string | null, message: string) => {
      const reply = await send(withHeaders(request, { Authorization: authorization }))
      expect(reply.status, message).toBe(401)
      expect(reply.body.code, message).toBe('unauthorized')
    }

    test('without a bearer token in the Authorization header', async () => {
      const good = request.headers.Authorization ?? ''
      const token = good.slice('Bearer '.length)
      await expectRefused(null, 'none')
      await expectRefused(
        `Basic ${btoa(`${fixture.mine.userName}:${fixture.mine.apiKey}`)}`,
        'Basic',
      )
      await expectRefused(token, 'no scheme')
      await expectRefused(`${good}, ${good}`, 'two of them')
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
        await expectRefused(`Bearer ${token}`, `a token ${name}`)
      }
    })

    if (scope === 'operator') {
      test("with an account's token, or half of the operator's", async () => {
        await expectRefused(`Bearer ${fixture.mine.token}`, "an account's")
        await expectRefused(`Bearer ${env.ADMIN_TOKEN?.slice(0, -1)}`, 'half')
      })
      return
    }

    test('with a token whose key was deleted', async () => {
      const made = await fixture.mine.call('POST', '/api/account/keys', {
        body: { name: 'Deleted', scopes: ['admin'] },
      })
      const token = await fetchToken(fixture.mine.userName, made.body.apiKey)
      expect(
        (await send(withHeaders(await fixture.request(), { Authorization: `Bearer ${token}` })))
          .status,
      ).toBeLessThan(400)
      await fixture.mine.call('DELETE', `/api/account/keys/${made.body.key.id}`)
      await expectRefused(`Bearer ${token}`, 'revoked')
    })

    test('whose token lacks the scope, and no other', async () => {
      const needed = [SAMPLES[route.id]?.scope ?? scope].flat()
      const insufficient = SCOPES.filter((held) =>
        needed.every((name) => INSUFFICIENT[name]?.includes(held)),
      )
      const { header, claims } = readToken(fixture.mine.token)
      for (const held of SCOPES) {
        const token = await makeToken(header, { ...claims, scope: held }, env.TOKEN_SECRET)
        const reply = await send(
          withHeaders(await fixture.request(), { Authorization: `Bearer ${token}` }),
        )
        if (insufficient.includes(held))
          expect([reply.status, reply.body.code], held).toEqual([403, 'forbidden'])
        else expect(reply.status, `${held}: ${reply.text}`).toBeLessThan(300)
      }
    })
  })
}
