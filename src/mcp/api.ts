import { waitWithoutSlot } from '../http/admission/loadShedding.ts'
import type { Context } from '../http/context.ts'
import type { Serve } from '../http/edge.ts'
import { VERSION_HEADER } from '../http/version/version.ts'
import { NEWEST_VERSION } from '../http/version/versions.ts'

/*
 * Tools call the API in the same isolate, as the caller. So its scopes, limits, validation and audit
 * hold for agents as for everybody else.
 */

interface ApiCall {
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  /** Repeats of a call with the same key do nothing twice. */
  idempotencyKey?: string | undefined
}

/** Calls an operation, or throws an `ApiRefusal`. */
export type Api = <T>(method: string, path: string, call?: ApiCall) => Promise<T>

interface ProblemBody {
  code?: string
  detail?: string
  errors?: { pointer: string; detail: string }[]
}

/** What the API answered instead of doing what a tool asked for. */
export class ApiRefusal extends Error {
  constructor({ code, detail, errors = [] }: ProblemBody, retryAfter: string | null) {
    const found = errors.map((error) => `${error.pointer} ${error.detail}`).join('; ')
    const retry = retryAfter === null ? '' : ` Try again after ${retryAfter} s.`
    super(
      `${detail ?? 'The service failed.'} (${code ?? 'internal'})${found && `: ${found}.`}${retry}`,
    )
  }
}

const addressOf = (c: Context, path: string, query: ApiCall['query'] = {}): URL => {
  const url = new URL(path, c.req.url)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value))
  return url
}

export const apiOf =
  (c: Context, serve: Serve, token: string): Api =>
  async <T>(method: string, path: string, call: ApiCall = {}) => {
    const { query, body, idempotencyKey } = call
    const address = c.req.header('CF-Connecting-IP')
    const request = new Request(addressOf(c, path, query), {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        // Tools are of this release, whatever version the caller's key pins.
        [VERSION_HEADER]: NEWEST_VERSION,
        'X-Request-Id': c.get('requestId'),
        ...(address !== undefined && { 'CF-Connecting-IP': address }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    // The call has a slot of its own, which it gives up where it waits. The message needs none.
    const response = await waitWithoutSlot(c.req.raw, async () =>
      serve(request, c.env, c.executionCtx as ExecutionContext),
    )
    const reply = await response.json()
    if (!response.ok)
      throw new ApiRefusal(reply as ProblemBody, response.headers.get('Retry-After'))
    return reply as T
  }
