import { Hono } from 'hono'
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { oas31 } from 'zod-openapi'
import type { AppEnv } from '../../../src/http/context.ts'
import { define } from '../../../src/http/contract/contract.ts'
import { operation } from '../../../src/http/contract/operation.ts'
import { success } from '../../../src/http/contract/wire.ts'
import { nextCursor, pageQuery } from '../../../src/http/paging/page.ts'
import { openapiDocument } from '../../../src/openapi/document.ts'
import { acceptedBy, codesIn, operationAt, resolved, schemaIn } from '../../support/openapi.ts'

const orbit = z
  .strictObject({
    altitude: z.number().meta({ example: 780 }),
    decaying: z.boolean().default(false),
  })
  .meta({ id: 'Orbit' })
const body = z
  .strictObject({
    name: z.string().min(1),
    note: z.string().default(''),
    orbit: orbit.prefault({ altitude: 780 }),
  })
  .meta({ id: 'SatelliteBody' })
const satellite = z
  .object({ id: z.string(), name: z.string(), note: z.string(), orbit })
  .meta({ id: 'Satellite' })
const reply = z.object({ success, satellite })
const common = { tag: 'Devices', reply, wrapper: 'satellite', ignored: ['id', 'seen'] } as const

const replace = define({
  ...common,
  id: 'replaceSatellite',
  summary: '',
  scope: 'write',
  body,
  problems: ['device-not-found'],
  etag: true,
  ifMatch: true,
})
const patch = define({
  id: 'patchSatellite',
  tag: 'Devices',
  summary: '',
  scope: 'write',
  patches: replace,
  reply,
  problems: ['device-not-found'],
})
const list = define({
  id: 'listSatellites',
  tag: 'Devices',
  summary: '',
  scope: ['read', 'ingest'],
  query: z.strictObject(pageQuery),
  reply: z.object({ success, satellites: z.array(satellite), nextCursor }),
  formats: { 'text/csv': 'One line a satellite.' },
})
const reportOrAsk = define({
  ...common,
  id: 'reportOrAsk',
  summary: '',
  scope: 'write',
  body: z.union([
    z.strictObject({ from: z.string() }).meta({ title: 'Question' }),
    z.strictObject({ name: z.string() }).meta({ title: 'Report' }),
  ]),
  alternateReply: { status: 201, reply: z.object({ success, accepted: z.int() }) },
  idempotent: true,
})

const app = new Hono<AppEnv>()
  .get('/api/satellites', operation(list))
  .post('/api/satellites', operation(reportOrAsk))
  .put('/api/satellites/:satelliteId', operation(replace))
  .patch('/api/satellites/:satelliteId', operation(patch))

const document = openapiDocument(app, { version: '1.0.0' })
const at = (method: string, path: string) => operationAt(document, method, path)
const put = at('PUT', '/api/satellites/:satelliteId')
const accepts = (part: unknown, value: unknown) => acceptedBy(document, schemaIn(part), value)

test('a body may be wrapped and may have members of the server, but no unknown ones', () => {
  for (const inner of [
    { name: 'Tern' },
    { id: 'sat_1', name: 'Tern', seen: 4, orbit: { altitude: 1 } },
  ]) {
    expect(accepts(put.requestBody, inner)).toBe(true)
    expect(accepts(put.requestBody, { success: true, satellite: inner })).toBe(true)
  }
  expect(accepts(put.requestBody, { name: 'Tern', colour: 'red' })).toBe(false)
  expect(accepts(put.requestBody, { satellite: { name: 'Tern' }, colour: 'red' })).toBe(false)
  expect(accepts(put.requestBody, { name: '' })).toBe(false)
})

test('an optional member of a body may be null at every level, a required one may not', () => {
  for (const accepted of [
    { name: 'Tern', note: null },
    { name: 'Tern', orbit: null },
    { name: 'Tern', orbit: { altitude: 1, decaying: null } },
  ])
    expect(accepts(put.requestBody, accepted), JSON.stringify(accepted)).toBe(true)
  expect(accepts(put.requestBody, { name: null })).toBe(false)
  expect(accepts(put.requestBody, { name: 'Tern', orbit: { altitude: null } })).toBe(false)
  expect(accepts(put.responses?.[200], { success: true, satellite: { note: null } })).toBe(false)
})

test('each option of a union body may have members of the server', () => {
  const post = at('POST', '/api/satellites')
  expect(accepts(post.requestBody, { name: 'Tern', id: 'sat_1' })).toBe(true)
  expect(accepts(post.requestBody, { from: 'then', id: 'sat_1' })).toBe(true)
  expect(accepts(post.requestBody, { id: 'sat_1' })).toBe(false)
})

test('a merge patch may leave out any member, and null removes only optional ones', () => {
  const { requestBody } = at('PATCH', '/api/satellites/:satelliteId')
  const merges = (value: unknown) => accepts(requestBody, value)
  expect(merges({})).toBe(true)
  expect(merges({ note: null, orbit: { decaying: null } })).toBe(true)
  expect(merges({ satellite: { name: 'Tern' } })).toBe(true)
  expect(merges({ name: null })).toBe(false)
  expect(merges({ orbit: { altitude: null } })).toBe(false)
})

test('a body may be either kind of patch, in one media type', () => {
  const { requestBody } = at('PATCH', '/api/satellites/:satelliteId')
  expect(accepts(requestBody, [{ op: 'test', path: '/name', value: 'Tern' }])).toBe(true)
  expect(accepts(requestBody, { name: 'Tern' })).toBe(true)
  expect(accepts(requestBody, [{ op: 'rename', path: '/name' }])).toBe(false)
  // A generated client cannot choose between several by the kind of the body.
  expect(Object.keys((requestBody as oas31.RequestBodyObject).content)).toEqual([
    'application/json',
  ])
})

test('objects and enumerations are components wherever they are; equal ones are one', () => {
  const phase = z.enum(['rising', 'setting'])
  const pass = z.object({ phase, seen: z.array(phase), at: z.object({ degrees: z.number() }) })
  const list = define({
    id: 'listPasses',
    tag: 'Devices',
    summary: '',
    scope: 'read',
    reply: z.object({ success, orbits: z.array(pass), last: pass.nullable() }),
  })
  const made = openapiDocument(new Hono<AppEnv>().get('/api/passes', operation(list)), {
    version: '1.0.0',
  })
  expect(made.components?.schemas).toMatchObject({
    ListPassesReplyOrbitPhase: { enum: ['rising', 'setting'] },
    ListPassesReplyOrbitAt: { properties: { degrees: { type: 'number' } } },
    ListPassesReplyOrbit: {
      properties: {
        phase: { $ref: '#/components/schemas/ListPassesReplyOrbitPhase' },
        seen: { items: { $ref: '#/components/schemas/ListPassesReplyOrbitPhase' } },
      },
    },
    ListPassesReply: {
      properties: {
        last: { anyOf: [{ $ref: '#/components/schemas/ListPassesReplyLast' }, { type: 'null' }] },
      },
    },
  })
})

test('an option of a union that is an object needs a title, which names it', () => {
  const post = (...options: [z.ZodType, z.ZodType]) => {
    const make = define({
      ...common,
      id: 'make',
      summary: '',
      scope: 'write',
      body: z.union(options),
    })
    const path = new Hono<AppEnv>().post('/api/made', operation(make))
    return openapiDocument(path, { version: '1.0.0' }).components?.schemas ?? {}
  }
  const [one, other] = [z.strictObject({ one: z.string() }), z.strictObject({ other: z.string() })]
  expect(() => post(one, other)).toThrow('needs a title')
  expect(Object.keys(post(one.meta({ title: 'One' }), other.meta({ title: 'Other' })))).toEqual(
    expect.arrayContaining(['One', 'Other', 'MakeBody']),
  )
})

test('replies are components, named after what they hold', () => {
  const schemaOf = (method: string, path: string, status = 200) =>
    schemaIn(at(method, path).responses?.[status]).$ref
  expect(schemaOf('GET', '/api/satellites')).toBe('#/components/schemas/SatellitePage')
  expect(schemaOf('PUT', '/api/satellites/:satelliteId')).toBe(
    '#/components/schemas/SatelliteReply',
  )
  expect(schemaOf('PATCH', '/api/satellites/:satelliteId')).toBe(
    '#/components/schemas/SatelliteReply',
  )
  expect(schemaOf('POST', '/api/satellites', 201)).toBe('#/components/schemas/ReportOrAskReply')
})

test('the default of a member is in its description, not a keyword', () => {
  const path = ['components', 'schemas', 'SatelliteBody', 'properties', 'note']
  expect(document).toHaveProperty(path, {
    type: ['string', 'null'],
    description: 'Default: empty.',
  })
})

test('the contract implies parameters, headers and error replies', () => {
  const named = (parameters: oas31.OperationObject['parameters'] = []) =>
    parameters
      .map((node) => resolved<oas31.ParameterObject>(document, node))
      .map(({ in: place, name }) => `${place} ${name}`)
  expect(named(put.parameters)).toEqual([
    'path satelliteId',
    'header If-Match',
    'header Perigee-Version',
    'header X-Request-Id',
  ])
  expect(put.security).toEqual([{ token: ['write'] }])
  expect(Object.keys(put.responses?.[200].headers)).toEqual([
    'X-Request-Id',
    'Perigee-Version',
    'RateLimit-Policy',
    'RateLimit',
    'ETag',
  ])
  expect(codesIn(document, put)).toEqual([
    'invalid-request',
    'malformed-body',
    'token-missing',
    'token-invalid',
    'token-expired',
    'not-a-token',
    'key-revoked',
    'session-ended',
    'account-disabled',
    'user-disabled',
    'forbidden',
    'account-read-only',
    'account-ingest-only',
    'device-not-found',
    'storage-full',
    'precondition-failed',
    'body-too-large',
    'unsupported-media-type',
    'too-many-requests',
    'internal',
    'unavailable',
  ])
})

test('several scopes, other formats and a second success are documented', () => {
  const { security, description, responses } = at('GET', '/api/satellites')
  expect(security).toEqual([{ token: ['read'] }, { token: ['ingest'] }])
  expect(description).toContain('`read` or `ingest`')
  expect(Object.keys(responses?.[200].content)).toEqual(['application/json', 'text/csv'])
  expect(Object.keys(at('POST', '/api/satellites').responses ?? {})).toEqual(
    expect.arrayContaining(['200', '201', '409', '422']),
  )
})

test('a reply may have members that the document does not list', () => {
  const reply = {
    success: true,
    satellite: {
      id: 'sat_1',
      name: 'Tern',
      note: '',
      orbit: { altitude: 1, decaying: false },
      fresh: 1,
    },
  }
  expect(accepts(put.responses?.[200], reply)).toBe(true)
})

test('webhooks are a section of their own, which is left out when there are none', () => {
  const post = {
    requestBody: { content: { 'application/json': { schema: satellite } } },
    responses: { 200: { description: 'Received.' } },
  }
  expect(document.webhooks).toBeUndefined()
  expect(
    openapiDocument(app, { version: '1', webhooks: { launched: { post } } }).webhooks,
  ).toHaveProperty('launched.post')
})
