import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { withEndpoints } from '../../../scripts/build/endpoint-table.ts'
import { app } from '../../../src/app.ts'
import { EVENT_TYPES } from '../../../src/domain/event/event.ts'
import type { JsonObject } from '../../../src/domain/text/json.ts'
import { EVENTS } from '../../../src/events/catalogue.ts'
import { parseBody } from '../../../src/http/body/parseBody.ts'
import { applyPatch, parsePatch } from '../../../src/http/body/patch.ts'
import { problemsOf } from '../../../src/http/contract/contract.ts'
import { parameterNotFound } from '../../../src/http/reply/notFound.ts'
import { openapiDocument } from '../../../src/openapi/document.ts'
import { contractedRoutes, documentedRoutes } from '../../../src/openapi/routes.ts'
import { EVENT_WEBHOOKS } from '../../../src/openapi/webhooks.ts'
import {
  acceptedBy,
  codesIn,
  exampleIn,
  examplesIn,
  operationAt,
  resolved,
  schemaIn,
} from '../../support/openapi.ts'

const document = openapiDocument(app, { version: manifest.version, webhooks: EVENT_WEBHOOKS })
const operations = documentedRoutes(app).map((route) => ({
  ...route,
  name: `${route.method} ${route.path}`,
  operation: operationAt(document, route.method, route.path),
}))

describe('the published document', () => {
  test('is up to date with the routes', () => {
    const published = readFileSync('public/api/openapi.json', 'utf8')
    expect(published, 'public/api/openapi.json is out of date: run npm run openapi').toBe(
      `${JSON.stringify(document, null, 2)}\n`,
    )
  })

  test('is the source of the table of endpoints in docs/design.md', () => {
    const page = readFileSync('docs/design.md', 'utf8')
    expect(page, 'docs/design.md is out of date: run npm run openapi').toBe(
      withEndpoints(page, document),
    )
  })

  test('has every route except the HTML pages, the receipts of providers and that of agents', () => {
    const contracted = new Set(contractedRoutes(app).map(({ method, path }) => `${method} ${path}`))
    const unknown = app.routes.filter(
      ({ method, path }) => method !== 'ALL' && !contracted.has(`${method} ${path}`),
    )
    expect(
      unknown
        .map(({ path }) => path)
        .filter(
          (path) =>
            !/^\/([ac]\/(:link)?|oauth\/\w+|\.well-known\/oauth-[a-z-]+(\/mcp)?|s\/(:secret(\/[a-z.]+)?)?|problems(\/:code)?|hooks\/:provider\/:accountId(\/digits)?|in\/:sourceId\/:secret|mcp)$/.test(
              path,
            ),
        ),
    ).toEqual([])
  })

  test('leaves out only the second spelling of the token endpoint', () => {
    const documented = new Set(operations.map(({ name }) => name))
    const missing = contractedRoutes(app).filter(
      ({ method, path }) => !documented.has(`${method} ${path}`),
    )
    expect(missing.map(({ path }) => path)).toEqual(['/api/auth/token'])
  })

  test('has a unique id for every operation', () => {
    const ids = operations.map(({ contract }) => contract.id)
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
  })

  test('is generated outside the Worker: no other folder imports openapi/', () => {
    const files = globSync('src/**/*.ts').filter((file) => !file.startsWith('src/openapi/'))
    expect(
      files.filter((file) => /from '[^']*openapi\/[^']*'/.test(readFileSync(file, 'utf8'))),
    ).toEqual([])
    expect(files).toContain('src/worker.ts')
  })

  test('describes every tag', () => {
    const described = new Set(document.tags?.map(({ name }) => name))
    expect(
      operations
        .filter(({ contract }) => !described.has(contract.tag))
        .map(({ name, contract }) => `${contract.tag} of ${name}`),
    ).toEqual([])
  })
})

test.each(operations)(
  '$name lists every problem that it can reply with',
  ({ path, contract, operation }) => {
    expect(codesIn(document, operation).sort()).toEqual(problemsOf(contract).sort())
    const [parameter] = path.match(/:\w+(?=[^:]*$)/) ?? []
    if (parameter) expect(problemsOf(contract)).toContain(parameterNotFound(parameter).code)
  },
)

test.each(operations.filter(({ contract }) => !contract.upgrade && !contract.download))(
  '$name has example replies that match its contract',
  ({ contract, operation }) => {
    for (const { status = 200, reply } of [
      contract,
      ...(contract.alternateReply ? [contract.alternateReply] : []),
    ]) {
      const example = exampleIn(operation.responses?.[status])
      expect(reply.safeParse(example)).toMatchObject({ success: true, data: example })
    }
  },
)

test.each(operations.filter(({ contract }) => contract.body))(
  '$name accepts its example body',
  ({ contract, operation }) => {
    const example = exampleIn(operation.requestBody)
    expect(() => parseBody(contract, example)).not.toThrow()
    expect(acceptedBy(document, schemaIn(operation.requestBody), example)).toBe(true)
  },
)

test.each(operations.filter(({ method }) => method === 'PUT'))(
  '$name accepts the example reply of GET',
  ({ path, contract, operation }) => {
    const example = exampleIn(operationAt(document, 'GET', path).responses?.[200])
    expect(() => parseBody(contract, example)).not.toThrow()
    expect(acceptedBy(document, schemaIn(operation.requestBody), example)).toBe(true)
  },
)

test.each(operations.filter(({ contract }) => contract.patches))(
  '$name accepts its example patches',
  ({ contract, operation }) => {
    const { patches, status = 200 } = contract
    if (!patches?.body) throw new Error('`patches` must be a contract with a body')
    const replace = { ...patches, body: patches.body }
    const reply = exampleIn(operation.responses?.[status]) as JsonObject
    const resource = (replace.wrapper ? reply[replace.wrapper] : reply) as JsonObject
    const examples = examplesIn(operation.requestBody)
    expect(Object.keys(examples)).toEqual(['merge-patch', 'json-patch'])
    for (const [name, example] of Object.entries(examples)) {
      for (const type of [`application/${name}+json`, 'application/json']) {
        const { patch } = parsePatch(type, example, replace)
        expect(() => applyPatch(patch, resource, replace)).not.toThrow()
      }
      expect(acceptedBy(document, schemaIn(operation.requestBody), example)).toBe(true)
    }
  },
)

test('every list in a body has a maximum length', () => {
  const unboundedLists = (node: unknown, at: string): string[] => {
    if (typeof node !== 'object' || node === null) return []
    const { $ref, type, maxItems } = node as Record<string, unknown>
    if ($ref) return unboundedLists(resolved(document, node), String($ref))
    const here = type === 'array' && maxItems === undefined ? [at] : []
    return [
      ...here,
      ...Object.entries(node).flatMap(([name, part]) => unboundedLists(part, `${at}/${name}`)),
    ]
  }
  const bodies = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.values(item as object).flatMap((operation) =>
      unboundedLists(operation.requestBody?.content ?? null, path),
    ),
  )
  expect(bodies).toEqual([])
})

test('the webhooks are the event catalogue, each with a valid example', () => {
  expect(Object.keys(document.webhooks ?? {})).toEqual([...EVENT_TYPES])
  for (const type of EVENT_TYPES) {
    const { post } = (document.webhooks?.[type] ?? {}) as { post: { requestBody: unknown } }
    const example = exampleIn(post.requestBody) as { events: unknown[] }
    expect(EVENTS[type].safeParse(example.events[0]), type).toMatchObject({
      success: true,
      data: example.events[0],
    })
    expect(acceptedBy(document, schemaIn(post.requestBody), example), type).toBe(true)
  }
})
