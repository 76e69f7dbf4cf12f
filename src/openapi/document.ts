import type { RouterRoute } from 'hono/types'
import type * as z from 'zod'
import {
  createDocument,
  type oas31,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
} from 'zod-openapi'
import type { Operation } from '../http/contract.ts'
import { operationOf } from '../http/operation.ts'
import { requestBody } from './body.ts'
import { addExamples } from './examples.ts'
import { requestHeaders } from './headers.ts'
import { DESCRIPTION, SUMMARY, TAGS, TITLE } from './introduction.ts'
import { pathParameters, templateOf } from './path.ts'
import { failuresOf } from './problems.ts'
import { successesOf } from './successes.ts'
import { tidy } from './tidy.ts'

/* The published contract, made of the contracts that the routes are held to. For scripts and tests: the Worker serves the finished file. */

export interface ContractedRoute {
  method: string
  path: string
  contract: Operation
}

interface Routed {
  routes: RouterRoute[]
}

export const contractedRoutes = ({ routes }: Routed): ContractedRoute[] =>
  routes.flatMap(({ method, path, handler }) => {
    const contract = operationOf(handler)
    return contract ? [{ method, path, contract }] : []
  })

/** A contract that stands at two paths is one operation: the first is where it is documented. */
export const documentedRoutes = (app: Routed): ContractedRoute[] => {
  const routes = contractedRoutes(app)
  return routes.filter(
    ({ contract }, at) => routes.findIndex((route) => route.contract === contract) === at,
  )
}

const scopesOf = (scope: Operation['scope']): readonly string[] => [scope].flat()

const security = ({ scope }: Operation): oas31.SecurityRequirementObject[] => {
  if (scope === 'open') return []
  if (scope === 'operator') return [{ operator: [] }]
  return scopesOf(scope).map((name) => ({ token: [name] }))
}

const wanted = ({ scope, wholeAccount }: Operation): string => {
  if (scope === 'open') return 'Wants no token.'
  if (scope === 'operator') return "Wants the operator's token."
  return `Wants the scope ${scopesOf(scope)
    .map((name) => `\`${name}\``)
    .join(' or ')}.${wholeAccount ? ' Closed to a user who is confined to a group.' : ''}`
}

const operationObject = ({
  method,
  path,
  contract,
}: ContractedRoute): ZodOpenApiOperationObject => {
  const { id, tag, summary, description, query } = contract
  const body = requestBody(contract)
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, wanted(contract)].filter(Boolean).join('\n\n'),
    security: security(contract),
    ...(query && { requestParams: { query: query as z.ZodObject } }),
    parameters: [...pathParameters(path), ...requestHeaders(method, contract)],
    ...(body && { requestBody: body }),
    responses: { ...successesOf(method, path, contract), ...failuresOf(contract) },
  }
}

const SECURITY_SCHEMES = {
  token: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A token from `POST /api/Auth/Token`. The names beside it are the scopes of which the key must have one.',
  },
  operator: {
    type: 'http',
    scheme: 'bearer',
    description: 'The secret `ADMIN_TOKEN` of whoever runs the service.',
  },
} as const

export interface DocumentOptions {
  version: string
  /** What the service sends to webhooks, one entry an event type. */
  webhooks?: NonNullable<ZodOpenApiObject['webhooks']>
}

export const openapiDocument = (
  app: Routed,
  { version, webhooks = {} }: DocumentOptions,
): oas31.OpenAPIObject => {
  const routes = documentedRoutes(app)
  const paths: NonNullable<ZodOpenApiObject['paths']> = {}
  for (const route of routes) {
    const path = templateOf(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationObject(route) }
  }
  const used = new Set(routes.map(({ contract }) => contract.tag))
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: TITLE,
        version,
        summary: SUMMARY,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags: Object.entries(TAGS).flatMap(([name, description]) =>
        used.has(name) ? [{ name, description }] : [],
      ),
      security: [{ token: [] }],
      paths,
      ...(Object.keys(webhooks).length > 0 && { webhooks }),
      components: { securitySchemes: SECURITY_SCHEMES },
    },
    { override: tidy },
  ) as oas31.OpenAPIObject
  addExamples(document)
  return document
}
