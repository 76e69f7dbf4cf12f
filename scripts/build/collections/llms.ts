import type { ApiDocument, Operation } from './requests.ts'

const INTRODUCTION = `Perigee tracks satellite devices: it stores their locations and alerts, finds trips, watches zones and
rules, notifies users, and passes events on to other systems. Requests and replies are JSON; errors
are \`application/problem+json\` with a \`code\`.

Get a token first: \`POST /api/Auth/Token\` with \`{ "userName": "…", "apiKey": "pgk_…" }\` answers
\`{ "token": "…" }\`, which is valid for an hour. Send it as \`Authorization: Bearer <token>\`. A key has
scopes (ingest, read, write, execute, admin); each operation below names those that allow it. Lists
take \`limit\` and \`cursor\` and return \`nextCursor\`.

## Documentation

- [OpenAPI document](/api/openapi.json): every operation, schema and example, OpenAPI 3.1
- [Reference page](/docs): the same for people, ready to try
- [Health](/healthz): whether the service answers

## Agents and clients

- [MCP](/mcp): Streamable HTTP by \`POST\`, with a token, an API key, or OAuth 2.1
- [OAuth metadata](/.well-known/oauth-protected-resource): where an agent asks a user for access
- \`@perigee/client\` for TypeScript and the command line \`perigee\` in the same package, \`perigee\` for
  Python, and collections for Postman and Bruno, all in the repository of the service
`

const scopesOf = ({ security }: Operation): string => {
  const given = (security ?? []).flatMap((one) => Object.entries(one))
  if (given.length === 0) return 'no token'
  return given.map(([scheme, scopes]) => scopes.join(' ') || scheme).join(' or ')
}

const line = (path: string, method: string, operation: Operation): string => {
  const pointer = `/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}`
  const address = `/api/openapi.json#${encodeURI(pointer)}`
  const name = `${method.toUpperCase()} ${path}`
  return `- [${name}](${address}): ${operation.summary} (${scopesOf(operation)})`
}

/** The text for language models that llmstxt.org describes. */
export const llmsText = (document: ApiDocument): string => {
  const all = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  )
  const sections = document.tags.map(({ name }) => {
    const own = all.filter(({ operation }) => operation.tags[0] === name)
    const lines = own.map(({ path, method, operation }) => line(path, method, operation))
    return `## ${name}\n\n${lines.join('\n')}\n`
  })
  return [`# Perigee\n\n> ${document.info.summary}\n\n${INTRODUCTION}`, ...sections].join('\n')
}
