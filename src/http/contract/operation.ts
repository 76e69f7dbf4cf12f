import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import * as z from 'zod'
import { withJoining, withWriter } from '../../db/open.ts'
import type { Purpose } from '../../domain/admin/status.ts'
import { countExtraCost } from '../admission/rateLimit.ts'
import { admit, requireScope, requireStatus, requireWholeAccount } from '../auth.ts'
import { MAX_BODY_BYTES, MAX_OPEN_BODY_BYTES } from '../body/body.ts'
import { readJson } from '../body/jsonBody.ts'
import { parseBody, prefixOf } from '../body/parseBody.ts'
import { type Patch, parsePatch } from '../body/patch.ts'
import {
  type AccountWork,
  countUsedRequest,
  noteStored,
  requireStorage,
  writeRequestsLater,
} from '../budget/meters.ts'
import type { AppEnv, Context } from '../context.ts'
import { hasIdempotencyKey, type Replay, requestMacs, withIdempotency } from '../idempotency.ts'
import { admitOperator, requireRight } from '../operator.ts'
import { requireOwnOrigin } from '../ownOrigin.ts'
import { readIfMatch } from '../reply/etag.ts'
import { parameterNotFound } from '../reply/notFound.ts'
import { admitSocket } from '../socket.ts'
import { markDeprecated } from '../version/deprecation.ts'
import { convertReply, readVersion } from '../version/version.ts'
import { type Change, changesAfter, upgradeBody } from '../version/versions.ts'
import { writerOf } from '../writer.ts'
import { type Operation, storesMore, takesBody } from './contract.ts'
import { invalid, Problem } from './problem.ts'
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

/** Validates the body and returns its MACs, which an Idempotency-Key is bound to. */
const readBody = async (
  c: Context,
  contract: Operation,
  changes: readonly Change[],
): Promise<string[]> => {
  const sent = await readJson(c, contract.scope === 'open' ? MAX_OPEN_BODY_BYTES : MAX_BODY_BYTES)
  const body = sent && { ...sent, value: upgradeBody(sent.value, changes) }
  markDeprecated(c, contract, body?.value)
  if (contract.patches) {
    if (!body) throw invalid({ pointer: '', detail: 'must be a JSON Merge Patch or a JSON Patch' })
    const type = c.req.header('Content-Type') ?? ''
    const { patch, prefix } = parsePatch(type, body.value, contract.patches)
    c.req.addValidatedData('json', patch as unknown as object)
    c.set('bodyPrefix', prefix)
  } else if (contract.body) {
    if (!body && !contract.optionalBody)
      throw invalid({ pointer: '', detail: 'must be a JSON body' })
    const value = body ? body.value : {}
    c.req.addValidatedData('json', parseBody(contract, value) as object)
    c.set('bodyPrefix', prefixOf(contract, value))
  } else if (body) {
    parseBody({ ...contract, body: NO_MEMBERS }, body.value)
  }
  const isBound = contract.idempotent && hasIdempotencyKey(c)
  return isBound ? requestMacs(c, body?.text ?? '') : []
}

const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/

/** Refuses numbers in a query that are not plain digits: `Number` also takes `0x10` and ` 7`. */
const numberCheck = (query: z.ZodObject): ((c: Context) => void) => {
  const names = Object.keys(query.shape).filter((name) => typeOf(query.shape[name]) === 'number')
  return (c) => {
    const wrong = names.filter((name) => !PLAIN_NUMBER.test(c.req.query(name) ?? '0'))
    if (wrong.length > 0)
      throw invalid(
        ...wrong.map((name) => ({
          pointer: `#/query/${name}`,
          detail: 'must be a number in plain digits',
        })),
      )
  }
}

/** The router matches a path that spells its own pattern, without parameters. No id has a colon. */
const rejectPattern = (c: Context): void => {
  const spelled = c.req.path.split('/').findIndex((segment) => segment.startsWith(':'))
  if (spelled !== -1) throw parameterNotFound(routePath(c).split('/')[spelled] ?? '')
}

const useJoining = (c: Context): void => {
  if (c.get('principal')) c.set('db', withJoining(c.get('db')))
}

/** From here on the audit records what the request writes. */
const useAudit = (c: Context): void => {
  if (c.get('principal')) c.set('db', withWriter(c.get('db'), writerOf(c)))
}

/** A patch of at most so many bytes may switch something off: it may pass the budget by a tenth. */
const MAX_SMALL_PATCH_BYTES = 256
const SMALL_PATCH_SHARE = 1.1
const encoder = new TextEncoder()

const isSmallPatch = (c: Context, { patches }: Operation): boolean =>
  !!patches &&
  encoder.encode(JSON.stringify(c.req.valid('json' as never))).byteLength <= MAX_SMALL_PATCH_BYTES

const accountWork = (c: Context): AccountWork => ({
  env: c.env,
  db: c.get('db'),
  accountId: c.get('principal').accountId,
  waitUntil: (promise) => c.executionCtx.waitUntil(promise),
})

/** A path that takes reports and queries is for reading when it is a query. */
const purposeOf = ({ purpose }: Operation, isRead: boolean): Purpose =>
  isRead && purpose !== 'self' ? 'read' : (purpose ?? 'write')

const NO_MEMBERS = z.strictObject({})
const noNext = async () => {}

/** Authenticates, authorises and validates a request by its contract, before its handler runs. */
export const operation = <const O extends Operation>(
  contract: O,
): MiddlewareHandler<AppEnv, string, { in: Inputs<Shapes<O>>; out: Outputs<Shapes<O>> }> => {
  const checkQuery =
    contract.query &&
    zValidator('query', contract.query as z.ZodObject, (result) => {
      if (!result.success)
        throw new Problem('invalid-request', {
          errors: fieldErrors(result.error as z.ZodError, result.data, '#/query'),
        })
    })
  const checkNumbers = contract.query && numberCheck(contract.query as z.ZodObject)
  const replay: Replay | null = contract.idempotent ? { secrets: contract.secrets ?? [] } : null
  const readsBody = takesBody(contract)
  const isStoring = storesMore(contract)

  const handler: MiddlewareHandler = async (c: Context, next) => {
    if (contract.session) requireOwnOrigin(c)
    else if (contract.scope === 'operator') {
      await admitOperator(c)
      requireRight(c, contract.right ?? 'own')
    } else if (contract.upgrade) await admitSocket(c, contract.upgrade)
    else if (contract.scope !== 'open') {
      await admit(c)
      countUsedRequest(c.get('principal').accountId)
      requireScope(c, contract.scope)
      if (contract.wholeAccount) requireWholeAccount(c)
    }
    rejectPattern(c)
    const changes = changesAfter(readVersion(c), contract.id)
    if (!readsBody) markDeprecated(c, contract)
    c.set('ifMatch', contract.ifMatch ? readIfMatch(c) : null)
    checkNumbers?.(c)
    if (checkQuery) await checkQuery(c as never, noNext)
    const macs = readsBody ? await readBody(c, contract, changes) : []
    // Before the Idempotency-Key is claimed: API keys of other scopes share its replies, and a 403
    // must not be one of them.
    if (contract.scopeFor) requireScope(c, contract.scopeFor(c.req.valid('json' as never)))
    if (contract.extraCost) countExtraCost(c, contract.extraCost(c.req.valid('json' as never)))
    const work = isStoring ? accountWork(c) : null
    // Before the Idempotency-Key is claimed, which would keep the 409.
    if (work) await requireStorage(work, isSmallPatch(c, contract) ? SMALL_PATCH_SHARE : 1)
    const isAction =
      typeof contract.idempotent !== 'function' || contract.idempotent(c.req.valid('json' as never))
    const isRead = c.req.method === 'GET' || c.req.method === 'HEAD' || !isAction
    requireStatus(c, purposeOf(contract, isRead))
    await withIdempotency(c, isAction ? replay : null, macs, () => {
      // After the Idempotency-Key is claimed: a claim must not be made twice.
      if (isRead || contract.repeatable) useJoining(c)
      if (!isRead && contract.purpose !== 'intake') useAudit(c)
      return next()
    })
    await convertReply(c, changes)
    if (work) noteStored(work)
    if (c.get('principal')) writeRequestsLater(accountWork(c))
  }
  return Object.assign(handler, { [OPERATION]: contract as Operation }) as never
}
