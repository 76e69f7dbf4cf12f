import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import published from '../../../public/api/openapi.json' with { type: 'json' }
import { openAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { callWithBindings } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { call } from '../../support/http.ts'
import { createUser } from '../../support/users.ts'

const read = (headers: Record<string, string> = {}) => call('GET', '/api/openapi.json', { headers })

test('the document is served without a token and may be cached for an hour', async () => {
  const { status, headers, body } = await read()
  expect([status, headers.get('Content-Type'), headers.get('Cache-Control')]).toEqual([
    200,
    'application/json',
    'public, max-age=3600',
  ])
  expect(body).toEqual(published)
})

test('a client that has the document gets 304', async () => {
  const etag = (await read()).headers.get('ETag') ?? ''
  expect(await read({ 'If-None-Match': etag })).toMatchObject({ status: 304, text: '' })
  expect((await read({ 'If-None-Match': '"another"' })).status).toBe(200)
})

test('the additional members of problems are in the schema', async () => {
  const account = await openAccount({ licenses: 1 })
  await createUser(account)
  const { deliveries } = (
    await raiseAlert(account, await createDevice(account, { limits: { dailyEmailLimit: 0 } }))
  ).body.alert
  const replies = [
    await account.call('POST', '/api/devices', { body: { name: 'One too many' } }),
    await account.call('POST', `/api/account/messages/${deliveries[0].id}/retry`),
  ]
  expect(replies.map(({ body }) => body.code)).toEqual([
    'no-license-available',
    'daily-limit-reached',
  ])
  const documented = Object.keys(published.components.schemas.Problem.properties)
  for (const { body } of replies)
    expect(documented).toEqual(expect.arrayContaining(Object.keys(body)))
})

/** The same database, with a concurrent edit right before each batch. */
const withConcurrentEdits = (table: string, accountId: string): D1Database =>
  new Proxy(env.DB, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'batch') return member.bind(target)
      return async (statements: D1PreparedStatement[]) => {
        await target
          .prepare(`UPDATE ${table} SET version = version + 1 WHERE account_id = ?`)
          .bind(accountId)
          .run()
        return target.batch(statements)
      }
    },
  })

const SOMEONE = { name: 'Ana', email: 'ana@example.com', country: 'PT', timeZone: 'UTC' }

test.each([
  { table: 'webhooks', parameter: 'webhookId', made: { url: 'https://receiver.example/conflict' } },
  { table: 'groups', parameter: 'groupId', made: { name: 'North' } },
  { table: 'users', parameter: 'userId', made: SOMEONE },
] as const)(
  'PUT and PATCH of $table reply 409 when every attempt loses to another edit, as documented',
  async (row) => {
    const { table, parameter, made } = row
    const account = await openAccount()
    const { body } = await account.call('POST', `/api/${table}`, { body: made })
    const id = body.id ?? body.webhook.id
    for (const method of ['PUT', 'PATCH'] as const) {
      const sent = { token: account.token, body: { ...made, description: method } }
      const reply = await callWithBindings(
        { DB: withConcurrentEdits(table, account.id) },
        method,
        `/api/${table}/${id}`,
        sent,
      )
      expect([reply.status, reply.body.code]).toEqual([409, 'conflict'])
      const paths = published.paths as Record<
        string,
        Record<string, { responses: Record<string, object> }>
      >
      const listed = paths[`/api/${table}/{${parameter}}`]?.[method.toLowerCase()]
      expect(JSON.stringify(listed?.responses['409'])).toContain('conflict')
    }
  },
)
