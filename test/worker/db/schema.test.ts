import { env } from 'cloudflare:workers'
import { getTableName, is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { describe, expect, test } from 'vitest'
import { MOVE_TRIGGERS } from '../../../scripts/migrations/moveTriggers.ts'
import { USAGE_TRIGGERS } from '../../../scripts/migrations/usageTriggers.ts'
import { ACCOUNT_TABLES, MOVED_TABLES } from '../../../src/db/accountTables.ts'
import * as schema from '../../../src/db/schema.ts'

interface Column {
  name: string
  type: string
  notnull: number
  pk: number
}

const tables = (Object.values(schema) as unknown[])
  .filter((value): value is SQLiteTable => is(value, SQLiteTable))
  .map((table) => getTableConfig(table))

const columnsOf = async (table: string): Promise<Column[]> =>
  (await env.DB.prepare(`PRAGMA table_info("${table}")`).all<Column>()).results
const indexesOf = async (table: string) =>
  (
    await env.DB.prepare(`PRAGMA index_list("${table}")`).all<{
      name: string
      unique: number
      origin: string
    }>()
  ).results

/** Tables with an account id that are not erased with the account. */
const NOT_ERASED = ['directory', 'source_directory']
/** Those that do not count for the account's storage. */
const NOT_COUNTED = [
  ...NOT_ERASED,
  'moves',
  'moved_accounts',
  'move_changes',
  'account_usage',
  'usage_days',
  'usage_months',
  'archived_months',
  'audit',
  'backlogs',
  'key_networks',
]
/** Tables of a cell or of the service, which do not move with an account. */
const NOT_MOVED = [
  ...NOT_ERASED,
  'cells',
  'moves',
  'moved_accounts',
  'move_changes',
  'oauth_records',
  'operators',
  'push_keys',
  'sign_in_attempts',
  'sweep_positions',
  'sweep_runs',
]

describe('the migrations', () => {
  test('create the tables of the schema and no others', async () => {
    const { results } = await env.DB.prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table'`,
    ).all<{ name: string }>()
    const created = results
      .map(({ name }) => name)
      .filter((name) => !/^(sqlite_|d1_|_cf_)/.test(name))
    expect(created.sort()).toEqual(tables.map(({ name }) => name).sort())
  })

  test.each(tables)(
    'create $name with the columns of the schema: name, type, not null, key',
    async ({ name, columns, primaryKeys }) => {
      const key =
        primaryKeys[0]?.columns.map((column) => column.name) ??
        columns.filter(({ primary }) => primary).map((column) => column.name)
      const expected = columns.map((column) => ({
        name: column.name,
        type: column.getSQLType().toUpperCase(),
        notnull: column.notNull || key.includes(column.name) ? 1 : 0,
        pk: key.indexOf(column.name) + 1,
      }))
      const created = (await columnsOf(name)).map(({ name: column, type, notnull, pk }) => ({
        name: column,
        type: type.toUpperCase(),
        notnull,
        pk,
      }))
      const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
      expect(created.sort(byName)).toEqual(expected.sort(byName))
    },
  )

  test.each(tables)(
    'create $name with the indexes of the schema',
    async ({ name, indexes, columns }) => {
      const created = (await indexesOf(name))
        .filter(({ origin }) => origin === 'c')
        .map((index) => [index.name, index.unique === 1])
      const named = indexes.map(({ config }) => [config.name, config.unique])
      const unique = columns
        .filter(({ isUnique }) => isUnique)
        .map(({ uniqueName }) => [uniqueName, true])
      expect(created.sort()).toEqual([...named, ...unique].sort())
    },
  )

  test.each(tables)(
    'create $name STRICT, and WITHOUT ROWID unless its key is a number',
    async ({ name, columns }) => {
      const row = await env.DB.prepare('SELECT sql FROM sqlite_schema WHERE name = ?')
        .bind(name)
        .first<{ sql: string }>()
      expect(row?.sql).toMatch(/\bSTRICT\b/)
      const hasNumberKey = columns.some(
        ({ primary, columnType }) => primary && columnType === 'SQLiteInteger',
      )
      expect(/WITHOUT ROWID/.test(row?.sql ?? '')).toBe(!hasNumberKey)
    },
  )

  test('create the triggers that count and watch every table with an account', async () => {
    const { results } = await env.DB.prepare(
      `SELECT name, tbl_name, sql FROM sqlite_schema
        WHERE type = 'trigger' AND (name LIKE '%_usage_%' OR name LIKE '%_move_%')`,
    ).all<{ name: string; tbl_name: string; sql: string }>()
    const expected = [...USAGE_TRIGGERS.flatMap(({ triggers }) => triggers), ...MOVE_TRIGGERS]
    expect(Object.fromEntries(results.map(({ name, sql }) => [name, `${sql};`]))).toEqual(
      Object.fromEntries(expected),
    )
    const counted = new Set(USAGE_TRIGGERS.map(({ name }) => name))
    for (const { name, columns } of tables)
      if (columns.some((column) => column.name === 'account_id'))
        expect(counted.has(name) !== NOT_COUNTED.includes(name), name).toBe(true)
  })

  test('create the same tables in every cell', async () => {
    const dump = async (db: D1Database) =>
      (
        await db
          .prepare(
            `SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'd1\\_%' ESCAPE '\\' ORDER BY name`,
          )
          .all()
      ).results
    expect(await dump(env.CELL_1)).toEqual(await dump(env.DB))
  })
})

test('erasing an account covers every table with an account id, by its primary key', () => {
  const withAccount = tables
    .filter(({ columns }) => columns.some(({ name }) => name === 'account_id'))
    .map(({ name }) => name)
  expect(ACCOUNT_TABLES.map(getTableName).sort()).toEqual(
    withAccount.filter((name) => !NOT_ERASED.includes(name)).sort(),
  )
})

test('moving an account covers every table of an account, and all of its columns', () => {
  const moved = MOVED_TABLES.map(({ name }) => name)
  expect([...moved, ...NOT_MOVED].sort()).toEqual(tables.map(({ name }) => name).sort())
  for (const { name, columns } of tables) {
    const copied = MOVED_TABLES.find((table) => table.name === name)?.columns
    // Each cell numbers them itself.
    const expected = columns.filter(
      (column) => `${name}.${column.name}` !== 'unclaimed_reports.number',
    )
    if (copied) expect(copied.map((column) => column.name)).toEqual(expected.map((one) => one.name))
  }
})

test('erasing an account uses an index in every table', async () => {
  for (const table of ACCOUNT_TABLES.map(getTableName)) {
    const { results } = await env.DB.prepare(
      `EXPLAIN QUERY PLAN SELECT 1 FROM "${table}" WHERE account_id = 'x'`,
    ).all<{ detail: string }>()
    expect(results.map(({ detail }) => detail).join(), table).toMatch(/SEARCH .* \(account_id=\?/)
  }
})
