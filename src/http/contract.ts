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
  /** Shows or changes more than a group's devices: closed to a user who is confined to a group. */
  wholeAccount?: true
  query?: z.ZodType
  body?: z.ZodType
  /** The body may also stand under this name, as `GET` gives it. */
  wrapper?: string
  /** Members that the server writes: accepted in a body and ignored. */
  ignored?: readonly string[]
  optionalBody?: true
  /** The body is a JSON Patch or a JSON Merge Patch of what this operation replaces. */
  patches?: Operation
  status?: 200 | 201
  answer: z.ZodType
  /** Problems beyond those that the shape of the operation implies. */
  problems?: readonly ProblemCode[]
  etag?: true
  ifMatch?: true
  idempotent?: true
  /** Members of the answer that are shown once and never replayed. */
  secrets?: readonly string[]
  example?: unknown
}

/** Keeps the literal types of a contract, which the handlers' types are inferred from. */
export const define = <const O extends Operation>(contract: O): O => contract
