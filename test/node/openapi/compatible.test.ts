import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { findIncompatibilities } from '../../../scripts/build/compatible/compare.ts'
import {
  type ApiDocument,
  type OperationObject,
  type Release,
  type Schema,
  surfaceOf,
} from '../../../scripts/build/compatible/document.ts'
import { app } from '../../../src/app.ts'
import { contractedRoutes } from '../../../src/openapi/routes.ts'

const example = (): ApiDocument => {
  const thing: Schema = {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 64 },
      kind: { type: 'string', enum: ['ship', 'truck'], default: 'ship' },
      owner: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      part: { $ref: '#/components/schemas/Thing' },
      when: {
        oneOf: [
          { type: 'object', properties: { type: { const: 'moves' }, metres: { type: 'number' } } },
          {
            type: 'object',
            properties: { type: { const: 'stands' }, minutes: { type: 'number' } },
          },
        ],
      },
    },
    required: ['name', 'kind'],
  }
  const body: Schema = {
    ...structuredClone(thing),
    additionalProperties: false,
    required: ['name'],
  }
  Object.assign(body.properties ?? {}, { part: { $ref: '#/components/schemas/ThingBody' } })
  const content = (name: string) => ({
    'application/json': { schema: { $ref: `#/components/schemas/${name}` } },
  })
  return {
    paths: {
      '/things/{thingId}': {
        put: {
          security: [{ token: ['write'] }],
          parameters: [
            { in: 'path', name: 'thingId', required: true, schema: { type: 'string' } },
            { in: 'query', name: 'dryRun', schema: { type: 'boolean' } },
          ],
          requestBody: { required: false, content: content('ThingBody') },
          responses: { 200: { headers: { ETag: {} }, content: content('Thing') }, 404: {} },
        },
      },
    },
    webhooks: { 'thing.changed': { post: { requestBody: { content: content('Thing') } } } },
    components: { schemas: { Thing: thing, ThingBody: body }, parameters: {}, responses: {} },
  }
}

interface Parts {
  document: ApiDocument
  put: OperationObject
  thing: Schema & { properties: Record<string, Schema>; required: string[] }
  body: Schema & { properties: Record<string, Schema>; required: string[] }
}

const findingsOf = (change: (parts: Parts) => void): string[] => {
  const document = example()
  const { Thing, ThingBody } = document.components.schemas
  const put = document.paths['/things/{thingId}']?.put ?? {}
  change({ document, put, thing: Thing, body: ThingBody } as Parts)
  return findIncompatibilities(example(), document)
}

describe('what breaks no client', () => {
  test.each<[string, (parts: Parts) => void]>([
    ['nothing', () => {}],
    ['a new operation', ({ document }) => Object.assign(document.paths, { '/b': { get: {} } })],
    [
      'another name of a path parameter',
      ({ document }) => {
        document.paths = { '/things/{id}': document.paths['/things/{thingId}'] ?? {} }
      },
    ],
    ['a new member of a reply', ({ thing }) => Object.assign(thing.properties, { x: {} })],
    ['a new optional member of a body', ({ body }) => Object.assign(body.properties, { x: {} })],
    ['a new value in a reply', ({ thing }) => thing.properties.kind?.enum?.push('person')],
    ['a new value in a body', ({ body }) => body.properties.kind?.enum?.push('person')],
    [
      'a new kind in a union of a reply',
      ({ thing }) =>
        thing.properties.when?.oneOf?.push({
          type: 'object',
          properties: { type: { const: 'silent' } },
        }),
    ],
    [
      'a longer text in a body',
      ({ body }) => Object.assign(body.properties.name ?? {}, { maxLength: 99 }),
    ],
    ['a reply that is never null any more', ({ thing }) => thing.properties.owner?.anyOf?.pop()],
    ['a new error', ({ put }) => Object.assign(put.responses ?? {}, { 409: {} })],
    ['a further scope', ({ put }) => put.security?.push({ token: ['read'] })],
    [
      'another default of a member of a reply',
      ({ thing }) => Object.assign(thing.properties.kind ?? {}, { default: 'truck' }),
    ],
    ['a new event', ({ document }) => Object.assign(document.webhooks ?? {}, { 'a.b': {} })],
  ])('%s', (_, change) => {
    expect(findingsOf(change)).toEqual([])
  })
})

describe('what breaks clients', () => {
  test.each<[RegExp, (parts: Parts) => void]>([
    [
      /^PUT \/things\/{}: is gone$/,
      ({ document }) => {
        document.paths = {}
      },
    ],
    [
      /is no longer enough/,
      ({ put }) => {
        put.security = [{ token: ['admin'] }]
      },
    ],
    [
      /kind has another `default`/,
      ({ body }) => Object.assign(body.properties.kind ?? {}, { default: 'truck' }),
    ],
    [/the query parameter dryRun is gone/, ({ put }) => put.parameters?.pop()],
    [
      /parameter x is now required/,
      ({ put }) => put.parameters?.push({ in: 'query', name: 'x', required: true }),
    ],
    [
      /the body is now required/,
      ({ put }) => {
        if (put.requestBody) put.requestBody.required = true
      },
    ],
    [
      /no longer replies 200/,
      ({ put }) => {
        put.responses = { 201: put.responses?.[200] ?? {} }
      },
    ],
    [/may now reply 202/, ({ put }) => Object.assign(put.responses ?? {}, { 202: {} })],
    [
      /the header ETag of 200 is gone/,
      ({ put }) => {
        delete put.responses?.[200]?.headers?.ETag
      },
    ],
    [
      /no longer application\/json/,
      ({ put }) => {
        delete put.responses?.[200]?.content?.['application/json']
      },
    ],
    [
      /Thing\.name is gone/,
      ({ thing }) => {
        delete thing.properties.name
      },
    ],
    [/Thing\.kind may now be missing/, ({ thing }) => thing.required.pop()],
    [
      /Thing\.name may now be null/,
      ({ thing }) => {
        thing.properties.name = { type: ['string', 'null'] }
      },
    ],
    [
      /Thing\.name may now be integer/,
      ({ thing }) => {
        thing.properties.name = { type: 'integer' }
      },
    ],
    [
      /Thing\.kind has other values/,
      ({ thing }) => {
        thing.properties.kind = { type: 'string', enum: ['x'] }
      },
    ],
    [
      /Thing\.owner may now be number/,
      ({ thing }) => thing.properties.owner?.anyOf?.push({ type: 'number' }),
    ],
    [
      /^POST thing\.changed: Thing\.name is gone/,
      ({ thing }) => {
        delete thing.properties.name
      },
    ],
    [
      /ThingBody\.name is no longer taken/,
      ({ body }) => {
        delete body.properties.name
      },
    ],
    [/ThingBody\.kind is now required/, ({ body }) => body.required.push('kind')],
    [/ThingBody\.kind no longer takes "truck"/, ({ body }) => body.properties.kind?.enum?.pop()],
    [/ThingBody\.owner no longer takes null/, ({ body }) => body.properties.owner?.anyOf?.pop()],
    [
      /ThingBody\.name has another `maxLength`/,
      ({ body }) => Object.assign(body.properties.name ?? {}, { maxLength: 9 }),
    ],
    [
      /ThingBody\.name has another `pattern`/,
      ({ body }) => Object.assign(body.properties.name ?? {}, { pattern: 'a' }),
    ],
    [
      /ThingBody\.name has another `format`/,
      ({ body }) => Object.assign(body.properties.name ?? {}, { format: 'uri' }),
    ],
    [
      /no longer takes object with `type: "stands"`/,
      ({ body }) => body.properties.when?.oneOf?.pop(),
    ],
    [
      /no longer takes any string/,
      ({ body }) => Object.assign(body.properties.name ?? {}, { enum: ['a'] }),
    ],
  ])('%s', (finding, change) => {
    expect(findingsOf(change).join('\n')).toMatch(new RegExp(finding.source, 'm'))
  })
})

const stored = gunzipSync(readFileSync('scripts/build/compatible/released.json.gz')).toString()
const release = JSON.parse(stored) as Release
const document = JSON.parse(readFileSync('public/api/openapi.json', 'utf8')) as ApiDocument

test('the check passes on this release, and fails without something that was released', () => {
  const check = spawnSync(process.execPath, ['scripts/build/compatible.ts'], { encoding: 'utf8' })
  expect([check.status, check.stderr]).toEqual([0, ''])
  const { paths, components } = surfaceOf(document)
  const { '/api/devices': _, ...others } = paths
  expect(
    findIncompatibilities(release.document, { paths: others, components }).filter((finding) =>
      finding.includes('/api/devices:'),
    ),
  ).toEqual(['GET /api/devices: is gone', 'POST /api/devices: is gone'])
})

/** A clone without history cannot tell. */
test('the stored release is what its commit has', () => {
  const path = `${release.commit}:public/api/openapi.json`
  const shown = spawnSync('git', ['show', path], { encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (shown.status !== 0) return
  expect(release.document).toEqual(surfaceOf(JSON.parse(shown.stdout)))
})

test('what is deprecated keeps working for a year', () => {
  for (const { contract } of contractedRoutes(app)) {
    const { deprecated, deprecatedMembers = {} } = contract
    for (const { since, sunset } of [deprecated ?? [], Object.values(deprecatedMembers)].flat()) {
      const year = Date.parse(sunset ?? '9999-01-01') - Date.parse(since)
      expect(year, contract.id).toBeGreaterThanOrEqual(365 * 86_400_000)
    }
  }
})
