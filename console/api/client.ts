import { PerigeeError } from '../../clients/typescript/src/error.ts'
import { createSend, type Send } from '../../clients/typescript/src/send.ts'
import { session } from '../session/session.ts'
import { request } from './connection.ts'
import type { Operations } from './operations.ts'

/* Calls of the API. The TypeScript client sends them, with tokens of the session and retries. */

export interface CallOptions {
  /** Values for the `{…}` of the path. */
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
  signal?: AbortSignal | undefined
  headers?: Record<string, string>
  /** A POST that only reads, and therefore takes no `Idempotency-Key`. */
  isQuery?: boolean
}

type Operation = keyof Operations

/** Who calls: the account's user or key, or on `/admin` the operator. */
export interface Authority {
  /** Null where the browser itself has proof of who calls. */
  token: () => Promise<string | null>
  /** Called when the service has refused the token. */
  discardToken: (token: string | null) => void
}

const MAX_WAIT_MS = 10_000
/** Refusals that show that the status of the account has changed. */
const SUSPENDED = /^account-(read|ingest)-only$/

const sendAs = ({ token, discardToken }: Authority): Send =>
  createSend({
    request,
    token: (refused) => {
      if (refused !== undefined) discardToken(refused)
      return token()
    },
    retries: 3,
    maxWaitMs: MAX_WAIT_MS,
  })

const sendAsUser = sendAs(session)
let sendAsOperator: Send | null = null
/** Called by the operator's pages, which are loaded apart from the console. */
export const setOperator = (operator: Authority): void => {
  const send = sendAs(operator)
  sendAsOperator = (...args) =>
    send(...args).catch((error) => {
      // Without a token there was none to renew.
      if (error instanceof PerigeeError && error.status === 401) operator.discardToken(null)
      throw error
    })
}

/** Calls an operation of the API: `call('GET /api/devices/{deviceId}', { params: { deviceId } })`. */
export const call = async <Name extends Operation>(
  operation: Name,
  options: CallOptions & { body?: Operations[Name]['body'] } = {},
): Promise<Operations[Name]['reply']> => {
  const response = await callForResponse(operation, options)
  return (await response.json()) as Operations[Name]['reply']
}

/** The same for a reply that is not JSON, or whose headers are needed. */
export const callForResponse = async (
  operation: string,
  options: CallOptions = {},
): Promise<Response> => {
  const [method, path] = operation.split(' ') as [Parameters<Send>[0], string]
  const send = (path.startsWith('/admin/') && sendAsOperator) || sendAsUser
  const { params, ...more } = options
  try {
    return (await send(method, path, { ...more, path: params })).response
  } catch (error) {
    if (error instanceof PerigeeError && SUSPENDED.test(error.code ?? '')) void session.reload()
    throw error
  }
}
