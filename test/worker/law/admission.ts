import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import { fetchToken } from '../../support/accounts.ts'
import { send } from './reply.ts'
import type { Route } from './routes.ts'
import { SAMPLES } from './samples.ts'
import { type Request, type Stage, withHeaders } from './stage.ts'
import { badTokens, makeToken, readToken } from './tokens.ts'

/** Scopes that do not do what the one named wants. Written out, not computed by the code that is tried. */
const BENEATH: Record<string, string[]> = {
  ingest: ['read'],
  read: ['ingest'],
  write: ['ingest', 'read'],
  admin: ['ingest', 'read', 'write'],
}
const SCOPES = ['ingest', 'read', 'write', 'admin']

/** Who is let in, and who is not. */
export const admission = (route: Route, stageOf: () => Stage): void => {
  const { scope } = route.contract
  if (scope === 'open') return

  describe('lets in nobody', () => {
    let stage: Stage
    let request: Request
    beforeAll(async () => {
      stage = stageOf()
      request = await stage.request()
    })
    const refuses = async (authorization: string | null, because: string) => {
      const reply = await send(withHeaders(request, { Authorization: authorization }))
      expect(reply.status, because).toBe(401)
      expect(reply.body.code, because).toBe('unauthorized')
    }

    test('without a bearer token in the Authorization header', async () => {
      const good = request.headers.Authorization ?? ''
      const token = good.slice('Bearer '.length)
      await refuses(null, 'none')
      await refuses(`Basic ${btoa(`${stage.mine.userName}:${stage.mine.apiKey}`)}`, 'Basic')
      await refuses(token, 'no scheme')
      await refuses(`${good}, ${good}`, 'two of them')
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

    test('with a token that does not hold', async () => {
      for (const [which, token] of Object.entries(
        await badTokens(stage.mine.token, env.TOKEN_SECRET),
      )) {
        await refuses(`Bearer ${token}`, `a token ${which}`)
      }
    })

    if (scope === 'operator') {
      test("with an account's token, or half of the operator's", async () => {
        await refuses(`Bearer ${stage.mine.token}`, "an account's")
        await refuses(`Bearer ${env.ADMIN_TOKEN?.slice(0, -1)}`, 'half')
      })
      return
    }

    test('with a token whose key was deleted', async () => {
      const made = await stage.mine.call('POST', '/api/account/keys', {
        body: { name: 'Doomed', scopes: ['admin'] },
      })
      const token = await fetchToken(stage.mine.userName, made.body.apiKey)
      expect(
        (await send(withHeaders(await stage.request(), { Authorization: `Bearer ${token}` })))
          .status,
      ).toBeLessThan(400)
      await stage.mine.call('DELETE', `/api/account/keys/${made.body.key.id}`)
      await refuses(`Bearer ${token}`, 'revoked')
    })

    test('beyond the scope of the token', async () => {
      const wanted = [SAMPLES[route.id]?.scope ?? scope].flat()
      const beneath = SCOPES.filter((held) => wanted.every((name) => BENEATH[name]?.includes(held)))
      const { header, claims } = readToken(stage.mine.token)
      for (const held of SCOPES) {
        const token = await makeToken(header, { ...claims, scope: held }, env.TOKEN_SECRET)
        const reply = await send(
          withHeaders(await stage.request(), { Authorization: `Bearer ${token}` }),
        )
        if (beneath.includes(held))
          expect([reply.status, reply.body.code], held).toEqual([403, 'forbidden'])
        else expect(reply.status, `${held}: ${reply.text}`).toBeLessThan(300)
      }
    })
  })
}
