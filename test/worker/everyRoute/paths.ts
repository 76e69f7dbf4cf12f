import { beforeAll, describe, expect, test } from 'vitest'
import { type Fixture, storedRows } from './fixture.ts'
import { isServed, methodsAt, parametersOf, type Route } from './routes.ts'
import { SAMPLES } from './samples.ts'
import { send } from './send.ts'

const UNKNOWN = '0'.repeat(22)

const swapCase = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()))

/** Tests that a route is found at its exact path, by its method and with known ids. */
export const checkPaths = (route: Route, fixtureOf: () => Fixture): void => {
  const { contract, path, method } = route
  const parameters = parametersOf(path)

  describe('is found at its exact path', () => {
    let fixture: Fixture
    beforeAll(() => {
      fixture = fixtureOf()
    })

    test('neither with an extra slash nor in another case', async () => {
      const { headers, path: validPath } = await fixture.request()
      const [bare = ''] = validPath.split('?')
      const wrongPaths = [`${bare}/`, `/${bare}`]
      path.split('/').forEach((segment, index, segments) => {
        const other = segments.with(index, swapCase(segment)).join('/')
        if (segment && !segment.startsWith(':') && !isServed(other)) {
          wrongPaths.push(bare.split('/').with(index, swapCase(segment)).join('/'))
        }
      })
      for (const other of wrongPaths) {
        // With the base, a path that begins with two slashes is not read as a host.
        const reply = await send({
          method,
          path: new URL(`https://perigee.test${other}`).href,
          headers: await withToken(headers),
        })
        // `/api/users/COUNTRIES` is read as the id of a user.
        if (/^\/(api\/sources\/DECODE|admin\/accounts\/IMPORT)$/.test(other)) {
          // The id of a source or account, whose path takes no POST.
          expect(reply.status).toBe(405)
          continue
        }
        const code = /^\/api\/users\/[a-zA-Z]+$/.test(other) ? 'user-not-found' : 'route-not-found'
        expect([reply.status, reply.body?.code ?? null], other).toEqual([404, code])
      }
    })

    /** Paths next to an open route need a token. */
    const withToken = async (headers: Record<string, string>) =>
      contract.scope === 'open' ? { Authorization: `Bearer ${fixture.mine.token}` } : headers

    // Other methods of these paths are those of a source or an account with such an id.
    if (['/api/sources/decode', '/admin/accounts/import'].includes(path)) return

    test('an unknown method is 405 and lists the known ones', async () => {
      const { headers, path: validPath } = await fixture.request()
      const known = methodsAt(path)
      for (const unknown of ['PURGE', 'PUT', 'GET'].filter((name) => !known.includes(name))) {
        const reply = await send({
          method: unknown,
          path: validPath,
          headers: await withToken(headers),
        })
        expect([reply.status, reply.body.code], unknown).toEqual([405, 'method-not-allowed'])
        const allowed = reply.headers
          .get('Allow')
          ?.split(', ')
          .filter((name) => name !== 'OPTIONS')
        expect(new Set(allowed)).toEqual(
          new Set([...known, ...(known.includes('GET') ? ['HEAD'] : [])]),
        )
      }
    })

    if (parameters.length === 0) return

    test('ids of another account, unknown ids and malformed ids get the same 404, byte for byte', async () => {
      const idsOfOther = (await SAMPLES[route.id]?.params?.(fixture.other)) ?? {}
      for (const name of parameters) {
        const { path: validPath, ...sent } = await fixture.request()
        const own =
          validPath
            .split('?')[0]
            ?.split('/')
            .at(path.split('/').indexOf(`:${name}`)) ?? ''
        const prefix = own.split('_')[0]
        const unknownIds = [
          `${prefix}_${UNKNOWN}`,
          `${own}0`,
          '%00',
          '%ff',
          `:${name}`,
          'a'.repeat(3000),
        ]
        if (contract.scope !== 'operator') unknownIds.push(idsOfOther[name] ?? '')
        const rows = await storedRows()
        const replies = []
        for (const unknownId of unknownIds) {
          const changedPath = validPath.replace(own, unknownId)
          const reply = await send({
            ...sent,
            path: changedPath,
            headers: { ...sent.headers, 'X-Request-Id': 'the-same' },
          })
          expect([reply.status, reply.body.code], `${name} ${unknownId}`).toEqual([
            404,
            `${name.replace(/Id$/, '')}-not-found`,
          ])
          replies.push(reply.text.replace(JSON.stringify(reply.body.instance), '""'))
        }
        expect(new Set(replies).size).toBe(1)
        expect(await storedRows()).toBe(rows)
      }
    })
  })
}
