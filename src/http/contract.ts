import type * as z from 'zod'
import type { Scope } from '../domain/scope.ts'
import type { ProblemCode } from './problem.ts'

/** A contract: all that is known about one operation, for the validator, the OpenAPI document and the tests alike. */
export interface Operation {
  id: string
  tag: string
  summary: string
  description?: string
  /** Any one of these scopes will do; `open` wants no token, `operator` wants the operator's. */
  scope: Scope | readonly Scope[] | 'open' | 'operator'
  /** Where one path both acts and asks: the scope that this body wants, of those above. */
  scopeFor?: (body: never) => Scope | readonly Scope[]
  /** Shows or changes more than a group's devices: closed to a user who is confined to a group. */
  wholeAccount?: true
  /** Becomes a WebSocket: a token with this scope comes as a subprotocol, or in the first message. */
  upgrade?: Scope
  query?: z.ZodType
  body?: z.ZodType
  /** Reads the body where its forms must be told apart first, or where `body`, which must say the same, is too slow. */
  read?: (value: unknown) => z.ZodSafeParseResult<unknown>
  /** The body may also stand under this name, as `GET` gives it. */
  wrapper?: string
  /** Members that the server writes: accepted in a body and ignored. */
  ignored?: readonly string[]
  optionalBody?: true
  /** The body is a JSON Patch or a JSON Merge Patch of what this operation replaces. */
  patches?: Operation
  status?: 200 | 201
  reply: z.ZodType
  /** The other success, where one path answers two kinds of body. */
  alternateReply?: { status: 200 | 201; reply: z.ZodType }
  /** Media types beside JSON that the answer comes in, each with what it is. */
  formats?: Readonly<Record<string, string>>
  /** Problems beyond those that the shape of the operation implies. */
  problems?: readonly ProblemCode[]
  etag?: true
  ifMatch?: true
  /** Takes an Idempotency-Key; where one path both acts and asks, only for the bodies that act. */
  idempotent?: true | ((body: never) => boolean)
  /** Members of the answer that are shown once and never replayed. */
  secrets?: readonly string[]
  /** A body that shows the operation well, where the members' own examples do not. */
  example?: unknown
}

/** Keeps the literal types of a contract, which the handlers' types are inferred from. */
export const define = <const O extends Operation>(contract: O): O => contract

/** A POST that may be repeated reads its body even where it takes none: the key is held against it. */
export const takesBody = (contract: Operation): boolean =>
  !!(contract.body || contract.patches || contract.idempotent)

export const isPaged = ({ reply }: Operation): boolean =>
  'shape' in reply && 'nextCursor' in (reply as z.ZodObject).shape

const implied = (contract: Operation): (ProblemCode | false | undefined)[] => {
  const { scope, query, patches, ifMatch, idempotent } = contract
  const takesToken = scope !== 'open' && scope !== 'operator'
  const hasBody = takesBody(contract)
  return [
    (query || hasBody || ifMatch) && 'invalid-request',
    hasBody && 'malformed-body',
    isPaged(contract) && 'invalid-cursor',
    patches && 'invalid-patch',
    scope !== 'open' && 'unauthorized',
    takesToken && 'forbidden',
    scope === 'operator' && 'not-found',
    patches && 'patch-test-failed',
    idempotent && 'request-in-progress',
    ifMatch && 'precondition-failed',
    hasBody && 'body-too-large',
    hasBody && 'unsupported-media-type',
    idempotent && 'idempotency-key-reused',
    takesToken && 'too-many-requests',
    'internal',
    'unavailable',
  ]
}

/** Every problem that the operation can answer with: its own first, then those that its shape implies. */
export const problemsOf = (contract: Operation): ProblemCode[] => [
  ...new Set([...(contract.problems ?? []), ...implied(contract).filter((code) => !!code)]),
]
