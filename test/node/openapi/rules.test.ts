import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { oas31 } from 'zod-openapi'
import { COMPONENT_NAMES } from '../../../src/openapi/schemas/components.ts'
import { acceptedBy, resolved } from '../../support/openapi.ts'

const document = JSON.parse(readFileSync('public/api/openapi.json', 'utf8')) as oas31.OpenAPIObject
const operations = Object.values(document.paths ?? {}).flatMap(
  (item) => Object.values(item) as oas31.OperationObject[],
)
const schema = (name: string) =>
  document.components?.schemas?.[name] as Record<string, Record<string, { description: string }>>

/** Replies with these problems always have `Retry-After`. */
const RETRYABLE = [
  'request-in-progress',
  'too-many-requests',
  'daily-locations-reached',
  'cells-full',
  'links-unavailable',
  'unavailable',
]

test('a header is required only if every problem with that status has it', () => {
  const faults = operations.flatMap(({ operationId, responses = {} }) =>
    Object.entries(responses).flatMap(([status, node]) => {
      const { headers = {}, content } = resolved<oas31.ResponseObject>(document, node)
      const header = resolved<oas31.HeaderObject>(document, headers['Retry-After'] ?? {})
      const codes = Object.keys(content?.['application/problem+json']?.examples ?? {})
      const always = codes.every((code) => RETRYABLE.includes(code))
      return header.required && !always ? [`${operationId} ${status}`] : []
    }),
  )
  expect(faults).toEqual([])
})

test('enforced rules are written', () => {
  expect(schema('NewLocation').properties?.dateTime?.description).toMatch(/2000.*ten minutes/)
  expect(schema('NewAlert').properties?.dateTime?.description).toMatch(/2000.*ten minutes/)
  expect(schema('NewLocation').properties?.attributes?.description).toContain('8 KiB')
  expect(schema('DeviceBody').properties?.tags?.description).toContain('8 KiB')
  expect(schema('NewAlert')).toMatchObject({
    dependentRequired: { latitude: ['longitude'], longitude: ['latitude'] },
  })
  expect(schema('WebhookBody')).toMatchObject({ properties: { url: { format: 'uri' } } })
  for (const name of ['PostLocationsBody', 'PostAlertsBody']) {
    const { anyOf = [] } = schema(name) as unknown as oas31.SchemaObject
    const required = anyOf
      .slice(-2)
      .map((form) => resolved<oas31.SchemaObject>(document, form).required)
    expect(required).toEqual([['from'], ['to']])
  }
})

const PLACE = { dateTime: '2026-11-14T09:30:00Z', latitude: 38.7, longitude: -9.1 }
const SQUARE = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 0],
]

test.each<[component: string, accepted: object[], refused: object[]]>([
  [
    'SpeedCondition',
    [
      { type: 'speed', above: 90 },
      { type: 'speed', below: 5, zones: ['zon_1'] },
    ],
    [
      { type: 'speed' },
      { type: 'speed', above: 90, below: 5 },
      { type: 'speed', above: 90, zones: [] },
    ],
  ],
  [
    'ValueCondition',
    [
      { type: 'value', member: 'battery', above: 1, below: 0 },
      { type: 'value', member: 'battery', below: 20 },
    ],
    [{ type: 'value', member: 'battery' }],
  ],
  [
    'AddressedLocation',
    [
      { ...PLACE, deviceId: 'dev_1' },
      { ...PLACE, deviceId: null, identifier: '300434060000000' },
    ],
    [PLACE, { ...PLACE, identifier: null }, { ...PLACE, deviceId: 'dev_1', identifier: '3' }],
  ],
  [
    'PastedPush',
    [
      { provider: 'osmand' },
      { provider: 'osmand', body: '{}' },
      { provider: 'osmand', body: null, bodyBase64: 'e30=' },
    ],
    [{ provider: 'osmand', body: '{}', bodyBase64: 'e30=' }],
  ],
  [
    'ClaimIdentifierBody',
    [{ deviceId: 'dev_1' }, { device: { name: 'Tern 7' }, deviceId: null }],
    [{}, { deviceId: 'dev_1', device: { name: 'Tern 7' } }],
  ],
  ['RestoreLedgerBody', [{ undo: '00' }], [{}, { undo: '00', time: PLACE.dateTime }]],
  [
    'ZoneShape',
    [{ type: 'Polygon', coordinates: [SQUARE] }],
    [
      { type: 'Polygon', coordinates: [] },
      { type: 'Polygon', coordinates: [SQUARE.slice(1)] },
      { type: 'MultiPolygon', coordinates: [[SQUARE.slice(1)]] },
    ],
  ],
])('the schema %s states its rule', (component, accepted, refused) => {
  const node = { $ref: `#/components/schemas/${component}` } as oas31.SchemaObject
  for (const value of accepted)
    expect(acceptedBy(document, node, value), JSON.stringify(value)).toBe(true)
  for (const value of refused)
    expect(acceptedBy(document, node, value), JSON.stringify(value)).toBe(false)
})

test('no schema inside another is an object or enumeration without a name', () => {
  const unnamed = (node: unknown, at: string): string[] => {
    if (typeof node !== 'object' || node === null) return []
    const { type, enum: values, anyOf, oneOf } = node as oas31.SchemaObject
    const isObject = [type].flat().includes('object') && !anyOf && !oneOf
    return [
      ...(at.includes('/') && (isObject || values) ? [at] : []),
      ...Object.entries(node).flatMap(([name, part]) =>
        ['examples', 'not', 'enum'].includes(name) ? [] : unnamed(part, `${at}/${name}`),
      ),
    ]
  }
  const { schemas = {} } = document.components ?? {}
  expect(Object.entries(schemas).flatMap(([name, part]) => unnamed(part, name))).toEqual([])
  for (const name of Object.values(COMPONENT_NAMES)) expect(Object.keys(schemas)).toContain(name)
})

test('the replies to a report and to a query have nothing in common but members', () => {
  for (const { operationId, responses = {} } of operations) {
    const [query, report] = [responses[200], responses[201]].map(
      (reply) => (reply as oas31.ResponseObject | undefined)?.content?.['application/json'],
    )
    if (!query?.schema || !report?.schema) continue
    for (const [schema, other] of [
      [query.schema, report],
      [report.schema, query],
    ] as const) {
      const { default: found } = other.examples ?? {}
      const example = (found as oas31.ExampleObject | undefined)?.value
      expect(example).toBeDefined()
      expect(acceptedBy(document, schema as oas31.SchemaObject, example), operationId).toBe(false)
    }
  }
})

test('no `example` stands where `examples` should', () => {
  const singles = (node: unknown, at: string): string[] => {
    if (typeof node !== 'object' || node === null) return []
    return Object.entries(node).flatMap(([name, part]) => {
      if (name === 'examples' || name === 'properties') return []
      return name === 'example' ? [at] : singles(part, `${at}/${name}`)
    })
  }
  expect(singles(document, '')).toEqual([])
})

test('links name operations and parameters that exist', () => {
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]))
  const links = operations.flatMap(({ responses = {} }) =>
    Object.values(responses).flatMap((reply) =>
      Object.values(resolved<oas31.ResponseObject>(document, reply).links ?? {}),
    ),
  ) as oas31.LinkObject[]
  expect(links.length).toBeGreaterThan(80)
  for (const { operationId = '', parameters = {} } of links) {
    const names = (byId.get(operationId)?.parameters ?? []).map(
      (node) => resolved<oas31.ParameterObject>(document, node).name,
    )
    expect(names, operationId).toEqual(expect.arrayContaining(Object.keys(parameters)))
  }
})

test('created, listed and raised resources lead to what can be done with them', () => {
  const linksOf = (id: string, status: number) => {
    const operation = operations.find(({ operationId }) => operationId === id)
    const reply = operation?.responses?.[status] as oas31.ResponseObject | undefined
    return Object.keys(reply?.links ?? {})
  }
  const edits = ['readDevice', 'replaceDevice', 'patchDevice', 'deleteDevice']
  expect(linksOf('createDevice', 201).sort()).toEqual(edits.sort())
  expect(linksOf('listDevices', 200)).toContain('readDevice')
  expect(linksOf('postAlerts', 201)).toContain('readAlert')
  expect(linksOf('readDevice', 200)).toContain('readLastLocation')
})
