import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { changesBetween } from '../../domain/admin/audit.ts'
import type { Database } from '../open.ts'
import { byId, type Page, toPage } from '../page.ts'
import { type InsertValues, insertSelect, type Query, select } from '../query.ts'
import { type Runnable, readAll, readFirst, runBatch, statement, valuesOf } from '../statement.ts'
import { auditWrite } from './audit.ts'
import { checkReferences, type Reference, refuseUnknown } from './references.ts'

/*
 * Resources of a cell: each is a row of an account with an id, and a version that every edit
 * increases by one. An edit is one atomic batch with its whole condition in every statement.
 */

export interface Creation<Body> {
  accountId: string
  id: string
  record: Body
  now: number
}

export interface Edit<Row, Body> {
  accountId: string
  before: Row
  record: Body
  now: number
}

export interface Deletion {
  accountId: string
  id: string
  /** What If-Match names, compared at the moment of the write; null deletes any version. */
  versions: number[] | null
  now: number
}

export const refuse = <const Code extends string>(refusal: Code) => ({
  ok: false as const,
  refusal,
})

type OwnedTable = SQLiteTable & Record<'id' | 'accountId' | 'version', SQLiteColumn>

/** The rows of a table, which belong to accounts. `selectRows` takes WHERE …. */
export const ownedRows = <
  const Name extends string,
  Table extends OwnedTable,
  Row extends { id: string },
>(
  name: Name,
  table: Table,
  selectRows: (where: SQL) => Query<Row>,
) => {
  const isOwn = (accountId: string, id: string): SQL =>
    sql`${table.id} = ${id} AND ${table.accountId} = ${accountId}`
  const selectOne = (accountId: string, id: string) =>
    selectRows(sql`WHERE ${isOwn(accountId, id)}`)
  return {
    name,
    table,
    isOwn,
    /** The statement of `find`, for a batch. */
    selectOne,
    find: (db: Database, accountId: string, id: string): Promise<Row | null> =>
      readFirst(statement(db, selectOne(accountId, id))),
    /** In the order of their ids, those after `after`. */
    list: async (
      db: Database,
      accountId: string,
      after: string,
      limit: number,
    ): Promise<Page<Row>> => {
      const rows = selectRows(sql`WHERE ${table.accountId} = ${accountId} AND ${table.id} > ${after}
        ORDER BY ${table.id} LIMIT ${limit + 1}`)
      return toPage(await readAll(statement(db, rows)), limit, byId)
    },
  }
}

type Owned<Name extends string, Table extends OwnedTable, Row extends { id: string }> = ReturnType<
  typeof ownedRows<Name, Table, Row>
>

interface Write<Columns, Code> {
  /** The columns beside id, account and version. */
  set: Columns
  references?: Reference[]
  /** A further condition. */
  condition?: SQL
  /** The refusal if the condition does not hold. */
  otherwise: Code
  /** Statements that follow the write, whether or not it has written. */
  thereafter?: readonly Runnable[]
}

/** A retry after a crash has the same id: it finds the row, and changes it by `onConflict` alone. */
export const createOwned = async <
  Name extends string,
  Table extends OwnedTable,
  Row extends { id: string },
  const Code extends string,
>(
  db: Database,
  rows: Owned<Name, Table, Row>,
  { accountId, id, record, now }: Creation<object>,
  write: Write<Omit<InsertValues<Table>, 'id' | 'accountId' | 'version'>, Code> & {
    onConflict?: SQL
  },
) => {
  const { set, condition = sql`true`, otherwise, thereafter } = write
  const { areKnown, selectErrors } = checkReferences(accountId, write.references)
  const values = { id, accountId, ...set, version: 1 } as InsertValues<Table>
  const onConflict = write.onConflict ?? sql`ON CONFLICT DO NOTHING`
  const { errors, found } = await runBatch(db, {
    inserted: insertSelect(
      rows.table,
      values,
      sql`WHERE ${condition} AND ${areKnown} ${onConflict}`,
    ),
    audited: auditWrite(db, {
      accountId,
      now,
      action: `${rows.name}.created`,
      resource: { type: rows.name, id },
      changes: changesBetween(null, record),
    }),
    thereafter,
    errors: selectErrors,
    found: rows.selectOne(accountId, id),
  })
  const [row] = found.results
  return row ? { ok: true as const, row } : refuseUnknown(errors, refuse(otherwise))
}

/** What an edit has come to, by the row after it. */
export const editOutcome = <const Name extends string, Row extends { version: number }, Refusal>(
  name: Name,
  isWritten: boolean,
  { before, after }: { before: Row; after: Row | null | undefined },
  otherwise: Refusal,
) => {
  if (!after) return refuse(`${name}-not-found`)
  if (isWritten) return { ok: true as const, row: after }
  return after.version === before.version ? otherwise : refuse('precondition-failed')
}

/** Writes only while the version is the one that was read. */
export const updateOwned = async <
  Name extends string,
  Table extends OwnedTable,
  Row extends { id: string; version: number },
  const Code extends string,
>(
  db: Database,
  rows: Owned<Name, Table, Row>,
  { accountId, before, record, now }: Edit<Row, object>,
  write: Write<Partial<InsertValues<Table>>, Code>,
) => {
  const { set, condition = sql`true`, otherwise, thereafter } = write
  const { areKnown, selectErrors } = checkReferences(accountId, write.references)
  const { table } = rows
  const { written, errors, found } = await runBatch(db, {
    written: db
      .update<OwnedTable>(table)
      .set({ ...set, version: before.version + 1 } as never)
      .where(
        sql`${rows.isOwn(accountId, before.id)} AND ${table.version} = ${before.version}
          AND ${condition} AND ${areKnown}`,
      ),
    audited: auditWrite(db, {
      accountId,
      now,
      action: `${rows.name}.updated`,
      resource: { type: rows.name, id: before.id },
      changes: changesBetween(before, record),
    }),
    thereafter,
    errors: selectErrors,
    found: rows.selectOne(accountId, before.id),
  })
  return editOutcome(
    rows.name,
    written.meta.changes > 0,
    { before, after: found.results[0] },
    refuseUnknown(errors, refuse(otherwise)),
  )
}

interface Dependents<InUse> {
  /** A reason not to delete. */
  inUse?: { refusal: InUse; condition: SQL }
  /** What is written once the row is gone, which the condition says. */
  thereafter?: (isGone: SQL) => readonly Runnable[]
}

export const deleteOwned = async <
  Name extends string,
  Table extends OwnedTable,
  Row extends { id: string },
  const InUse extends string = never,
>(
  db: Database,
  { name, table, isOwn }: Owned<Name, Table, Row>,
  { accountId, id, versions, now }: Deletion,
  { inUse, thereafter }: Dependents<InUse> = {},
) => {
  const own = isOwn(accountId, id)
  const isExpected = versions ? sql`${table.version} IN ${valuesOf(versions)}` : sql`true`
  const isUnused = inUse ? sql`NOT ${inUse.condition}` : sql`true`
  const { before, deleted } = await runBatch(db, {
    before: select({ version: sql<number>`${table.version}` }, sql`FROM ${table} WHERE ${own}`),
    deleted: sql`DELETE FROM ${table} WHERE ${own} AND ${isExpected} AND ${isUnused}`,
    audited: auditWrite(db, {
      accountId,
      now,
      action: `${name}.deleted`,
      resource: { type: name, id },
    }),
    thereafter: thereafter?.(sql`NOT EXISTS (SELECT 1 FROM ${table} WHERE ${own})`),
  })
  if (deleted.meta.changes > 0) return { ok: true as const }
  const [row] = before.results
  if (!row) return refuse(`${name}-not-found`)
  const isOutdated = versions !== null && !versions.includes(row.version)
  return isOutdated || !inUse ? refuse('precondition-failed') : refuse(inUse.refusal)
}
