import type { Caller } from '../../support/accounts.ts'
import { call, ORIGIN } from '../../support/http.ts'

/* An agent as it speaks OAuth with the service. */

export const REDIRECT_URI = 'https://agent.example.com/callback'
export const RESOURCE = `${ORIGIN}/mcp`

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** Another address each time, because each may register only a few. */
const randomAddress = (): string => {
  const [a, b, c] = crypto.getRandomValues(new Uint8Array(3))
  return `10.${a}.${b}.${c}`
}

export const register = (metadata: object = {}, headers: Record<string, string> = {}) =>
  call('POST', '/oauth/register', {
    headers: { 'CF-Connecting-IP': randomAddress(), ...headers },
    body: {
      client_name: 'Field assistant',
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'none',
      ...metadata,
    },
  })

/** A form as a program sends it. */
export const postForm = (path: string, form: Record<string, string>, headers = {}) =>
  call('POST', path, {
    body: new URLSearchParams(form).toString(),
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      'CF-Connecting-IP': randomAddress(),
      ...headers,
    },
  })

/** A registered client with a request for consent that is right, apart from `changes`. */
export const startClient = async (changes: Record<string, string | undefined> = {}) => {
  const { body: client } = await register()
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)))
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const given: Record<string, string | undefined> = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    scope: 'read write',
    state: 'state of the agent',
    code_challenge: base64url(new Uint8Array(hash)),
    code_challenge_method: 'S256',
    resource: RESOURCE,
    ...changes,
  }
  const members = Object.entries(given).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  )
  const query = new URLSearchParams(members).toString()
  return { clientId: client.client_id as string, verifier, query }
}
export type TestClient = Awaited<ReturnType<typeof startClient>>

export const decide = (person: Caller, { query }: TestClient, scopes: string[]) =>
  person.call('POST', '/api/Auth/Consent', { body: { query, scopes } })

export const exchange = (
  { clientId, verifier }: TestClient,
  code: string,
  changes: Record<string, string> = {},
) =>
  postForm('/oauth/token', {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
    resource: RESOURCE,
    ...changes,
  })

export const refreshAgent = ({ clientId }: TestClient, refreshToken: string, changes = {}) =>
  postForm('/oauth/token', {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshToken,
    ...changes,
  })

export const codeOf = (redirectTo: string): string =>
  new URL(redirectTo).searchParams.get('code') ?? ''

/** An agent that the person has let in. */
export const connectAgent = async (person: Caller, scopes: string[] = ['read', 'write']) => {
  const client = await startClient({ scope: scopes.join(' ') })
  const { body } = await decide(person, client, scopes)
  const code = codeOf(body.redirectTo)
  const reply = await exchange(client, code)
  const { access_token: token, refresh_token: refreshToken } = reply.body
  return { client, code, reply, token: token as string, refreshToken: refreshToken as string }
}
