import { MAX_DRILLS_PER_DAY } from '../../domain/message/emergency.ts'
import { MAX_SANDBOX_DAYS, MAX_SANDBOXES } from '../../domain/sandbox/sandbox.ts'
import { isoOrNull } from '../../domain/time/iso.ts'
import type { Context } from '../context.ts'
import { newReply } from '../reply/newReply.ts'

interface Kind {
  status: number
  title: string
  /** The sentence of the reply, unless the code that throws gives another. */
  detail: string
  /** What the caller can do about it, for the page that `type` links to. */
  remedy: string
}

/** The titles that are not the words of their code. */
const TITLES: Readonly<Record<string, string>> = {
  'source-cap-reached': 'Too many sources',
  'email-taken': 'E-mail taken',
  internal: 'Internal error',
}

const titleOf = (code: string): string =>
  TITLES[code] ?? `${code.charAt(0).toUpperCase()}${code.slice(1).replaceAll('-', ' ')}`

type Texts = [detail: string, remedy: string]

const problems = <Code extends string>(status: number, texts: Record<Code, Texts>) =>
  Object.fromEntries(
    Object.entries<Texts>(texts).map(([code, [detail, remedy]]) => [
      code,
      { status, title: titleOf(code), detail, remedy },
    ]),
  ) as Record<Code, Kind>

/** A 404 is the same for what does not exist, belongs to another account or is not visible. */
const UNSEEN =
  'Check the path and the ids in it. What belongs to another account, or is outside the group of the token’s user, is reported as not found.'

/** All problems. A refusal that is not a key of this table does not compile. */
export const PROBLEMS = {
  ...problems(400, {
    'invalid-request': [
      'Some values of the request are not valid.',
      'Each entry of `errors` points to one value and says what is allowed. Correct the values and send the request again. Nothing was stored.',
    ],
    'malformed-body': [
      'The body is not well-formed JSON in UTF-8.',
      'Send JSON encoded as UTF-8. Strings must not contain NUL characters or unpaired surrogates.',
    ],
    'expiration-date-reached': [
      'The expiration date has already begun in the account’s time zone.',
      'Send a later date, or null for no expiration.',
    ],
    'invalid-archive': [
      'The archive is not one of an export, or is damaged. Nothing was stored.',
      'Export the account again, and send the file unchanged.',
    ],
    'invalid-cursor': [
      'The cursor does not belong to this list.',
      'Send `nextCursor` unchanged, with the same filters and the same order, or start again without a cursor.',
    ],
    'report-too-old': [
      'All locations of the report are older than the account keeps locations. Nothing was stored.',
      'Do not send the report again. To store such locations, raise the account’s `retentionDays` first (`PATCH /api/account`).',
    ],
    'span-too-large': [
      'The span has more rows than one reply may have.',
      'Choose a shorter span with `from` and `to`. A query of locations or alerts also takes `limit` (1 to 1000) and then comes in pages: each reply has `nextCursor` for the `cursor` of the next request, until it is null.',
    ],
    'invalid-link': [
      'The link is not valid. It may have been used, replaced or expired.',
      'Ask for a new link: with `POST /api/Auth/Reset`, or from an administrator of the account for an invitation. A link can be used once; an invitation is valid for 7 days, a reset for one hour.',
    ],
    'invalid-authorization': [
      'The program’s request for access is not valid.',
      'Start again in the program. If the program has been idle for a day, it must register again (`POST /oauth/register`).',
    ],
    'invalid-patch': [
      'The patch cannot be applied to the resource.',
      'Compare the patch with the resource as `GET` returns it. Paths must exist, and members that the server writes cannot be changed.',
    ],
  }),
  ...problems(401, {
    'token-missing': [
      'The request has no bearer token.',
      'Get a token from `POST /api/Auth/Token` and send it as `Authorization: Bearer <token>`.',
    ],
    'token-invalid': [
      'The bearer token is not valid.',
      'The token is incomplete, was changed, or was not issued by this service. Get a new one from `POST /api/Auth/Token`.',
    ],
    'token-expired': [
      'The bearer token has expired.',
      'Get a new token from `POST /api/Auth/Token`. `expires` in its reply says how long it is valid.',
    ],
    'not-a-token': [
      'The Authorization header has an API key where a token is required.',
      'Exchange the API key for a token with `POST /api/Auth/Token`, and send the token as `Authorization: Bearer <token>`.',
    ],
    'key-revoked': [
      'The API key of the token was deleted or has expired.',
      'Get a token with another API key of the account.',
    ],
    'session-ended': [
      'The session has ended.',
      'Sign in again (`POST /api/Auth/SignIn`). A session ends when it is signed out, after 30 days, after 7 days without a refresh, when the user’s password is changed or the user is disabled, and when an old session cookie is used again.',
    ],
    'wrong-credentials': [
      'The user name or the API key is wrong.',
      'Check both. Deleted and expired keys get no token. To sign in with a password, check the account’s user name, the e-mail address and the password.',
    ],
    'invalid-signature': [
      'The provider’s signature of the receipt is missing or wrong.',
      'Check the webhook secret, and that `PUBLIC_URL` is the address that the provider calls.',
    ],
    'account-disabled': ['The account is disabled.', 'Contact the operator of the service.'],
    'user-disabled': [
      'The user is disabled, or the time is not between its `from` and `expires`.',
      'Ask an administrator of the account to change the user.',
    ],
  }),
  ...problems(403, {
    'account-read-only': [
      'The account is suspended: it can be read, but not changed.',
      'Contact the operator of the service; `statusMessage` of `GET /api/account` may say why. Reports are stored, and emergencies are raised, sent and handled as ever.',
    ],
    'account-ingest-only': [
      'The account is suspended: it takes reports, and nothing can be read or changed.',
      'Contact the operator of the service; `statusMessage` of `GET /api/account` may say why. Emergencies are raised, sent and handled as ever.',
    ],
    forbidden: [
      'The token does not allow this operation.',
      'Use a key with the scope that the operation needs, and that is not bound to a user with fewer rights.',
    ],
    'wrong-origin': [
      'The request does not come from a page of this service.',
      'The session cookie is for pages of this service only: their requests have its own address in `Origin`. Other clients use `POST /api/Auth/Token`.',
    ],
  }),
  ...problems(404, {
    'route-not-found': [
      'The service has nothing at this path.',
      'Check the path: letters in another case and a slash at the end make another path. `/docs` lists all of them.',
    ],
    'account-not-found': ['There is no account with this id.', UNSEEN],
    'move-not-found': ['The account was never moved.', 'Begin a move with `POST`.'],
    'operator-not-found': ['There is no operator with this id.', UNSEEN],
    'import-not-found': [
      'There is no import with this session, or it has been erased.',
      'Begin the import again with the whole archive.',
    ],
    'alert-not-found': ['There is no alert with this id.', UNSEEN],
    'cell-not-found': ['There is no database with this number.', UNSEEN],
    'delivery-not-found': ['The webhook has no delivery with this id.', UNSEEN],
    'device-not-found': ['There is no device with this id.', UNSEEN],
    'group-not-found': ['There is no group with this id.', UNSEEN],
    'key-not-found': ['There is no API key with this id.', UNSEEN],
    'message-not-found': ['There is no message with this id.', UNSEEN],
    'session-not-found': ['There is no session with this id.', UNSEEN],
    'subscription-not-found': ['The user has no push subscription with this id.', UNSEEN],
    'user-not-found': ['There is no user with this id.', UNSEEN],
    'source-not-found': ['There is no such source in this account.', UNSEEN],
    'identifier-not-found': ['The source holds no reports of this identifier.', UNSEEN],
    'payload-not-found': ['There is no such payload of this source.', UNSEEN],
    'command-not-found': ['There is no such command of this device.', UNSEEN],
    'rule-not-found': ['There is no rule with this id.', UNSEEN],
    'zone-not-found': ['There is no zone with this id.', UNSEEN],
    'watch-not-found': ['There is no watch with this id.', UNSEEN],
    'share-not-found': ['There is no share with this id.', UNSEEN],
    'webhook-not-found': ['There is no webhook with this id.', UNSEEN],
    'no-location': [
      'The device has not reported a location yet.',
      'Wait for the first report of the device.',
    ],
  }),
  ...problems(405, {
    'method-not-allowed': [
      'The path does not support this method.',
      'Use one of the methods that the `Allow` header lists.',
    ],
  }),
  ...problems(409, {
    'no-license-available': [
      'The account has no free license.',
      'Delete a device or let one expire, wait until `availableAt`, or ask the operator for more licenses.',
    ],
    'identifier-taken': [
      'Another device of the account has this identifier.',
      'Identifiers are unique in an account. Use the device that has it (`deviceId`, if you can see it), or delete that device first.',
    ],
    'usage-month-open': [
      'The month is not closed yet, and its figures may change.',
      'Ask for meter events once the month is closed, about two days after its end. `format=json` shows the figures so far.',
    ],
    'move-running': [
      'The account is being moved already.',
      'Wait until that move is over, or cancel it with `DELETE`.',
    ],
    'move-switched': [
      'The account is in its new cell already.',
      'A move can be cancelled before the switch. Afterwards, move the account back.',
    ],
    'account-not-deleted': ['The account is not deleted.', 'There is nothing to bring back.'],
    'not-a-sandbox': [
      'The account is not a sandbox.',
      'There is nothing to keep: it is not erased.',
    ],
    'sandbox-end-reached': [
      `The sandbox is kept for ${MAX_SANDBOX_DAYS} days already, as long as its administrators can.`,
      'Open another one, or ask the operator to keep this one.',
    ],
    'sandbox-of-sandbox': [
      'A sandbox cannot have sandboxes.',
      'Open it with the account that opened this one.',
    ],
    'sandbox-limit-reached': [
      `The account has ${MAX_SANDBOXES} sandboxes, as many as it may have.`,
      'Use one of them, or ask the operator to erase one.',
    ],
    'device-deleted': [
      'The device that was created with this Idempotency-Key has been deleted.',
      'To create another device, send the request with a new `Idempotency-Key`.',
    ],
    'device-cap-reached': [
      'The user has created as many devices as allowed.',
      'Delete a device that the user created, or raise the user’s `adminDevices`.',
    ],
    'source-cap-reached': [
      'The account has as many sources as it may have.',
      'Delete a source that you do not need.',
    ],
    'wrong-alert-state': [
      'The alert is not in a state for this step.',
      'Read the alert: `state` says whether it is open, acknowledged, resolved or cancelled. What is over must be reopened first.',
    ],
    'alert-log-full': [
      'The log of the alert takes no more of this.',
      'An alert has at most 200 notes, and is reopened at most 31 times. Raise another alert to go on.',
    ],
    'no-command-channel': [
      'The network of this device takes no commands, or its source has no credentials for it.',
      'Set the credentials of a Garmin or RockBLOCK source that has reported for the device, or send an SMS with `sms: true`.',
    ],
    'command-not-possible': [
      'The network does not take this command.',
      'The detail says what the network takes. Change the command and send it again. Nothing was sent.',
    ],
    'webhook-cap-reached': [
      'The account has the maximum number of webhooks.',
      'Delete a webhook that is no longer used. One webhook can receive events of all types.',
    ],
    'zone-cap-reached': [
      'The account has the maximum number of zones, of positions in them, or of positions that its rules name.',
      'Delete zones that are no longer used, or draw them with fewer positions.',
    ],
    'zone-in-use': [
      'A rule refers to the zone.',
      'Change or delete the rules that name the zone first. `GET /api/rules` lists them.',
    ],
    'rule-cap-reached': [
      'The account has the maximum number of rules, or of positions in the zones that they name.',
      'Delete rules that are no longer used, or name fewer zones in them. The detail of a reply says what is used.',
    ],
    'watch-limit-reached': [
      'The account has the maximum number of watches that run.',
      'Complete, cancel or delete watches that are no longer needed.',
    ],
    'share-limit-reached': [
      'The account has the maximum number of shares.',
      'Delete shares that have ended or are no longer needed.',
    ],
    'watch-ended': [
      'The watch is completed or cancelled.',
      'Start a new watch with `POST /api/watches`.',
    ],
    'delivery-gone': [
      'The events of this delivery are no longer stored.',
      'Events are stored for 30 days. Read the current state from the resources instead.',
    ],
    'device-expired': [
      'The device is expired, and what it sends is not stored.',
      'Reactivate the device (`POST /api/devices/{deviceId}/reactivate`) and send the report again. Its `lastContact` was updated. If the report carried an emergency, `alertId` is the alert that was raised for it, at most one in ten minutes.',
    ],
    'message-not-failed': [
      'The message has neither failed nor been suppressed.',
      'Only failed and suppressed messages can be sent again.',
    ],
    'recipient-gone': [
      'No user who can see the device wants messages at this address any more.',
      'The user was deleted or disabled, cannot see the device any more, or changed address or channel. Change the user, or leave the message unsent.',
    ],
    'daily-limit-reached': [
      'The device has reached its daily limit for this channel.',
      'Wait until `resetAt`, or raise the device’s daily limit.',
    ],
    'drill-limit-reached': [
      'The account has run as many tests of its emergency chain today as it may.',
      `An alert with \`test: true\` is raised at most ${MAX_DRILLS_PER_DAY} times a day and account. Wait until \`resetAt\`, when the next day begins in the account’s time zone. Real alerts are not affected.`,
    ],
    'message-budget-reached': [
      'The account has sent as many messages by this channel today as its budget allows.',
      'Wait until `resetAt`, when the next day begins in the account’s time zone, or ask the operator for a larger budget. `GET /api/account` shows `budgets` and `budgetUsage`.',
    ],
    'storage-full': [
      'The account has used up its storage budget.',
      'Delete devices that are no longer needed, lower `retentionDays` of the account, or ask the operator for a larger budget; then send the request again. `GET /api/account` shows `budgets` and `budgetUsage`. Emergencies, and reports with `hasCriticalAlert` or one of the account’s `emergencyAlerts`, are always accepted; so are deletions and, up to 110 % of the budget, a PATCH of at most 256 bytes.',
    ],
    'account-exists': [
      'An account with the id of the archive exists already.',
      'An import keeps all ids. Delete the account first, and let it be erased.',
    ],
    'user-name-taken': ['Another account has this user name.', 'Choose another user name.'],
    'account-number-taken': [
      'Another account has the same internal number as this one.',
      'Both were created around a restore of the directory, and only one of them can be listed. Create a new account for the customer of the other.',
    ],
    'name-taken': [
      'Another group of the account has this name.',
      'Names are compared without regard to case. Choose another name.',
    ],
    'user-limit-reached': [
      'The account has as many users as it may have.',
      'Delete users that are no longer needed, or ask the operator for a larger number. `GET /api/account` shows it as `budgets.maxUsers`.',
    ],
    'email-taken': [
      'Another user of the account has this e-mail address.',
      'Addresses are compared without regard to case. Use another address, or change the user who has it.',
    ],
    'group-in-use': [
      'Users are confined to this group.',
      'Without the group these users would see every device. Move them to another group or delete them first.',
    ],
    'group-full': [
      'The group has the maximum number of devices.',
      'Remove devices from the group, or use another group.',
    ],
    'history-unavailable': [
      'The platform has no history of the ledger for this time.',
      'Send a time within the last 30 days, or the `undo` of an earlier reply. A local server keeps no history.',
    ],
    'patch-test-failed': [
      'A `test` operation of the patch failed.',
      'Read the resource again and send a new patch.',
    ],
    'request-in-progress': [
      'The first request with this Idempotency-Key is still running.',
      'Wait `Retry-After` seconds and send the same request again.',
    ],
    conflict: [
      'The resource kept changing while the request was processed.',
      'Send the request again.',
    ],
  }),
  ...problems(412, {
    'precondition-failed': [
      'The resource has changed since the version named in If-Match.',
      'Read the resource again and send the edit with the new `ETag`.',
    ],
  }),
  ...problems(413, {
    'body-too-large': ['The body is larger than 1 MiB.', 'Split the data into several requests.'],
  }),
  ...problems(415, {
    'unsupported-media-type': [
      'The body must be application/json without a content encoding.',
      'Set `Content-Type: application/json` and send the body uncompressed. `PATCH` also takes application/json-patch+json and application/merge-patch+json.',
    ],
  }),
  ...problems(422, {
    'idempotency-key-reused': [
      'This Idempotency-Key was used with a different request.',
      'Use a new key for a new request.',
    ],
  }),
  ...problems(429, {
    'daily-locations-reached': [
      'The account has reported as many locations today as its budget allows.',
      'Wait until `resetAt`, when the next day begins in the account’s time zone, or ask the operator for a larger budget. `GET /api/account` shows `budgets` and `budgetUsage`. Alerts, and reports with `hasCriticalAlert` or one of the account’s `emergencyAlerts`, are always accepted.',
    ],
    'too-many-requests': [
      'The rate limit is reached.',
      'Wait `Retry-After` seconds. `RateLimit-Policy` shows the limits and `RateLimit` what is left.',
    ],
  }),
  ...problems(500, {
    internal: [
      'The service failed to process the request.',
      'Try again later. If it fails again, send the request id to the operator.',
    ],
  }),
  ...problems(503, {
    'links-unavailable': [
      'The service does not know its own address and cannot make links.',
      'Ask the operator of the service to set `PUBLIC_URL`.',
    ],
    'cells-full': [
      'The databases that the account could be created in are more than 70 % full.',
      'Add a cell, as the operations guide describes, or name another one with `cell`. `GET /healthz` shows the size of each.',
    ],
    'account-moving': [
      'The account is just being moved to another database.',
      'Wait `Retry-After` seconds and send the same request again.',
    ],
    unavailable: [
      'The service cannot process the request right now.',
      'Wait `Retry-After` seconds and try again.',
    ],
  }),
}

export type ProblemCode = keyof typeof PROBLEMS

/** `pointer` is a JSON Pointer into the body, or `#/query/…`, `#/header/…`, `#/path/…`. */
export interface FieldError {
  pointer: string
  detail: string
}

interface ProblemOptions {
  /** Replaces the status of the registry. */
  status?: number
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

/** The status at endpoints that take credentials instead of a token, where it is another. */
export const SIGN_IN_STATUS = { 'account-disabled': 403, 'user-disabled': 403 }

/** A problem of an endpoint that takes credentials instead of a token. */
export const signInProblem = (code: keyof typeof SIGN_IN_STATUS, detail?: string): Problem =>
  new Problem(code, { status: SIGN_IN_STATUS[code], ...(detail && { detail }) })

/** The isolate, or the account's share of it, is busy. */
export const overloaded = (): Problem =>
  new Problem('unavailable', { headers: { 'Retry-After': '1', 'Cache-Control': 'no-store' } })

/** The account's object still runs the release before, which cannot do what is asked. */
export const notUpgraded = (): Problem =>
  new Problem('unavailable', {
    detail:
      'A new release is being deployed and has not reached this account yet. Try again in some minutes.',
    headers: { 'Retry-After': '60' },
  })

export const invalid = (...errors: FieldError[]): Problem =>
  new Problem('invalid-request', { errors })

/** 429 until a limit resets that is not the rate limit. */
export const tooManyRequests = (detail: string, retryAt: number): Problem => {
  const seconds = Math.max(1, Math.ceil((retryAt - Date.now()) / 1000))
  return new Problem('too-many-requests', { detail, headers: { 'Retry-After': String(seconds) } })
}

export const malformedBody = (detail: string, pointer = ''): Problem =>
  new Problem('malformed-body', { errors: [{ pointer, detail }] })

/** RFC 6750: the challenge to a request without a token names no error. */
const challengeOf = (code: ProblemCode): string => {
  if (code === 'invalid-signature') return 'Signature'
  if (code === 'token-missing' || code === 'wrong-credentials') return `Bearer code="${code}"`
  return `Bearer error="invalid_token", error_description="${PROBLEMS[code].detail}", code="${code}"`
}

const DEFAULT_HEADERS: Partial<Record<ProblemCode, Record<string, string>>> = {
  'too-many-requests': { 'Retry-After': '60' },
  'cells-full': { 'Retry-After': '3600' },
  'links-unavailable': { 'Retry-After': '3600' },
  'account-moving': { 'Retry-After': '1' },
  unavailable: { 'Retry-After': '5' },
}

/** The address of a source carries its secret, also where it is misspelt. */
const withoutSecret = (path: string): string =>
  path.replace(/^(\/in\/[^/]*|.*\/in\/+src_[^/]*)\/.*$/i, '$1/…')

/** The problem document as text, with the status and headers of its reply. */
export const problemDocument = (
  { code, options }: Problem,
  { path, requestId }: { path: string; requestId: string },
) => {
  const { title, ...defaults } = PROBLEMS[code]
  const { status = defaults.status, detail = defaults.detail, errors, headers, members } = options
  const body = {
    success: false,
    error: detail,
    type: `/problems/${code}`,
    title,
    status,
    detail,
    code,
    instance: withoutSecret(path),
    requestId,
    ...members,
    ...(errors && { errors }),
  }
  return {
    text: JSON.stringify(body),
    status,
    headers: {
      'Content-Type': 'application/problem+json',
      ...(status === 401 && { 'WWW-Authenticate': challengeOf(code) }),
      ...DEFAULT_HEADERS[code],
      ...headers,
    },
  }
}

/** What is found after the body was parsed points into the resource: the body may wrap that. */
const pointIntoBody = (problem: Problem, prefix: string): Problem => {
  const { code, options } = problem
  if (!prefix || !options.errors) return problem
  const errors = options.errors.map(({ pointer, detail }) => ({
    pointer: pointer.startsWith('#') ? pointer : prefix + pointer,
    detail,
  }))
  return new Problem(code, { ...options, errors })
}

export const problemResponse = (c: Context, given: Problem): Response => {
  const problem = pointIntoBody(given, c.get('bodyPrefix') ?? '')
  const { text, status, headers } = problemDocument(problem, {
    path: new URL(c.req.url).pathname,
    requestId: c.get('requestId'),
  })
  return newReply(c, text, status, headers)
}

/** A refused decision, with the members that the problem document has in addition. */
export interface Refused {
  ok: false
  refusal: ProblemCode
  errors?: FieldError[]
  availableAt?: number | null
  resetAt?: number
  /** The alert that was raised nevertheless. */
  alertId?: string
  /** The device that has the identifier, if the caller may know it. */
  holder?: { id: string; name: string } | undefined
  /** Instead of the problem's own. */
  detail?: string
}

const isoMember = (name: string, at: number | null | undefined): Record<string, string | null> =>
  at === undefined ? {} : { [name]: isoOrNull(at) }

/** What `errors` says of a value that must be unique. */
const TAKEN: Partial<Record<ProblemCode, FieldError>> = {
  'email-taken': { pointer: '/email', detail: 'is used by another user' },
  'identifier-taken': { pointer: '/identifier', detail: 'is used by another device' },
  'name-taken': { pointer: '/name', detail: 'is used by another group' },
}

const explainTaken = ({ refusal, holder }: Refused): Pick<ProblemOptions, 'detail' | 'errors'> => {
  const error = TAKEN[refusal]
  if (!error) return {}
  if (!holder) return { errors: [error] }
  const device = `the device “${holder.name}”`
  return {
    detail: `The identifier is used by ${device}.`,
    errors: [{ ...error, detail: `is used by ${device}` }],
  }
}

/** The outcome when it is granted; throws its problem when it is refused. */
export const requireOk = <O extends { ok: true } | Refused>(
  outcome: O,
): Extract<O, { ok: true }> => {
  if (outcome.ok) return outcome as Extract<O, { ok: true }>
  const { refusal, errors, availableAt, resetAt, alertId, holder, detail } = outcome as Refused
  throw new Problem(refusal, {
    members: {
      ...isoMember('availableAt', availableAt),
      ...isoMember('resetAt', resetAt),
      ...(alertId && { alertId }),
      ...(holder && { deviceId: holder.id }),
    },
    ...explainTaken(outcome as Refused),
    ...(errors && { errors }),
    ...(detail && { detail }),
  })
}
