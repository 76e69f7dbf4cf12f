import { Hono } from 'hono'
import type { Database } from '../../db/open.ts'
import type { Page, Position } from '../../db/page.ts'
import type { Creation, Deletion, Edit } from '../../db/queries/owned.ts'
import type { JsonObject } from '../../domain/text/json.ts'
import { applyPatch, type Patch } from '../body/patch.ts'
import type { AppEnv, Context } from '../context.ts'
import type { Operation } from '../contract/contract.ts'
import { operation } from '../contract/operation.ts'
import { type Refused, requireOk } from '../contract/problem.ts'
import { replyList } from '../paging/list.ts'
import { requireInPath } from '../reply/notFound.ts'
import { reply, replyWithEtag } from '../reply/reply.ts'
import type { Resource } from './contract.ts'
import { editResource } from './editResource.ts'

type Find<Row> = (c: Context, id: string) => Promise<Row | null | undefined>

interface Handlers<Row, Shown, Body, Query, Once> {
  /** Of its ids. */
  prefix: string
  /** Null when the caller cannot see it. */
  find: Find<Row>
  list: (c: Context, after: Position, query: Query) => Promise<Page<Row>>
  present: (row: Row) => Shown
  create: (
    db: Database,
    creation: Creation<Body>,
    c: Context,
  ) => Promise<{ ok: true; row: Row; shownOnce?: Once } | Refused>
  /** Writes only while the version is that of `before`, else refuses `precondition-failed`. */
  update: (
    db: Database,
    edit: Edit<Row, Body>,
    c: Context,
  ) => Promise<{ ok: true; row: Row } | Refused>
  remove: (db: Database, deletion: Deletion, c: Context) => Promise<{ ok: true } | Refused>
  /** Where a patched resource needs more than the checks of PUT. */
  patch?: (before: Row, patch: Patch) => Body
}

interface OwnedRows<Row> {
  find: (db: Database, accountId: string, id: string) => Promise<Row | null>
  list: (db: Database, accountId: string, after: string, limit: number) => Promise<Page<Row>>
}

/** `find` and `list` of a resource that everybody who may read it sees completely. */
export const inAccount = <Row>(rows: OwnedRows<Row>) => ({
  find: (c: Context, id: string) => rows.find(c.get('db'), c.get('principal').accountId, id),
  list: (c: Context, [after = '']: Position, { limit }: { limit: number }) =>
    rows.list(c.get('db'), c.get('principal').accountId, String(after), limit),
})

/** Without the types of bodies and replies, which `Handlers` has. */
type Operations = Record<'list' | 'create' | 'read' | 'replace' | 'patch' | 'remove', Operation>

/** Serves the contracts of a resource. A feature adds its further routes to these. */
export const resourceRoutes = <
  Name extends string,
  Shown extends object,
  Body,
  Query extends { limit: number; cursor?: string | undefined },
  Once,
  Row extends { id: string; version: number },
  Plural extends string,
>(
  contract: Resource<Name, Shown, Body, Query, Once, Plural>,
  handlers: Handlers<Row, Shown, Body, Query, Once>,
): Hono<AppEnv> => {
  const { name, plural, isFlat } = contract
  const { find, present } = handlers
  const { list, create, read, replace, patch, remove } = contract as Operations
  const parameter = `${name}Id`
  const path = `/:${parameter}`
  const findRequested = (c: Context) => requireInPath(c, parameter, (id) => find(c, id))
  const body = (row: Row): JsonObject => ({
    success: true,
    ...(isFlat ? present(row) : { [name]: present(row) }),
  })
  const applyTo = (before: Row, given: Patch): Body =>
    handlers.patch?.(before, given) ??
    applyPatch(given, present(before) as JsonObject, contract.replace)
  const edit = async (c: Context, change: (before: Row) => Body): Promise<Row> => {
    const { accountId } = c.get('principal')
    const { row } = await editResource(c, {
      find: () => findRequested(c),
      change,
      write: (before, record) => {
        const write = { accountId, before, record, now: Date.now() }
        return handlers.update(c.get('db'), write, c)
      },
    })
    return row
  }
  const send = (c: Context, replied: Operation, row: Row) =>
    replyWithEtag(c, replied, body(row), row)
  return new Hono<AppEnv>()
    .get('/', operation(list), (c) => {
      const query = c.req.valid('query' as never) as Query
      return replyList(c, list, query, {
        readPage: (after) => handlers.list(c, after, query),
        toBody: (rows) => ({ [plural]: rows.map(present) }),
      })
    })
    .post('/', operation(create), async (c) => {
      const { accountId } = c.get('principal')
      const record = c.req.valid('json' as never) as Body
      const id = await c.get('newId')(handlers.prefix)
      const write = { accountId, id, record, now: Date.now() }
      const { row, shownOnce } = requireOk(await handlers.create(c.get('db'), write, c))
      const location = `/api/${plural}/${row.id}`
      return replyWithEtag(c, create, { ...body(row), ...shownOnce }, { ...row, location })
    })
    .get(path, operation(read), async (c) => send(c, read, await findRequested(c)))
    .put(path, operation(replace), async (c) => {
      const record = c.req.valid('json' as never) as Body
      return send(c, replace, await edit(c, () => record))
    })
    .patch(path, operation(patch), async (c) => {
      const given = c.req.valid('json' as never) as Patch
      return send(c, patch, await edit(c, (before) => applyTo(before, given)))
    })
    .delete(path, operation(remove), async (c) => {
      const { accountId } = c.get('principal')
      const id = c.req.param(parameter) ?? ''
      const deletion = { accountId, id, versions: c.get('ifMatch'), now: Date.now() }
      requireOk(await handlers.remove(c.get('db'), deletion, c))
      return reply(c, remove, { success: true })
    })
}
