import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import * as z from 'zod'
import { admit, admitOperator, requireScope, requireWholeAccount } from './auth.ts'
import { MAX_BODY_BYTES, MAX_OPEN_BODY_BYTES } from './body.ts'
import type { AppEnv, Context } from './context.ts'
import { type Operation, takesBody } from './contract.ts'
import { readIfMatch } from './etag.ts'
import { type Replay, withIdempotency } from './idempotency.ts'
import { readJson } from './jsonBody.ts'
import { parseBody } from './parseBody.ts'
import { type Patch, parsePatch } from './patch.ts'
import { invalid, Problem } from './problem.ts'
import { admitSocket } from './socket.ts'
import { fieldErrors, typeOf } from './validation.ts'

type Shapes<O> = (O extends { patches: Operation }
  ? { json: z.ZodType<Patch> }
  : O extends { body: infer B }
    ? { json: B }
    : unknown) &
  (O extends { query: infer Q } ? { query: Q } : unknown)
type Inputs<S> = { [K in keyof S]: S[K] extends z.ZodType ? z.input<S[K]> : never }
type Outputs<S> = { [K in keyof S]: S[K] extends z.ZodType ? z.output<S[K]> : never }

const OPERATION = Symbol('operation')
export const operationOf = (handler: unknown): Operation | undefined =>
  (handler as { [OPERATION]?: Operation })[OPERATION]

const readBody = async (c: Context, contract: Operation): Promise<string> => {
  const body = await readJson(c, contract.scope === 'open' ? MAX_OPEN_BODY_BYTES : MAX_BODY_BYTES)
  if (contract.patches) {
    if (!body) throw invalid({ pointer: '', detail: 'a patch is required' })
    c.req.addValidatedData(
      'json',
      parsePatch(c.req.header('Content-Type') ?? '', body.value) as unknown as object,
    )
  } else if (contract.body) {
    if (!body && !contract.optionalBody)
      throw invalid({ pointer: '', detail: 'a JSON body is required' })
    c.req.addValidatedData('json', parseBody(contract, body ? body.value : {}) as object)
  } else if (body) {
    parseBody({ ...contract, body: NO_MEMBERS }, body.value)
  }
  return body?.text ?? ''
}

const DIGITS = /^-?\d+(\.\d+)?$/

/** A number in a URL is written in digits: what JavaScript would read besides (`0x10`, ` 7`, nothing at all) is none. */
const numbersOf = (query: z.ZodObject): ((c: Context) => void) => {
  const names = Object.keys(query.shape).filter((name) => typeOf(query.shape[name]) === 'number')
  return (c) => {
    const wrong = names.filter((name) => !DIGITS.test(c.req.query(name) ?? '0'))
    if (wrong.length > 0)
      throw invalid(
        ...wrong.map((name) => ({ pointer: `#/query/${name}`, detail: 'must be a number' })),
      )
  }
}

const NO_MEMBERS = z.strictObject({})
const nothing = async () => {}

/** The one way in: who is calling, what they may, what they sent. A handler after this deals with checked values only. */
export const operation = <const O extends Operation>(
  contract: O,
): MiddlewareHandler<AppEnv, string, { in: Inputs<Shapes<O>>; out: Outputs<Shapes<O>> }> => {
  const checkQuery =
    contract.query &&
    zValidator('query', contract.query as z.ZodObject, (result) => {
      if (!result.success)
        throw new Problem('invalid-request', {
          errors: fieldErrors(result.error as z.ZodError, '#/query'),
        })
    })
  const checkNumbers = contract.query && numbersOf(contract.query as z.ZodObject)
  const replay: Replay | null = contract.idempotent ? { secrets: contract.secrets ?? [] } : null
  const readsBody = takesBody(contract)

  const handler: MiddlewareHandler = async (c: Context, next) => {
    if (contract.scope === 'operator') await admitOperator(c)
    else if (contract.upgrade) await admitSocket(c, contract.upgrade)
    else if (contract.scope !== 'open') {
      await admit(c)
      requireScope(c, contract.scope)
      if (contract.wholeAccount) requireWholeAccount(c)
    }
    // The router takes a path that spells its own pattern for a match without parameters. No id has a colon.
    if (c.req.path.includes('/:')) throw new Problem('not-found')
    c.set('ifMatch', contract.ifMatch ? readIfMatch(c) : null)
    checkNumbers?.(c)
    if (checkQuery) await checkQuery(c as never, nothing)
    const text = readsBody ? await readBody(c, contract) : ''
    // Before the key is looked at: its answers are shared by keys of different scopes, and a refusal would be kept for all of them.
    if (contract.scopeFor) requireScope(c, contract.scopeFor(c.req.valid('json' as never)))
    const acts =
      typeof contract.idempotent !== 'function' || contract.idempotent(c.req.valid('json' as never))
    await withIdempotency(c, acts ? replay : null, text, next)
  }
  return Object.assign(handler, { [OPERATION]: contract as Operation }) as never
}
