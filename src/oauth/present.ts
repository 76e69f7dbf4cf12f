import { allows, intersectScopes, SCOPES, type Scope, toScopes } from '../domain/account/scope.ts'
import { escapeHtml } from '../domain/text/html.ts'
import { page } from '../links/present.ts'

const MAX_NAME_LENGTH = 64

/** What a client calls itself, on one line and without characters that change how text is shown. */
export const presentClientName = (given: string): string => {
  const shown = given
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, MAX_NAME_LENGTH)
  return shown.toWellFormed() || 'Unnamed program'
}

/** What a client asks for: `read` if it names nothing that there is. */
export const askedScopes = (names: readonly string[]): Scope[] => {
  const known = toScopes(names)
  return known.length > 0 ? known : ['read']
}

const LOCAL_HOST = /^(localhost|127(\.\d+){3}|\[::1\])$/

export interface Asking {
  clientName: string
  redirectUri: string
  scope: readonly string[]
}

export const presentConsent = (
  { clientName, redirectUri, scope }: Asking,
  held: readonly Scope[],
) => {
  const { hostname, host } = new URL(redirectUri)
  const scopes = askedScopes(scope)
  const allowed = scopes.filter((asked) => allows(held, asked))
  return {
    name: presentClientName(clientName),
    redirectHost: host,
    isLocal: LOCAL_HOST.test(hostname),
    scopes,
    // Of a scope that the user does not have, there may be a part.
    allowedScopes: allowed.length > 0 ? allowed : intersectScopes(scopes, held),
  }
}

interface InvalidRequest {
  description: string
  /** Only one that the client has registered. */
  redirectUri?: string | undefined
}

/** A program on the user's computer may have an address without a host. */
const placeOf = (redirectUri: string): string => {
  const { host, protocol } = new URL(redirectUri)
  return host || protocol
}

export const presentInvalidRequest = ({ description, redirectUri }: InvalidRequest): string => {
  const program = `The program${redirectUri === undefined ? '' : ` (${placeOf(redirectUri)})`}`
  return page(
    'Request not valid',
    `<h1>This request for access is not valid</h1>
<p>${escapeHtml(`${program} that sent you here has made a mistake: ${description}`)}</p>
<p>Nothing was allowed. Start again in the program.</p>`,
  )
}

/** RFC 9728. `path` is that of the resource. */
export const presentResource = (origin: string, path: string) => ({
  resource: origin + path,
  authorization_servers: [origin],
  scopes_supported: SCOPES.filter((scope) => scope !== 'ingest' && scope !== 'admin'),
  bearer_methods_supported: ['header'],
  resource_name: 'Perigee',
  resource_documentation: `${origin}/docs`,
})
