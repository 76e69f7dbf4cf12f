import type * as z from 'zod'
import {
  createDocument,
  type oas31,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
} from 'zod-openapi'
import { mayOperate, OPERATOR_ROLES } from '../domain/admin/operator.ts'
import type { Operation } from '../http/contract/contract.ts'
import { SESSION_COOKIE } from '../http/cookie.ts'
import type { Deprecation } from '../http/version/deprecation.ts'
import { addDescriptions } from './descriptions.ts'
import { addExamples } from './examples.ts'
import { requestHeaders } from './headers.ts'
import { CONTACT, DESCRIPTION, SUMMARY, TAGS, TITLE } from './introduction.ts'
import { addLinks } from './links.ts'
import { pathParameters, templateOf } from './path.ts'
import { failuresOf } from './problems.ts'
import { type ContractedRoute, documentedRoutes, type Router } from './routes.ts'
import { requestBody } from './schemas/body.ts'
import { nameComponents } from './schemas/components.ts'
import { describeDefaults } from './schemas/defaults.ts'
import { allowNullsInBodies } from './schemas/nulls.ts'
import { openReferences, tidy } from './schemas/tidy.ts'
import { successesOf } from './successes.ts'

/* Generates the OpenAPI document from the contracts of the routes, at build time only. */

const scopesOf = (scope: Operation['scope']): readonly string[] => [scope].flat()

const security = ({ scope, session }: Operation): oas31.SecurityRequirementObject[] => {
  if (session) return [{ session: [] }]
  if (scope === 'open') return []
  if (scope === 'operator') return [{ operator: [] }]
  return scopesOf(scope).map((name) => ({ token: [name] }))
}

const describeOperator = (right: Operation['right'] = 'own'): string => {
  const roles = OPERATOR_ROLES.filter((role) => right === 'any' || mayOperate(role, right))
  const needed =
    roles.length === OPERATOR_ROLES.length ? '' : ` with the role \`${roles.join('` or `')}\``
  return `Needs an operator${needed}.`
}

const describeAccess = ({ scope, right, wholeAccount, session }: Operation): string => {
  if (session)
    return 'Needs the session cookie and no token. Only for pages of this service: `Origin` must be its own address, and replies have no CORS headers.'
  if (scope === 'open') return 'Needs no token.'
  if (scope === 'operator') return describeOperator(right)
  return `Needs the scope ${scopesOf(scope)
    .map((name) => `\`${name}\``)
    .join(' or ')}.${wholeAccount ? ' Users who are confined to a group get a 403.' : ''}`
}

const describeDeprecation = (what: string, { since, sunset, instead }: Deprecation): string =>
  `${what} is deprecated since ${since}${sunset ? ` and may be gone from ${sunset} on` : ''}. ${instead}`

const describeDeprecations = ({ deprecated, deprecatedMembers = {} }: Operation): string[] => [
  ...(deprecated ? [describeDeprecation('This operation', deprecated)] : []),
  ...Object.entries(deprecatedMembers).map(([name, member]) =>
    describeDeprecation(`\`${name}\``, member),
  ),
]

const operationObject = (route: ContractedRoute): ZodOpenApiOperationObject => {
  const { method, path, contract } = route
  const { id, tag, summary, description, query } = contract
  const body = requestBody(contract)
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [...describeDeprecations(contract), description, describeAccess(contract)]
      .filter(Boolean)
      .join('\n\n'),
    ...(contract.deprecated && { deprecated: true }),
    security: security(contract),
    ...(query && { requestParams: { query: query as z.ZodObject } }),
    parameters: [...pathParameters(path), ...requestHeaders(method, contract)],
    ...(body && { requestBody: body }),
    responses: { ...successesOf(route), ...failuresOf(contract) },
  }
}

const SECURITY_SCHEMES = {
  token: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A token from `POST /api/Auth/Token` or `POST /api/Auth/SignIn`. Its key or user must have one of the scopes that are listed.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The session cookie, which `POST /api/Auth/SignIn` sets. It changes with each use.',
  },
  operator: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The secret `ADMIN_TOKEN` of the operator of the service, or the key of an operator (`pgo_…`). People may also come through Cloudflare Access, whose `Cf-Access-Jwt-Assertion` is then enough; their changes need an `Origin` of this service.',
  },
} as const

interface DocumentOptions {
  version: string
  /** The calls to webhooks, one entry for each event type. */
  webhooks?: NonNullable<ZodOpenApiObject['webhooks']>
}

export const openapiDocument = (
  app: Router,
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
        contact: CONTACT,
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
  openReferences(document)
  addDescriptions(document)
  describeDefaults(document)
  addLinks(document)
  addExamples(document)
  allowNullsInBodies(document)
  nameComponents(document)
  return document
}
