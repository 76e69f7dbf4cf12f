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

/** Serves the contracts of a resource. A feature adds its further routes to these. */
export const resourceRoutes = <
  Name extends string,
  Shown extends object,
  Body,
  Query extends { limit: number; cursor?: string | undefined },
  Once,
  Row extends { id: string; version: number },
>(
  contract: Resource<Name, Shown, Body, Query, Once>,
  handlers: Handlers<Row, Shown, Body, Query, Once>,
): Hono<AppEnv> => {
  const { name, isFlat } = contract
  const { find, present } = handlers
  const [base, parameter] = [`/api/${name}s`, `${name}Id`]
  const findRequested = (c: Context) => requireInPath(c, parameter, (id) => find(c, id))
  const body = (row: Row): JsonObject => ({
    success: true,
    ...(isFlat ? present(row) : { [name]: present(row) }),
  })
  const send = (c: Context, replied: Operation, row: Row) =>
    replyWithEtag(c, replied, body(row), row)
  const patch =
    handlers.patch ??
    ((before: Row, given: Patch) =>
      applyPatch(given, present(before) as JsonObject, contract.replace))
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
  return new Hono<AppEnv>()
    .get('/', operation(contract.list as Operation), (c) => {
      const query = c.req.valid('query' as never) as Query
      return replyList(c, contract.list as Operation, query, {
        readPage: (after) => handlers.list(c, after, query),
        toBody: (rows) => ({ [`${name}s`]: rows.map(present) }),
      })
    })
    .post('/', operation(contract.create as Operation), async (c) => {
      const { accountId } = c.get('principal')
      const record = c.req.valid('json' as never) as Body
      const id = await c.get('newId')(handlers.prefix)
      const write = { accountId, id, record, now: Date.now() }
      const { row, shownOnce } = requireOk(await handlers.create(c.get('db'), write, c))
      const { version } = row
      const created = { ...body(row), ...shownOnce }
      const location = `${base}/${row.id}`
      return replyWithEtag(c, contract.create as Operation, created, { version, location })
    })
    .get(`/:${parameter}`, operation(contract.read as Operation), async (c) =>
      send(c, contract.read, await findRequested(c)),
    )
    .put(`/:${parameter}`, operation(contract.replace as Operation), async (c) => {
      const record = c.req.valid('json' as never) as Body
      return send(c, contract.replace, await edit(c, () => record))
    })
    .patch(`/:${parameter}`, operation(contract.patch as Operation), async (c) => {
      const given = c.req.valid('json' as never) as Patch
      return send(c, contract.patch, await edit(c, (before) => patch(before, given)))
    })
    .delete(`/:${parameter}`, operation(contract.remove), async (c) => {
      const { accountId } = c.get('principal')
      const id = c.req.param(parameter) ?? ''
      const deletion = { accountId, id, versions: c.get('ifMatch'), now: Date.now() }
      requireOk(await handlers.remove(c.get('db'), deletion, c))
      return reply(c, contract.remove, { success: true })
    })
}
