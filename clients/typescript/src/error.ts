import type { components } from './schema.ts'

type Problem = components['schemas']['Problem']
export type ProblemCode = components['schemas']['ProblemCode']

/** One value of the request that is not valid. */
export interface ValueError {
  /** A JSON Pointer into the body, or `#/query/limit`, `#/header/If-Match` and so on. */
  pointer: string
  detail: string
}

/** A call that was refused or that got no reply. `message` can be shown to people. */
export class PerigeeError extends Error {
  override name = 'PerigeeError'
  /** The status of the reply; 0 if there was none. */
  readonly status: number
  /** What is wrong, for programs. Null if there was no reply, or it did not come from Perigee. */
  readonly code: ProblemCode | null
  readonly detail: string
  /** The values that are not valid. */
  readonly errors: readonly ValueError[]
  readonly requestId: string | null
  /** How many seconds to wait before the next attempt, if the service has told. */
  readonly retryAfter: number | null
  /** The whole reply, with members of single problems such as `availableAt`. */
  readonly problem: Problem | null

  constructor(message: string, { status = 0, problem = null, ...more }: ErrorMembers = {}) {
    super(message, 'cause' in more ? { cause: more.cause } : undefined)
    this.status = status
    this.problem = problem
    this.code = problem?.code ?? null
    this.detail = message
    this.errors = problem?.errors ?? []
    this.requestId = problem?.requestId ?? more.requestId ?? null
    this.retryAfter = more.retryAfter ?? null
  }
}

/** True if there was no reply, or one that says to try again later. */
export const isTemporary = (error: unknown): error is PerigeeError =>
  error instanceof PerigeeError &&
  (error.status === 0 || error.status === 429 || error.status >= 500)

interface ErrorMembers {
  status?: number
  problem?: Problem | null
  requestId?: string | null
  retryAfter?: number | null
  cause?: unknown
}

const retryAfterOf = (value: string | null): number | null => {
  if (value === null) return null
  const seconds = Number(value)
  const wait = Number.isNaN(seconds) ? (Date.parse(value) - Date.now()) / 1000 : seconds
  return Number.isNaN(wait) ? null : Math.max(0, wait)
}

/** The error of a reply whose status is not a success. */
export const errorOf = ({ status, headers }: Response, body: unknown): PerigeeError => {
  const isProblem = typeof (body as Problem | null)?.detail === 'string'
  const problem = isProblem ? (body as Problem) : null
  return new PerigeeError(problem?.detail ?? `The service replied with the status ${status}.`, {
    status,
    problem,
    requestId: headers.get('X-Request-Id'),
    retryAfter: retryAfterOf(headers.get('Retry-After')),
  })
}
