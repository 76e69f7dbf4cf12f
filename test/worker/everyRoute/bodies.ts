import { beforeAll, describe, expect, test } from 'vitest'
import { takesBody } from '../../../src/http/contract/contract.ts'
import type { Reply } from '../../support/http.ts'
import { type Fixture, storedRows } from './fixture.ts'
import type { Route } from './routes.ts'
import { send } from './send.ts'

const MIB = 1_048_576
const bytes = (...parts: (string | number)[]) =>
  new Uint8Array(
    parts.flatMap((part) =>
      typeof part === 'string' ? [...new TextEncoder().encode(part)] : [part],
    ),
  )

/** A body without a Content-Length. */
const streamed = (text: string): ReadableStream =>
  new Blob([text]).stream().pipeThrough(new TransformStream<Uint8Array, Uint8Array>())

/** One of each kind; body.test.ts has more. */
const MALFORMED: Record<string, string | Uint8Array> = {
  'cut short': '{"name":',
  'invalid UTF-8': bytes('{"name":"', 0xff, '"}'),
  'a NUL': '{"name":"a\\u0000b"}',
  'an unpaired surrogate': '{"name":"\\ud83d"}',
}

const WRONG_TYPES = [null, 'text/plain', 'application/json; charset=iso-8859-1']

/** Tests that malformed and unknown bodies are refused and nothing is stored. */
export const checkBodies = (route: Route, fixtureOf: () => Fixture): void => {
  const { contract } = route
  if (!takesBody(contract)) return

  describe('refuses a body', () => {
    let fixture: Fixture
    let rows: string
    beforeAll(() => {
      fixture = fixtureOf()
    })
    const expectRefused = (
      reply: Reply,
      status: number,
      code: string | RegExp,
      message: string,
    ) => {
      expect(reply.status, `${message}: ${reply.text}`).toBe(status)
      expect(reply.body.code, message).toMatch(code)
    }
    /** Makes the request first: its sample stores rows that do not count. */
    const prepare = async () => {
      const { body = '{}', ...sent } = await fixture.request()
      rows = await storedRows()
      return {
        body: String(body),
        sent: { ...sent, headers: { ...sent.headers, 'Content-Type': 'application/json' } },
      }
    }

    test('of another media type', async () => {
      const { sent, body: text } = await prepare()
      const body = bytes(text)
      const types =
        route.method === 'PATCH' ? WRONG_TYPES : [...WRONG_TYPES, 'application/merge-patch+json']
      for (const type of types) {
        const headers = Object.fromEntries(
          Object.entries(sent.headers).filter(([name]) => name !== 'Content-Type'),
        )
        const reply = await send({
          ...sent,
          body,
          headers: { ...headers, ...(type !== null && { 'Content-Type': type }) },
        })
        expectRefused(reply, 415, 'unsupported-media-type', String(type))
      }
      const encoded = await send({
        ...sent,
        body,
        headers: { ...sent.headers, 'Content-Encoding': 'gzip' },
      })
      expectRefused(encoded, 415, 'unsupported-media-type', 'gzip')
      expect(await storedRows()).toBe(rows)
    })

    test('of more than 1 MiB, with or without Content-Length', async () => {
      const { sent } = await prepare()
      const text = '{'.repeat(MIB + 1)
      expectRefused(
        await send({ ...sent, body: text }),
        413,
        'body-too-large',
        'with Content-Length',
      )
      expectRefused(
        await send({ ...sent, body: streamed(text) }),
        413,
        'body-too-large',
        'streamed',
      )
      expect(await storedRows()).toBe(rows)
    })

    test('that is not well-formed JSON', async () => {
      const { sent } = await prepare()
      for (const [name, body] of Object.entries(MALFORMED)) {
        expectRefused(await send({ ...sent, body }), 400, 'malformed-body', name)
      }
      expect(await storedRows()).toBe(rows)
    })

    test('of another shape, or nested too deep', async () => {
      const { sent } = await prepare()
      const deep = 10_000
      const shapes = ['null', '"text"', '[1]', `${'['.repeat(deep)}${']'.repeat(deep)}`]
      for (const body of [...shapes, `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`]) {
        expectRefused(
          await send({ ...sent, body }),
          400,
          /^invalid-(request|patch)$|^malformed-body$/,
          body.slice(0, 40),
        )
      }
      if (contract.body && !contract.optionalBody) {
        expectRefused(await send(sent), 400, 'invalid-request', 'none')
      }
      expect(await storedRows()).toBe(rows)
    })

    test('with an unknown member, and points to it', async () => {
      const { sent, body: good } = await prepare()
      const { wrapper } = contract.patches ?? contract
      for (const member of ['__proto__', 'a/b~c']) {
        const body = good.replace(
          /\}$/,
          `${good === '{}' ? '' : ','}${JSON.stringify(member)}:{"x":1}}`,
        )
        const pointer = `/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`
        const reply = await send({ ...sent, body })
        expectRefused(reply, 400, /^invalid-(request|patch)$/, member)
        expect(reply.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(
          pointer,
        )
        if (!wrapper) continue
        const wrapped = await send({ ...sent, body: `{"success":true,"${wrapper}":${body}}` })
        expectRefused(wrapped, 400, /^invalid-(request|patch)$/, member)
        expect(wrapped.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(
          `/${wrapper}${pointer}`,
        )
        const beside = await send({
          ...sent,
          body: `{"${wrapper}":${good},${JSON.stringify(member)}:1}`,
        })
        expectRefused(beside, 400, /^invalid-(request|patch)$/, member)
        expect(beside.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(
          pointer,
        )
      }
      expect(await storedRows()).toBe(rows)
    })
  })
}
