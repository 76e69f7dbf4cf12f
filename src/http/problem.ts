import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

interface Kind {
  status: number
  title: string
  /** The sentence that goes out when the thrower has none of its own. */
  detail: string
  /** For the page that `type` leads to: what the caller can do about it. */
  remedy: string
}

const kind = (status: number, title: string, detail: string, remedy: string): Kind => ({
  status,
  title,
  detail,
  remedy,
})

/** Every problem there is. A refusal that is not a key of this table does not compile. */
export const PROBLEMS = {
  'invalid-request': kind(
    400,
    'Invalid request',
    'The request has values that cannot be accepted.',
    'Each entry of `errors` points at one value and says what it must be. Mend them and send the request again; nothing was stored.',
  ),
  'malformed-body': kind(
    400,
    'Malformed body',
    'The body is not well-formed JSON in UTF-8.',
    'Send JSON encoded as UTF-8, without NUL characters or half surrogate pairs in strings.',
  ),
  'expiration-date-reached': kind(
    400,
    'Expiration date reached',
    'The expiration date has begun already in the account’s time zone.',
    'Give a later date, or none.',
  ),
  'invalid-cursor': kind(
    400,
    'Invalid cursor',
    'The cursor is not one that this list gave out.',
    'Pass `nextCursor` on unchanged, with the same filters and order, or start again without a cursor.',
  ),
  'invalid-patch': kind(
    400,
    'Invalid patch',
    'The patch cannot be applied.',
    'Compare the patch with the resource as `GET` gives it: paths must exist, and members that the server writes cannot be changed.',
  ),
  unauthorized: kind(
    401,
    'Not authorized',
    'A valid bearer token is required.',
    'Get a token from `POST /api/Auth/Token` and send it as `Authorization: Bearer <token>`.',
  ),
  'wrong-credentials': kind(
    401,
    'Wrong credentials',
    'The user name or the API key is wrong.',
    'Check both. A deleted or expired key gets no token.',
  ),
  'invalid-signature': kind(
    401,
    'Invalid signature',
    'The receipt does not bear the provider’s signature.',
    'Check the webhook secret, and that `PUBLIC_URL` is the address that the provider calls.',
  ),
  'account-disabled': kind(
    403,
    'Account disabled',
    'The account is disabled.',
    'Ask the operator of the service.',
  ),
  'user-disabled': kind(
    403,
    'User disabled',
    'The user that the key is bound to is disabled or outside the time that it is good for.',
    'Ask an administrator of the account.',
  ),
  forbidden: kind(
    403,
    'Forbidden',
    'The token does not allow this.',
    'Use a key with the scope that the operation names.',
  ),
  'not-found': kind(
    404,
    'Not found',
    'There is nothing here.',
    'Check the path and the ids in it. What belongs to another account looks the same as what does not exist.',
  ),
  'method-not-allowed': kind(
    405,
    'Method not allowed',
    'This path does not take that method.',
    'The `Allow` header lists the methods that it takes.',
  ),
  'no-license-available': kind(
    409,
    'No license available',
    'The account has no free license.',
    'Expire or delete a device, wait until `availableAt`, or ask the operator for more licenses.',
  ),
  'identifier-taken': kind(
    409,
    'Identifier taken',
    'Another device of the account has this identifier.',
    'Identifiers are unique in an account: use the device that has it, or delete that one first.',
  ),
  'device-cap-reached': kind(
    409,
    'Device cap reached',
    'The user has made as many devices as it may have.',
    'Delete a device of the user’s own making, or raise `adminDevices` of the user.',
  ),
  'webhook-cap-reached': kind(
    409,
    'Webhook cap reached',
    'The account has as many webhooks as it may have.',
    'Delete one that is no longer used: one webhook can take all kinds of events.',
  ),
  'delivery-gone': kind(
    409,
    'Delivery gone',
    'The events of this delivery are no longer kept.',
    'Events are kept for 30 days; what they told of can be read from the resources themselves.',
  ),
  'no-location': kind(
    404,
    'No location',
    'The device has not reported a location yet.',
    'Wait for its first report.',
  ),
  'device-expired': kind(
    409,
    'Device expired',
    'The device is expired: nothing that it sends is stored.',
    'Reactivate the device (`POST /api/devices/{deviceId}/reactivate`) and send the report again; `lastContact` has moved all the same.',
  ),
  'message-not-failed': kind(
    409,
    'Message not failed',
    'The message has neither failed nor been held back.',
    'It is on its way or has arrived: there is nothing to send again.',
  ),
  'recipient-gone': kind(
    409,
    'Recipient gone',
    'Nobody who may see the device asks for messages to this address any more.',
    'The user was deleted or disabled, sees other devices now, or has another address or channel: mend the user, or let the message be.',
  ),
  'daily-limit-reached': kind(
    409,
    'Daily limit reached',
    'The device has sent as many messages by this channel as it may on this day.',
    'Wait until `resetAt`, or raise the device’s daily limit.',
  ),
  'receipt-replayed': kind(
    409,
    'Receipt replayed',
    'This very receipt was received before.',
    'Nothing: it was heeded the first time.',
  ),
  'user-name-taken': kind(
    409,
    'User name taken',
    'Another account has this user name.',
    'Choose another user name.',
  ),
  'account-number-taken': kind(
    409,
    'Account number taken',
    'Another account has come by the number that the keys of this account’s devices are made from.',
    'Both were opened around a restore of the directory, and only one can be listed. Open an account anew for whoever has the other.',
  ),
  'name-taken': kind(
    409,
    'Name taken',
    'Another group of the account has this name.',
    'Names are compared without regard to case: choose another.',
  ),
  'email-taken': kind(
    409,
    'E-mail taken',
    'Another user of the account has this e-mail address.',
    'Addresses are compared without regard to case: use another, or change the user who has it.',
  ),
  'group-in-use': kind(
    409,
    'Group in use',
    'Users are confined to this group.',
    'Without the group they would see everything: move them to another group or delete them first.',
  ),
  'group-full': kind(
    409,
    'Group full',
    'The group has as many devices as a group may have.',
    'Take devices out of it, or use another group.',
  ),
  'history-unavailable': kind(
    409,
    'History unavailable',
    'The platform keeps no history of the ledger that reaches there.',
    'Name a time within the last 30 days, or an `undo` that was answered. A local server keeps no history at all.',
  ),
  'patch-test-failed': kind(
    409,
    'Patch test failed',
    'A `test` operation of the patch did not hold.',
    'Read the resource again and decide anew.',
  ),
  'request-in-progress': kind(
    409,
    'Request in progress',
    'The first request with this Idempotency-Key is still running.',
    'Wait for `Retry-After` seconds and send the same request again.',
  ),
  conflict: kind(
    409,
    'Conflict',
    'The resource kept changing while the request was carried out.',
    'Send the request again.',
  ),
  'precondition-failed': kind(
    412,
    'Precondition failed',
    'The resource has changed since the version named in If-Match.',
    'Read it again, and send the edit with the new ETag.',
  ),
  'body-too-large': kind(
    413,
    'Body too large',
    'The body is larger than 1 MiB.',
    'Send it in parts.',
  ),
  'unsupported-media-type': kind(
    415,
    'Unsupported media type',
    'The body must be application/json, without a content encoding.',
    'Set `Content-Type: application/json` and send the body as it is. `PATCH` also takes application/json-patch+json and application/merge-patch+json.',
  ),
  'idempotency-key-reused': kind(
    422,
    'Idempotency key reused',
    'This Idempotency-Key was used with another request.',
    'Use a new key for a new request.',
  ),
  'too-many-requests': kind(
    429,
    'Too many requests',
    'The rate limit is reached.',
    'Wait for `Retry-After` seconds. `RateLimit` and `RateLimit-Policy` tell what is left.',
  ),
  internal: kind(
    500,
    'Internal error',
    'Something went wrong on our side.',
    'Try again later; if it stays, tell the operator the request id.',
  ),
  unavailable: kind(
    503,
    'Unavailable',
    'The service cannot answer right now.',
    'Wait for `Retry-After` seconds and try again.',
  ),
} satisfies Record<string, Kind>

export type ProblemCode = keyof typeof PROBLEMS

/** One value that failed: a JSON Pointer into the body, or `#/query/…`, `#/header/…`, `#/path/…`. */
export interface FieldError {
  pointer: string
  detail: string
}

export interface ProblemOptions {
  detail?: string
  errors?: FieldError[]
  headers?: Record<string, string>
  /** Further members, such as `availableAt`. */
  members?: Record<string, unknown>
}

export class Problem extends Error {
  readonly code: ProblemCode
  readonly options: ProblemOptions

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    super(code)
    this.code = code
    this.options = options
  }
}

export const invalid = (...errors: FieldError[]): Problem =>
  new Problem('invalid-request', { errors })

export const malformedBody = (detail: string, pointer = ''): Problem =>
  new Problem('malformed-body', { errors: [{ pointer, detail }] })

const DEFAULT_HEADERS: Partial<Record<ProblemCode, Record<string, string>>> = {
  unauthorized: { 'WWW-Authenticate': 'Bearer' },
  'wrong-credentials': { 'WWW-Authenticate': 'Bearer' },
  'invalid-signature': { 'WWW-Authenticate': 'Signature' },
  'too-many-requests': { 'Retry-After': '60' },
  unavailable: { 'Retry-After': '5' },
}

interface Asked {
  path: string
  requestId: string
}

/** The document and its headers, for a reply to whatever was asked. */
export const problemDocument = ({ code, options }: Problem, { path, requestId }: Asked) => {
  const { status, title, detail: standing } = PROBLEMS[code]
  const { detail = standing, errors, headers, members } = options
  const body = {
    success: false,
    error: detail,
    type: `/problems/${code}`,
    title,
    status,
    detail,
    code,
    instance: path,
    requestId,
    ...members,
    ...(errors && { errors }),
  }
  return {
    text: JSON.stringify(body),
    status: status as ContentfulStatusCode,
    headers: { 'Content-Type': 'application/problem+json', ...DEFAULT_HEADERS[code], ...headers },
  }
}

export const problemResponse = (c: Context, problem: Problem): Response => {
  const { text, status, headers } = problemDocument(problem, {
    path: new URL(c.req.url).pathname,
    requestId: c.get('requestId'),
  })
  return c.body(text, status, headers)
}

/** A decision that was refused, with what the problem document adds to it. */
export interface Refused {
  ok: false
  refusal: ProblemCode
  errors?: FieldError[]
  availableAt?: number | null
  resetAt?: number
}

const isoMember = (name: string, at: number | null | undefined): Record<string, string | null> =>
  at === undefined ? {} : { [name]: at === null ? null : new Date(at).toISOString() }

export const refusalProblem = ({ refusal, errors, availableAt, resetAt }: Refused): Problem =>
  new Problem(refusal, {
    members: { ...isoMember('availableAt', availableAt), ...isoMember('resetAt', resetAt) },
    ...(errors && { errors }),
  })

/** The granted outcome; throws the problem of a refused one. */
export const requireOk = <O extends { ok: true } | Refused>(
  outcome: O,
): Extract<O, { ok: true }> => {
  if (outcome.ok) return outcome as Extract<O, { ok: true }>
  throw refusalProblem(outcome as Refused)
}
