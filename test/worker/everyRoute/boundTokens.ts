import { beforeAll, describe, expect, test } from 'vitest'
import { SCOPES_OF } from '../../support/scopes.ts'
import { createBoundUser } from '../../support/users.ts'
import { type Fixture, storedRows, withHeaders } from './fixture.ts'
import { parametersOf, type Route } from './routes.ts'
import { SAMPLES } from './samples.ts'
import { send } from './send.ts'

/** The scopes of each privilege. Written out: the tested code must not compute it. */
const PRIVILEGE_SCOPES: Record<string, string[]> = {
  read: ['read'],
  write: ['ingest', 'read', 'write'],
  execute: ['execute'],
  admin: ['ingest', 'read', 'write', 'execute', 'admin'],
}

/** Refused to every user with a group. */
const REFUSED_TO_CONFINED = [
  /^\w+ \/api\/users(?!\/(countries|timeZones)$)/,
  /^\w+ \/api\/(webhooks|zones|rules)/,
  /^\w+ \/api\/sources(?!\/decode$)/,
  /^PATCH \/api\/account$/,
  /^GET \/api\/account\/(licenses\/log|audit|usage)$/,
  /^POST \/api\/account\/export$/,
  /^\w+ \/api\/account\/sandbox/,
  /^(POST|PUT|PATCH|DELETE) \/api\/groups/,
  /^\w+ \/api\/account\/keys\/:keyId/,
]

const as = (token: string) => ({ Authorization: `Bearer ${token}` })

/** Tests tokens of keys that are bound to a user. */
export const checkBoundTokens = (route: Route, fixtureOf: () => Fixture): void => {
  const { scope } = route.contract
  if (scope === 'open' || scope === 'operator' || SAMPLES[route.id]?.person) return

  describe('with a token bound to a user', () => {
    let fixture: Fixture
    beforeAll(() => {
      fixture = fixtureOf()
    })

    test('allows what the user may do, and nothing while the user is disabled', async () => {
      const needed = [SAMPLES[route.id]?.scope ?? SCOPES_OF[route.id] ?? []].flat()
      for (const [privilege, scopes] of Object.entries(PRIVILEGE_SCOPES)) {
        const user = await createBoundUser(fixture.mine, { privileges: [privilege] })
        // A bound token may not regenerate the key of another user.
        const isOthersKey = /^\w+ \/api\/account\/keys\/:keyId\/regenerate/.test(
          `${route.method} ${route.path}`,
        )
        const reply = await send(withHeaders(await fixture.request(), as(user.token)))
        // What another user has is not found.
        const isOthers = SAMPLES[route.id]?.user && parametersOf(route.path).length > 0
        if (isOthers && needed.some((name) => scopes.includes(name)))
          expect(reply.status, privilege).toBe(404)
        else if (isOthersKey || !needed.some((name) => scopes.includes(name)))
          expect([reply.status, reply.body.code], privilege).toEqual([403, 'forbidden'])
        else if (SAMPLES[route.id]?.refused)
          expect(reply.body.code, privilege).toBe(SAMPLES[route.id]?.refused)
        else expect(reply.status, `${privilege}: ${reply.text}`).toBeLessThan(300)
      }
      const disabled = await createBoundUser(fixture.mine, { privileges: ['admin'] })
      await fixture.mine.call('PATCH', `/api/users/${disabled.id}`, { body: { disabled: true } })
      const reply = await send(withHeaders(await fixture.request(), as(disabled.token)))
      expect([reply.status, reply.body.code]).toEqual([401, 'user-disabled'])
    })

    test('whose user has a group shows nothing outside the group', async () => {
      const name = `North ${crypto.randomUUID()}`
      const { body: group } = await fixture.mine.call('POST', '/api/groups', { body: { name } })
      const user = await createBoundUser(fixture.mine, { privileges: ['admin'], group: name })
      const { body: hidden } = await fixture.mine.call('POST', '/api/devices', {
        body: { name: 'Hidden sample' },
      })
      const request = withHeaders(await fixture.request(), as(user.token))
      const rows = await storedRows()
      const reply = await send(request)
      if (REFUSED_TO_CONFINED.some((pattern) => pattern.test(`${route.method} ${route.path}`))) {
        expect([reply.status, reply.body.code]).toEqual([403, 'forbidden'])
        expect(await storedRows()).toBe(rows)
      } else if (parametersOf(route.path).length > 0) {
        const [first = ''] = parametersOf(route.path)
        const code = `${first.replace(/Id$/, '')}-not-found`
        expect([reply.status, reply.body.code]).toEqual([404, code])
        expect(await storedRows()).toBe(rows)
      } else if (route.id === 'createWatch') {
        expect([reply.status, reply.body.errors]).toMatchObject([400, [{ pointer: '/deviceId' }]])
        expect(await storedRows()).toBe(rows)
      } else if (route.id === 'createShare') {
        expect([reply.status, reply.body.errors]).toMatchObject([400, [{ pointer: '/devices/0' }]])
        expect(await storedRows()).toBe(rows)
      } else {
        expect(reply.status, reply.text).toBeLessThan(300)
        expect(reply.text).not.toContain(hidden.device.id)
        expect(reply.text).not.toContain('Hidden sample')
        for (const other of reply.body.groups ?? []) expect(other.id).toBe(group.id)
      }
    })
  })
}
