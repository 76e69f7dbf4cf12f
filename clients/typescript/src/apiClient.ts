import createFetchClient from 'openapi-fetch'
import { type AnyOptions, createSend, type MakeRequest, type Send } from './send.ts'
import { keepToken, type TokenSource } from './tokens.ts'
import type {
  Arguments,
  Item,
  ListPath,
  Method,
  Parsed,
  ParseOptions,
  PathOf,
  Reply,
} from './types.ts'

export interface Settings {
  /** Address of the service, such as `https://perigee.example`. */
  url: string
  /** The requests; by default the `fetch` of the runtime. */
  fetch?: (request: Request) => Promise<Response>
  /** How often a call is tried again. Default 3. */
  retries?: number
  /** A call fails at once if the service asks to wait longer. Default 60000. */
  maxWaitMs?: number
  /** How long to wait for the beginning of a reply. Default 60000. */
  timeoutMs?: number
  /** The `Perigee-Version` that every call names. Without it, the one of the API key. */
  version?: string
}

export type Credentials =
  | { userName: string; apiKey: string; token?: never }
  | { token: TokenSource; userName?: never; apiKey?: never }

const isBinary = (body: unknown) => body instanceof Blob || ArrayBuffer.isView(body)
const serialize = (body: unknown) => (isBinary(body) ? body : JSON.stringify(body))

/** The only bodies that are not JSON are archives. */
const GZIP = { 'Content-Type': 'application/gzip' }

const checkSettings = (settings: Settings & Credentials): void => {
  const { url, userName, apiKey, token } = settings
  const missing = Object.entries({ url, ...(!token && { userName, apiKey }) })
    .filter(([, value]) => !value)
    .map(([name]) => name)
  if (missing.length > 0) throw new TypeError(`Settings are missing: ${missing.join(', ')}.`)
}

/** Typed calls with tokens and retries: all of the client but reports and the stream. */
export class ApiClient {
  readonly url: string
  protected readonly token: TokenSource
  /** Any call, with the whole response: `send('GET', '/api/account')`. */
  readonly send: Send

  constructor(settings: Settings & Credentials) {
    checkSettings(settings)
    const { url, retries = 3, maxWaitMs = 60_000, ...more } = settings
    this.url = url.replace(/\/+$/, '')
    const { fetch = (request: Request) => globalThis.fetch(request), version } = more
    const { timeoutMs = 60_000 } = more
    const request = createFetchClient({
      baseUrl: this.url,
      headers: { ...(version && { 'Perigee-Version': version }) },
      bodySerializer: serialize,
      fetch: async (request) => {
        const timeout = new AbortController()
        const timer = setTimeout(() => timeout.abort(new Error('No reply in time.')), timeoutMs)
        const signal = AbortSignal.any([request.signal, timeout.signal])
        return fetch(new Request(request, { signal })).finally(() => clearTimeout(timer))
      },
      // Its own types would repeat those of `types.ts`.
    }).request as unknown as MakeRequest
    const makeRequest: MakeRequest = (method, path, input) =>
      request(method, path, {
        ...input,
        headers: { ...(isBinary(input.body) && GZIP), ...input.headers },
      })
    const { userName, apiKey, token } = more
    this.token =
      token ??
      keepToken(async () => {
        const body = { userName, apiKey } as { userName: string; apiKey: string }
        return (await this.post('/api/Auth/Token', { body, isQuery: true })).token
      })
    this.send = createSend({ request: makeRequest, token: this.token, retries, maxWaitMs })
  }

  get<P extends PathOf<'get'>>(path: P, ...[options]: Arguments<'get', P>): Promise<Reply<'get', P>>
  get<P extends PathOf<'get'>, As extends keyof Parsed>(
    path: P,
    options: ParseOptions<'get', P, As>,
  ): Promise<Parsed[As]>
  get(path: string, ...[options]: unknown[]): Promise<unknown> {
    return this.#data('GET', path, options as AnyOptions)
  }

  post<P extends PathOf<'post'>>(
    path: P,
    ...[options]: Arguments<'post', P>
  ): Promise<Reply<'post', P>>
  post<P extends PathOf<'post'>, As extends keyof Parsed>(
    path: P,
    options: ParseOptions<'post', P, As>,
  ): Promise<Parsed[As]>
  post(path: string, ...[options]: unknown[]): Promise<unknown> {
    return this.#data('POST', path, options as AnyOptions)
  }

  put<P extends PathOf<'put'>>(
    path: P,
    ...[options]: Arguments<'put', P>
  ): Promise<Reply<'put', P>> {
    return this.#data('PUT', path, options)
  }

  patch<P extends PathOf<'patch'>>(
    path: P,
    ...[options]: Arguments<'patch', P>
  ): Promise<Reply<'patch', P>> {
    return this.#data('PATCH', path, options)
  }

  delete<P extends PathOf<'delete'>>(
    path: P,
    ...[options]: Arguments<'delete', P>
  ): Promise<Reply<'delete', P>> {
    return this.#data('DELETE', path, options)
  }

  /** The rows of a list or a range. The next page is read when its first row is asked for. */
  async *list<P extends ListPath>(
    path: P,
    ...[options]: Arguments<'get', P>
  ): AsyncGenerator<Item<P>, void, undefined> {
    const { query, ...more }: AnyOptions = options ?? {}
    let cursor: string | null | undefined
    do {
      const page: Record<string, unknown> = await this.#data('GET', path, {
        ...more,
        query: { ...query, ...(cursor && { cursor }) },
      })
      yield* Object.values(page).find(Array.isArray) ?? []
      cursor = page.nextCursor as string | null | undefined
    } while (cursor)
  }

  async #data<T>(method: Uppercase<Method>, path: string, options?: AnyOptions): Promise<T> {
    return (await this.send(method, path, options)).data as T
  }
}
