import { beforeAll, describe, expect, test } from 'vitest'
import { type Stage, storedRows } from './fixture.ts'
import { isServed, methodsAt, parametersOf, type Route } from './routes.ts'
import { SAMPLES } from './samples.ts'
import { send } from './send.ts'

const UNKNOWN = '0'.repeat(22)

const everyOther = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()))

/** What is found where, and by which method. */
export const addressing = (route: Route, stageOf: () => Stage): void => {
  const { contract, path, method } = route
  const parameters = parametersOf(path)

  describe('is found nowhere else', () => {
    let stage: Stage
    beforeAll(() => {
      stage = stageOf()
    })

    test('neither with a slash at the end nor in other letters', async () => {
      const { headers, path: good } = await stage.request()
      const [bare = ''] = good.split('?')
      const bent = [`${bare}/`, `/${bare}`]
      path.split('/').forEach((segment, index, segments) => {
        const other = segments.with(index, everyOther(segment)).join('/')
        if (segment && !segment.startsWith(':') && !isServed(other)) {
          bent.push(bare.split('/').with(index, everyOther(segment)).join('/'))
        }
      })
      for (const other of bent) {
        // A path of two slashes is not a host: the base keeps it a path.
        const reply = await send({
          method,
          path: new URL(`https://perigee.test${other}`).href,
          headers: await openly(headers),
        })
        expect([reply.status, reply.body?.code ?? null], other).toEqual([404, 'not-found'])
      }
    })

    /** An open route's neighbours are behind the token like everything else. */
    const openly = async (headers: Record<string, string>) =>
      contract.scope === 'open' ? { Authorization: `Bearer ${stage.mine.token}` } : headers

    test('an unknown method is 405 and says which are known', async () => {
      const { headers, path: good } = await stage.request()
      const known = methodsAt(path)
      for (const unknown of ['PURGE', 'PUT', 'GET'].filter((name) => !known.includes(name))) {
        const reply = await send({ method: unknown, path: good, headers: await openly(headers) })
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

    test("an id that is another account's, that nobody has or that is none at all: the same 404, byte for byte", async () => {
      const others = (await SAMPLES[route.id]?.params?.(stage.other)) ?? {}
      for (const name of parameters) {
        const { path: good, ...sent } = await stage.request()
        const own =
          good
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
        if (contract.scope !== 'operator') unknownIds.push(others[name] ?? '')
        const rows = await storedRows()
        const replies = []
        for (const stranger of unknownIds) {
          const asked = good.replace(own, stranger)
          const reply = await send({
            ...sent,
            path: asked,
            headers: { ...sent.headers, 'X-Request-Id': 'the-same' },
          })
          expect(reply.status, `${name} ${stranger}`).toBe(404)
          replies.push(reply.text.replace(JSON.stringify(reply.body.instance), '""'))
        }
        expect(new Set(replies).size).toBe(1)
        expect(await storedRows()).toBe(rows)
      }
    })
  })
}
