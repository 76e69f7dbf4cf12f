import { beforeAll, describe, expect, test } from 'vitest'
import type * as z from 'zod'
import { type Fixture, storedRows, withHeaders } from './fixture.ts'
import type { Route } from './routes.ts'
import { SAMPLES } from './samples.ts'
import { COOKIE_PATHS, send } from './send.ts'

const pointers = (body: { errors?: { pointer: string }[] }) =>
  (body.errors ?? []).map(({ pointer }) => pointer)

/** Tests the status, body and headers of replies against the contract. */
export const checkReplies = (route: Route, fixtureOf: () => Fixture): void => {
  const { contract, method } = route

  describe('replies', () => {
    let fixture: Fixture
    beforeAll(() => {
      fixture = fixtureOf()
    })

    test('to a valid request with the status and exactly the members of its contract', async () => {
      const reply = await send(await fixture.request())
      const refused = SAMPLES[route.id]?.refused
      if (refused) return expect(reply.body.code).toBe(refused)
      const { alternateReply } = contract
      expect([contract.status ?? 200, alternateReply?.status], reply.text).toContain(reply.status)
      const isFile = contract.download === true
      const types = isFile ? Object.keys(contract.formats ?? {}) : ['application/json']
      expect(types).toContain(reply.headers.get('Content-Type'))
      if (isFile) return
      const parsed = (
        alternateReply?.status === reply.status ? alternateReply : contract
      ).reply.safeParse(reply.body)
      expect(parsed.error).toBeUndefined()
      expect(parsed.data).toEqual(reply.body)
      expect(reply.headers.has('Location')).toBe(reply.status === 201)
      expect(reply.headers.has('ETag')).toBe(!!contract.etag)
      if (contract.scope !== 'open' && contract.scope !== 'operator')
        expect(reply.headers.get('RateLimit')).toMatch(/^"account";r=\d+;t=\d+$/)
    })

    test('with the request id of the caller, if it is valid', async () => {
      const request = await fixture.request()
      expect(
        (await send(withHeaders(request, { 'X-Request-Id': 'Our.own_id-1' }))).headers.get(
          'X-Request-Id',
        ),
      ).toBe('Our.own_id-1')
      const refused = { ...request, method: 'PURGE' }
      for (const valid of ['x'.repeat(64)]) {
        expect((await send(withHeaders(refused, { 'X-Request-Id': valid }))).body.requestId).toBe(
          valid,
        )
      }
      for (const bad of ['x'.repeat(65), 'a b']) {
        expect((await send(withHeaders(refused, { 'X-Request-Id': bad }))).body.requestId).toMatch(
          /^[0-9a-f-]{36}$/,
        )
      }
    })

    test('to a CORS preflight', async () => {
      const { path } = await fixture.request()
      const reply = await send({
        method: 'OPTIONS',
        path,
        headers: {
          Origin: 'https://elsewhere.test',
          'Access-Control-Request-Method': method,
          'Access-Control-Request-Headers': 'authorization',
        },
      })
      expect(reply.status).toBe(204)
      expect(COOKIE_PATHS.test(route.path)).toBe(!!contract.session)
      // `send` checks that there are no CORS headers.
      if (contract.session) return
      expect(reply.headers.get('Access-Control-Allow-Methods')?.split(', ')).toContain(method)
      for (const name of [
        'Authorization',
        'Content-Type',
        'If-Match',
        'If-None-Match',
        'Idempotency-Key',
      ]) {
        expect(reply.headers.get('Access-Control-Allow-Headers')?.split(', ')).toContain(name)
      }
    })

    if (method === 'GET') {
      test('to HEAD like to GET, without the body', async () => {
        const sent = await fixture.request()
        const [get, head] = [await send(sent), await send({ ...sent, method: 'HEAD' })]
        expect(head.status).toBe(get.status)
        const comparable = (headers: Headers) =>
          [...headers].filter(
            ([name]) => !['x-request-id', 'ratelimit', 'content-length'].includes(name),
          )
        expect(comparable(head.headers)).toEqual(comparable(get.headers))
      })
    }

    if (method === 'GET' && contract.etag) {
      test('with 304 to a client that has the same bytes', async () => {
        const sent = await fixture.request()
        const etag = (await send(sent)).headers.get('ETag') ?? ''
        // The OpenAPI document has the tag of a static file.
        if (contract.scope !== 'open') expect(etag).toMatch(/^"\d+\.[\w=-]+"$/)
        for (const known of [etag, `W/${etag}`, `"1.x", ${etag}`, '*']) {
          const reply = await send({
            ...sent,
            headers: { ...sent.headers, 'If-None-Match': known },
          })
          expect([reply.status, reply.headers.get('ETag')], known).toEqual([304, etag])
        }
        const version = etag.split('.')[0]
        for (const other of [`${version}.x"`, '"x"', 'x']) {
          expect(
            (await send({ ...sent, headers: { ...sent.headers, 'If-None-Match': other } })).status,
            other,
          ).toBe(200)
        }
      })
    }

    if (contract.ifMatch) {
      test('with 412 to an edit of an old version, and changes nothing', async () => {
        const request = await fixture.request()
        const rows = await storedRows()
        for (const stale of ['"999999.x"', '"0.x", "999998.y"', 'W/"1.x"', '"x"']) {
          const reply = await send(withHeaders(request, { 'If-Match': stale }))
          expect([reply.status, reply.body.code], stale).toEqual([412, 'precondition-failed'])
        }
        for (const malformed of ['1', '"open', '"a" "b"']) {
          const reply = await send(withHeaders(request, { 'If-Match': malformed }))
          expect([reply.status, pointers(reply.body)], malformed).toEqual([
            400,
            ['#/header/If-Match'],
          ])
        }
        expect(await storedRows()).toBe(rows)
        expect((await send(withHeaders(request, { 'If-Match': '*' }))).status).toBe(200)
      })
    }

    if (contract.idempotent) {
      test.skipIf(SAMPLES[route.id]?.refused)(
        'to a repeated Idempotency-Key with the first reply, without its secrets',
        async () => {
          const sent = withHeaders(await fixture.request(), {
            'Idempotency-Key': `"${crypto.randomUUID()}"~!`,
          })
          const first = await send(sent)
          expect(first.headers.has('Idempotent-Replayed'), first.text).toBe(false)
          expect(first.status).toBeLessThan(300)
          const rows = await storedRows()
          const again = await send(sent)
          expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([
            first.status,
            'true',
          ])
          const withoutSecrets = (contract.secrets ?? []).reduce(
            (text, name) =>
              text.replace(`"${name}":${JSON.stringify(first.body[name])}`, `"${name}":null`),
            first.text,
          )
          expect(again.text).toBe(withoutSecrets)
          for (const name of ['Content-Type', 'Location', 'ETag'])
            expect(again.headers.get(name)).toBe(first.headers.get(name))
          const other = await send({
            ...sent,
            headers: { 'Content-Type': 'application/json', ...sent.headers },
            body: `${sent.body ?? '{}'} `,
          })
          expect([other.status, other.body.code]).toEqual([422, 'idempotency-key-reused'])
          expect(await storedRows()).toBe(rows)
        },
      )

      test('with 400 to an invalid Idempotency-Key', async () => {
        const request = await fixture.request()
        for (const bad of ['', 'a b', 'x'.repeat(129)]) {
          const reply = await send(withHeaders(request, { 'Idempotency-Key': bad }))
          expect([reply.status, pointers(reply.body)], bad).toEqual([
            400,
            ['#/header/Idempotency-Key'],
          ])
        }
      })
    }

    if (/^\/api\/auth\//i.test(route.path))
      test('with no replay: nothing under /api/Auth/ takes an Idempotency-Key', async () => {
        expect(contract.idempotent).toBeUndefined()
        const sent = withHeaders(await fixture.request(), { 'Idempotency-Key': 'a b' })
        const reply = await send(sent)
        if (!SAMPLES[route.id]?.refused) expect(reply.status, reply.text).toBeLessThan(300)
        expect(reply.headers.has('Idempotent-Replayed')).toBe(false)
      })

    const query = Object.keys((contract.query as z.ZodObject | undefined)?.shape ?? {})
    if (method !== 'GET' || query.length === 0) return

    test('with 400 to an unknown or invalid query, and points to it', async () => {
      const { path, ...sent } = await fixture.request()
      const url = (name: string, value: string) => {
        const changed = new URL(path, 'https://perigee.test')
        changed.searchParams.set(name, value)
        return `${changed.pathname}${changed.search}`
      }
      const cases: [string, string][] = [
        ['surprise', '1'],
        ['__proto__', '1'],
        ...query.map((name): [string, string] => [name.toUpperCase(), '1']),
      ]
      if (query.includes('limit'))
        cases.push(
          ...['0', '-1', '1001', '1.5', 'x', '', '1e400', '0x10', '1e2', ' 7', '+7'].map(
            (value): [string, string] => ['limit', value],
          ),
        )
      if (query.includes('cursor'))
        cases.push(
          ...['', 'x', 'eyJ9.x', 'WyJ4Il0.AAAAAAAAAAAAAAAA', 'WyJ4Il0', '.', '..'].map(
            (value): [string, string] => ['cursor', value],
          ),
        )
      if (query.includes('sort')) cases.push(['sort', 'nonsense'])
      if (query.includes('state')) cases.push(['state', 'nonsense'])
      if (query.includes('format')) cases.push(['format', 'nonsense'])
      for (const [name, value] of cases) {
        const reply = await send({ ...sent, path: url(name, value) })
        expect([reply.status, pointers(reply.body)], `${name}=${value}`).toEqual([
          400,
          [`#/query/${name}`],
        ])
      }
    })
  })
}
