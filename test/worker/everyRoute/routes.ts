import { app } from '../../../src/app.ts'
import type { Operation } from '../../../src/http/contract/contract.ts'
import { operationOf } from '../../../src/http/contract/operation.ts'

/** HTML pages, receipts, whose format each provider defines, and what agents speak. */
export const WITHOUT_CONTRACT = [
  'GET /problems',
  'GET /problems/:code',
  'GET /in/:sourceId/:secret',
  'POST /in/:sourceId/:secret',
  'POST /hooks/:provider/:accountId',
  'POST /hooks/:provider/:accountId/digits',
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/mcp',
  'GET /.well-known/oauth-authorization-server',
  'GET /oauth/authorize',
  'POST /oauth/register',
  'POST /oauth/token',
  'POST /oauth/revoke',
  'GET /a/',
  'GET /a/:link',
  'POST /a/:link',
  'GET /c/',
  'GET /c/:link',
  'POST /c/:link',
  'GET /s/',
  'GET /s/:secret',
  'GET /s/:secret/locations.geojson',
  'GET /s/:secret/locations.kml',
  'GET /s/:secret/link.kml',
  'POST /mcp',
]

export interface Route {
  method: string
  path: string
  id: string
  contract: Operation
}

const served = app.routes.filter(({ method }) => method !== 'ALL')

const contracted: Route[] = served.flatMap(({ method, path, handler }) => {
  const contract = operationOf(handler)
  return contract ? [{ method, path, id: contract.id, contract }] : []
})

/** The routes with a contract. The WebSocket has tests of its own, in stream.test.ts. */
export const routes: Route[] = contracted.filter(({ contract }) => !contract.upgrade)

export const routesWithoutContract: string[] = [
  ...new Set(served.map(({ method, path }) => `${method} ${path}`)),
].filter((name) => !contracted.some(({ method, path }) => `${method} ${path}` === name))

export const methodsAt = (path: string): string[] => [
  ...new Set(served.filter((route) => route.path === path).map(({ method }) => method)),
]

export const isServed = (path: string): boolean => served.some((route) => route.path === path)

export const parametersOf = (path: string): string[] =>
  [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => name as string)

export const fillPath = (path: string, params: Record<string, string>): string =>
  path.replaceAll(/:([A-Za-z]+)/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`the sample of ${path} has no value for ${name}`)
    return value
  })
