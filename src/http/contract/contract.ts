import type * as z from 'zod'
import type { Scope } from '../../domain/account/scope.ts'
import type { OperatorRight } from '../../domain/admin/operator.ts'
import type { Purpose } from '../../domain/admin/status.ts'
import type { Deprecations } from '../version/deprecation.ts'
import { PROBLEMS, type ProblemCode, SIGN_IN_STATUS } from './problem.ts'

/** One operation, as the validator, the OpenAPI document and the tests read it. */
export interface Operation extends Deprecations {
  id: string
  tag: string
  summary: string
  description?: string
  /** The token needs one of these scopes. `open` needs no token, `operator` the operator's. */
  scope: Scope | readonly Scope[] | 'open' | 'operator'
  /** What an operator needs; without it `own`. `any`: all may, or the handler checks by itself. */
  right?: OperatorRight | 'any'
  /** For a path that takes reports and queries: the scope that this body needs. */
  scopeFor?: (body: never) => Scope | readonly Scope[]
  /** What it is for, where that is not `read` for GET and `write` for the others. */
  purpose?: Purpose
  /** Refused to users who are confined to a group. */
  wholeAccount?: true
  /** Becomes a WebSocket. The token, with this scope, may also be a subprotocol or a message. */
  upgrade?: Scope
  /** Takes the session cookie instead of a token, from pages of this service only. */
  session?: true
  /** Not refused when the storage is full: it stores nothing more, or its handler checks by itself. */
  ignoresStorage?: true
  /** As how many further requests this body counts in the rate limit, beside its size. */
  extraCost?: (body: never) => number
  query?: z.ZodType
  body?: z.ZodType
  /** Parses the body where `body` is too slow or cannot tell its forms apart; accepts the same. */
  read?: (value: unknown) => z.ZodSafeParseResult<unknown>
  /** The body may also be under this name, as `GET` returns it. */
  wrapper?: string
  /** Members written by the server: accepted in a body and ignored. */
  ignored?: readonly string[]
  optionalBody?: true
  /** The body is a file, which the handler reads. */
  upload?: { type: string; description: string }
  /** The body is a JSON Patch or a JSON Merge Patch of what this operation replaces. */
  patches?: Operation
  status?: 200 | 201
  reply: z.ZodType
  /** The second kind of success, for a path that takes reports and queries. */
  alternateReply?: { status: 200 | 201; reply: z.ZodType }
  /** Descriptions of the media types that a reply may have instead of JSON. */
  formats?: Readonly<Record<string, string>>
  /** The reply is a file in one of `formats`, and never JSON. */
  download?: true
  /** Problems of this operation in addition to the implied ones. */
  problems?: readonly ProblemCode[]
  etag?: true
  ifMatch?: true
  /** Takes an Idempotency-Key; a function tells reports, which do, from queries. */
  idempotent?: true | ((body: never) => boolean)
  /** May run again after a transient error: what it writes, it writes once. Reads always may. */
  repeatable?: true
  /** Members of the reply that are shown once and never replayed. */
  secrets?: readonly string[]
  /** An example body, where those of the members are not enough. */
  example?: unknown
}

/** Keeps the literal types of a contract: handlers' types are inferred from them. */
export const define = <const O extends Operation>(contract: O): O => contract

/** An idempotent POST reads its body even if it takes none: the key is bound to the body. */
export const takesBody = (contract: Operation): boolean =>
  !!(contract.body || contract.patches || contract.idempotent)

const needsToken = ({ scope, session }: Operation): boolean =>
  scope !== 'open' && scope !== 'operator' && !session

/** Whether an account that has used up its storage is refused. */
export const storesMore = (contract: Operation): boolean =>
  takesBody(contract) && needsToken(contract) && !contract.ignoresStorage

export const isPaged = ({ reply }: Operation): boolean =>
  'shape' in reply && 'nextCursor' in (reply as z.ZodObject).shape

/** Why a token is refused. */
export const TOKEN_PROBLEMS = [
  'token-missing',
  'token-invalid',
  'token-expired',
  'not-a-token',
  'key-revoked',
  'session-ended',
  'account-disabled',
  'user-disabled',
] as const satisfies readonly ProblemCode[]
const OPERATOR_PROBLEMS = [
  'token-missing',
  'token-invalid',
  'token-expired',
  'forbidden',
  'wrong-origin',
] as const

const impliedProblems = (contract: Operation): (ProblemCode | false | undefined)[] => {
  const { scope, patches, ifMatch, idempotent, session } = contract
  const hasToken = scope !== 'open' && scope !== 'operator'
  const hasBody = takesBody(contract)
  return [
    'invalid-request',
    hasBody && 'malformed-body',
    isPaged(contract) && 'invalid-cursor',
    patches && 'invalid-patch',
    ...(hasToken ? TOKEN_PROBLEMS : []),
    ...(scope === 'operator' ? OPERATOR_PROBLEMS : []),
    hasToken && 'forbidden',
    hasToken && 'account-read-only',
    hasToken && 'account-ingest-only',
    session && 'session-ended',
    session && 'wrong-origin',
    scope === 'operator' && 'route-not-found',
    patches && 'patch-test-failed',
    idempotent && 'request-in-progress',
    storesMore(contract) && 'storage-full',
    ifMatch && 'precondition-failed',
    hasBody && 'body-too-large',
    hasBody && 'unsupported-media-type',
    idempotent && 'idempotency-key-reused',
    (hasToken || scope === 'operator') && 'too-many-requests',
    'internal',
    'unavailable',
  ]
}

/** The status of a problem in the replies of the operation. */
export const statusIn = ({ scope }: Operation, code: ProblemCode): number =>
  (scope === 'open' && SIGN_IN_STATUS[code as keyof typeof SIGN_IN_STATUS]) || PROBLEMS[code].status

/** Every problem that the operation can reply with. */
export const problemsOf = (contract: Operation): ProblemCode[] => [
  ...new Set([...(contract.problems ?? []), ...impliedProblems(contract).filter((code) => !!code)]),
]
