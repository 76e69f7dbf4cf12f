import {
  AuthorizationError,
  type AuthRequest,
  authorizationErrorRedirect,
  OAuthAuthorizationServer,
  OAuthError,
} from '@cloudflare/workers-oauth-provider'
import { SCOPES } from '../domain/account/scope.ts'
import type { IssuedToken } from './agentSessions.ts'
import { CLIENT_SECONDS, type Records } from './store.ts'

/* The only file that imports the OAuth library: it is loaded at its first use, not at the start. */

export type { AuthRequest }
export { AuthorizationError, authorizationErrorRedirect }

/** What the library gets in place of the Worker's bindings. All of it is of one request. */
export interface ProviderEnv {
  OAUTH_KV: Records
  /** Makes the token of ours that the agent gets. */
  issue: (
    sessionId: string,
    cell: number,
    scopes: string[],
  ) => Promise<IssuedToken | 'ended' | 'disabled'>
  issued?: IssuedToken
}

/** The library refuses shorter ones. */
const MIN_SECONDS = 60

/** The authorization server of an address. The library names a session where it says user. */
export const authorizationServer = (origin: string) =>
  new OAuthAuthorizationServer<ProviderEnv>({
    issuer: origin,
    authorizeEndpoint: '/oauth/authorize',
    tokenEndpoint: '/oauth/token',
    clientRegistrationEndpoint: '/oauth/register',
    resources: [`${origin}/mcp`, origin],
    defaultResource: `${origin}/mcp`,
    scopesSupported: [...SCOPES],
    clientRegistrationTTL: CLIENT_SECONDS,
    tokenExchangeCallback: async ({ env, userId, props, requestedScope }) => {
      const issued = await env.issue(userId, props.cell, requestedScope)
      if (issued === 'ended')
        throw new OAuthError('invalid_grant', { description: 'The user has ended the access.' })
      if (issued === 'disabled')
        throw new OAuthError('unauthorized_client', {
          description: 'The user or the account is disabled.',
          statusCode: 403,
        })
      env.issued = issued
      const seconds = Math.max(MIN_SECONDS, issued.sessionSeconds)
      return { refreshTokenTTL: seconds, refreshTokenIdleTTL: seconds }
    },
    // By default the library writes a line of its own for each refusal.
    onError: () => undefined,
  })

/** The request of a client for a user's consent. Throws an `AuthorizationError`. */
export const parseAuthorization = async (origin: string, records: Records, query: string) => {
  const env: ProviderEnv = { OAUTH_KV: records, issue: async () => 'ended' }
  const api = authorizationServer(origin).getOAuthApi(env)
  const request = await api.parseAuthRequest(new Request(`${origin}/oauth/authorize?${query}`))
  // The library asks clients that have a secret for no PKCE.
  if (!request.codeChallenge)
    throw new AuthorizationError('invalid_request', {
      description: 'A code_challenge with the method S256 is required.',
      redirectUri: request.redirectUri,
      state: request.state,
      issuer: origin,
    })
  const client = await api.lookupClient(request.clientId)
  return { api, request, clientName: client?.clientName ?? '' }
}
