import { beforeAll, describe, expect, test } from 'vitest'
import { takesBody } from '../../../src/http/contract.ts'
import type { Reply } from '../../support/http.ts'
import { send } from './reply.ts'
import type { Route } from './routes.ts'
import { type Stage, storedRows } from './stage.ts'

const MIB = 1_048_576
const bytes = (...parts: (string | number)[]) =>
  new Uint8Array(
    parts.flatMap((part) =>
      typeof part === 'string' ? [...new TextEncoder().encode(part)] : [part],
    ),
  )

/** Sent piece by piece, so that nothing says beforehand how long it is. */
const streamed = (text: string): ReadableStream =>
  new Blob([text]).stream().pipeThrough(new TransformStream<Uint8Array, Uint8Array>())

/** One of each kind; body.test.ts knows more of them. */
const MALFORMED: Record<string, string | Uint8Array> = {
  'cut short': '{"name":',
  'invalid UTF-8': bytes('{"name":"', 0xff, '"}'),
  'a NUL': '{"name":"a\\u0000b"}',
  'half a surrogate pair': '{"name":"\\ud83d"}',
}

const WRONG_TYPES = [null, 'text/plain', 'application/json; charset=iso-8859-1']

/** What a body must be before it is looked into, and that nothing is stored of one that is not. */
export const bodies = (route: Route, stageOf: () => Stage): void => {
  const { contract } = route
  if (!takesBody(contract)) return

  describe('refuses a body', () => {
    let stage: Stage
    let rows: string
    beforeAll(() => {
      stage = stageOf()
    })
    const refused = (reply: Reply, status: number, code: string | RegExp, because: string) => {
      expect(reply.status, `${because}: ${reply.text}`).toBe(status)
      expect(reply.body.code, because).toMatch(code)
    }
    /** One request made beforehand: what its sample stores is not what the refused ones did. */
    const prepared = async () => {
      const { body = '{}', ...sent } = await stage.request()
      rows = await storedRows()
      return {
        body: String(body),
        sent: { ...sent, headers: { ...sent.headers, 'Content-Type': 'application/json' } },
      }
    }

    test('of another type', async () => {
      const { sent, body: text } = await prepared()
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
        refused(reply, 415, 'unsupported-media-type', String(type))
      }
      const encoded = await send({
        ...sent,
        body,
        headers: { ...sent.headers, 'Content-Encoding': 'gzip' },
      })
      refused(encoded, 415, 'unsupported-media-type', 'gzip')
      expect(await storedRows()).toBe(rows)
    })

    test('of more than 1 MiB, announced or not', async () => {
      const { sent } = await prepared()
      const text = '{'.repeat(MIB + 1)
      refused(await send({ ...sent, body: text }), 413, 'body-too-large', 'announced')
      refused(await send({ ...sent, body: streamed(text) }), 413, 'body-too-large', 'streamed')
      expect(await storedRows()).toBe(rows)
    })

    test('that is not sound JSON', async () => {
      const { sent } = await prepared()
      for (const [which, body] of Object.entries(MALFORMED)) {
        refused(await send({ ...sent, body }), 400, 'malformed-body', which)
      }
      expect(await storedRows()).toBe(rows)
    })

    test('of another shape, or nested out of all measure', async () => {
      const { sent } = await prepared()
      const deep = 10_000
      const shapes = ['null', '"text"', '[1]', `${'['.repeat(deep)}${']'.repeat(deep)}`]
      for (const body of [...shapes, `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`]) {
        refused(
          await send({ ...sent, body }),
          400,
          /^invalid-(request|patch)$|^malformed-body$/,
          body.slice(0, 40),
        )
      }
      if (contract.body && !contract.optionalBody) {
        refused(await send(sent), 400, 'invalid-request', 'none')
      }
      expect(await storedRows()).toBe(rows)
    })

    test('with a member that nobody knows, and points at it', async () => {
      const { sent, body: good } = await prepared()
      const { wrapper } = contract.patches ?? contract
      for (const member of ['__proto__', 'a/b~c']) {
        const body = good.replace(
          /\}$/,
          `${good === '{}' ? '' : ','}${JSON.stringify(member)}:{"x":1}}`,
        )
        const pointer = `/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`
        const reply = await send({ ...sent, body })
        refused(reply, 400, /^invalid-(request|patch)$/, member)
        expect(reply.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(
          pointer,
        )
        if (!wrapper) continue
        const wrapped = await send({ ...sent, body: `{"success":true,"${wrapper}":${body}}` })
        refused(wrapped, 400, /^invalid-(request|patch)$/, member)
        expect(wrapped.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(
          `/${wrapper}${pointer}`,
        )
        const beside = await send({
          ...sent,
          body: `{"${wrapper}":${good},${JSON.stringify(member)}:1}`,
        })
        refused(beside, 400, /^invalid-(request|patch)$/, member)
        expect(beside.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(
          pointer,
        )
      }
      expect(await storedRows()).toBe(rows)
    })
  })
}
