import { beforeAll, describe, expect, test } from 'vitest'
import { createBoundUser } from '../../support/users.ts'
import { send } from './reply.ts'
import { parametersOf, type Route } from './routes.ts'
import { SAMPLES } from './samples.ts'
import { type Stage, storedRows, withHeaders } from './stage.ts'

/** What a user may who has just this privilege. Written out, not computed by the code that is tried. */
const MAY: Record<string, string[]> = {
  read: ['read'],
  write: ['ingest', 'read', 'write'],
  admin: ['ingest', 'read', 'write', 'admin'],
}

/** Closed to a user with a group, whatever its privileges. */
const CLOSED = [
  /^\w+ \/api\/users(?!\/(countries|timeZones)$)/,
  /^\w+ \/api\/webhooks/,
  /^PATCH \/api\/account$/,
  /^GET \/api\/account\/licenses\/log$/,
  /^(POST|PUT|PATCH|DELETE) \/api\/groups/,
  /^\w+ \/api\/account\/keys\/:keyId/,
]

const as = (token: string) => ({ Authorization: `Bearer ${token}` })

/** A token that is bound to a user acts as that user. */
export const confinement = (route: Route, stageOf: () => Stage): void => {
  const { scope } = route.contract
  if (scope === 'open' || scope === 'operator') return

  describe('of a bound token', () => {
    let stage: Stage
    beforeAll(() => {
      stage = stageOf()
    })

    test('allows what its user may, and nothing while the user is disabled', async () => {
      const wanted = [SAMPLES[route.id]?.scope ?? scope].flat()
      for (const [privilege, may] of Object.entries(MAY)) {
        const user = await createBoundUser(stage.mine, { privileges: [privilege] })
        // A bound token makes keys for its own user alone, and regenerates no other's.
        const others = /^\w+ \/api\/account\/keys\/:keyId\/regenerate/.test(
          `${route.method} ${route.path}`,
        )
        const reply = await send(withHeaders(await stage.request(), as(user.token)))
        if (others || !wanted.some((name) => may.includes(name)))
          expect([reply.status, reply.body.code], privilege).toEqual([403, 'forbidden'])
        else expect(reply.status, `${privilege}: ${reply.text}`).toBeLessThan(300)
      }
      const gone = await createBoundUser(stage.mine, { privileges: ['admin'] })
      await stage.mine.call('PATCH', `/api/users/${gone.id}`, { body: { disabled: true } })
      expect((await send(withHeaders(await stage.request(), as(gone.token)))).status).toBe(401)
    })

    test('whose user has a group finds doors closed, and nothing of what is outside the group', async () => {
      const name = `North ${crypto.randomUUID()}`
      const { body: group } = await stage.mine.call('POST', '/api/groups', { body: { name } })
      const user = await createBoundUser(stage.mine, { privileges: ['admin'], group: name })
      const { body: unseen } = await stage.mine.call('POST', '/api/devices', {
        body: { name: 'Sample of the unseen' },
      })
      const request = withHeaders(await stage.request(), as(user.token))
      const rows = await storedRows()
      const reply = await send(request)
      if (CLOSED.some((pattern) => pattern.test(`${route.method} ${route.path}`))) {
        expect([reply.status, reply.body.code]).toEqual([403, 'forbidden'])
        expect(await storedRows()).toBe(rows)
      } else if (parametersOf(route.path).length > 0) {
        expect([reply.status, reply.body.code]).toEqual([404, 'not-found'])
        expect(await storedRows()).toBe(rows)
      } else {
        expect(reply.status, reply.text).toBeLessThan(300)
        expect(reply.text).not.toContain(unseen.device.id)
        expect(reply.text).not.toContain('of the unseen')
        for (const other of reply.body.groups ?? []) expect(other.id).toBe(group.id)
      }
    })
  })
}
