import { randomUUID } from 'node:crypto'

const RENEW_BEFORE_MS = 60_000
/** Marks the demo's own requests in the log. */
export const REQUEST_ID_PREFIX = 'demo-'

/** Calls the public API as the demo account, with a token that it renews. */
export class DemoClient {
  #base
  #credentials
  #token
  #renewAt = 0

  constructor({ base, userName, apiKey }) {
    this.#base = base
    this.#credentials = { userName, apiKey }
  }

  get(path) {
    return this.#call('GET', path)
  }
  post(path, body) {
    return this.#call('POST', path, body)
  }
  patch(path, body) {
    return this.#call('PATCH', path, body)
  }
  put(path, body) {
    return this.#call('PUT', path, body)
  }

  /** Sends a provider's payload to the address of a source, which may name another host. */
  async push(url, body) {
    const response = await fetch(`${this.#base}${new URL(url).pathname}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Request-Id': `${REQUEST_ID_PREFIX}${randomUUID()}`,
      },
      body,
      signal: AbortSignal.timeout(30_000),
    })
    if (!response.ok) throw new Error(`The source answered a push with ${response.status}`)
  }

  /** Every item of a list, page by page. */
  async list(path, name) {
    const items = []
    let cursor
    do {
      const page = await this.get(`${path}${cursor ? `?cursor=${encodeURIComponent(cursor)}` : ''}`)
      items.push(...page[name])
      cursor = page.nextCursor
    } while (cursor)
    return items
  }

  async #call(method, path, body) {
    if (Date.now() > this.#renewAt) await this.#renew()
    return this.#send(method, path, body, { Authorization: `Bearer ${this.#token}` })
  }

  async #renew() {
    const { token, expires } = await this.#send('POST', '/api/Auth/Token', this.#credentials, {})
    this.#token = token
    this.#renewAt = Date.parse(expires) - RENEW_BEFORE_MS
  }

  async #send(method, path, body, headers) {
    const response = await fetch(`${this.#base}${path}`, {
      method,
      headers: {
        ...headers,
        'Content-Type': 'application/json',
        'X-Request-Id': `${REQUEST_ID_PREFIX}${randomUUID()}`,
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    const reply = await response.json().catch(() => ({}))
    if (response.ok) return reply
    const error = new Error(`${method} ${path}: ${response.status} ${reply.error ?? ''}`)
    throw Object.assign(error, { status: response.status, code: reply.code })
  }
}
