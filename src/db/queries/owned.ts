import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from '../open.ts'
import { byId, type Page, toPage } from '../page.ts'
import { type Query, select } from '../query.ts'
import { type Runnable, readAll, readFirst, runBatch, statement, valuesOf } from '../statement.ts'

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

/** The rows of a table, which belong to accounts. `selectRows` takes what follows FROM. */
export const ownedRows = <const Name extends string, Row extends { id: string }>(
  name: Name,
  table: OwnedTable,
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

/**
 * What an edit has come to, by the row after it. `whyNot` says why a row that still has the version
 * from before was not written.
 */
export const editOutcome = <const Name extends string, Row extends { version: number }, Why>(
  name: Name,
  isWritten: boolean,
  { before, after }: { before: Row; after: Row | null | undefined },
  whyNot: () => Why,
) => {
  if (!after) return refuse(`${name}-not-found`)
  if (isWritten) return { ok: true as const, row: after }
  return after.version === before.version ? whyNot() : refuse('precondition-failed')
}

interface Dependents<InUse> {
  /** A reason not to delete. */
  inUse?: { refusal: InUse; condition: SQL }
  /** What is written once the row is gone, which the condition says. */
  thereafter?: (isGone: SQL) => readonly Runnable[]
}

export const deleteOwned = async <const Name extends string, const InUse extends string = never>(
  db: Database,
  {
    name,
    table,
    isOwn,
  }: Pick<ReturnType<typeof ownedRows<Name, { id: string }>>, 'name' | 'table' | 'isOwn'>,
  { accountId, id, versions }: Deletion,
  { inUse, thereafter }: Dependents<InUse> = {},
) => {
  const own = isOwn(accountId, id)
  const isExpected = versions ? sql`${table.version} IN ${valuesOf(versions)}` : sql`true`
  const isUnused = inUse ? sql`NOT ${inUse.condition}` : sql`true`
  const { before, deleted } = await runBatch(db, {
    before: select({ version: sql<number>`${table.version}` }, sql`FROM ${table} WHERE ${own}`),
    deleted: sql`DELETE FROM ${table} WHERE ${own} AND ${isExpected} AND ${isUnused}`,
    thereafter: thereafter?.(sql`NOT EXISTS (SELECT 1 FROM ${table} WHERE ${own})`),
  })
  if (deleted.meta.changes === 1) return { ok: true as const }
  const [row] = before.results
  if (!row) return refuse(`${name}-not-found`)
  const isOutdated = versions !== null && !versions.includes(row.version)
  return isOutdated || !inUse ? refuse('precondition-failed') : refuse(inUse.refusal)
}
