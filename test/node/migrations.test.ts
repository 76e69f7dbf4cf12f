import { readdirSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { SCHEMA_VERSION } from '../../src/db/version.ts'

const migrations = readdirSync('migrations')
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => ({ name, sql: readFileSync(`migrations/${name}`, 'utf8') }))

const ROWS = 3

const tablesOf = (db: DatabaseSync): string[] =>
  db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
    .map(({ name }) => String(name))

/** The nth value of a column. Texts are also JSON, and equal in every table, so that joins match. */
const sampleOf = (type: string, n: number) =>
  type === 'TEXT' ? `{"n":${n}}` : type === 'BLOB' ? Buffer.from([n]) : n

/** Rows that every table takes: all columns have a value, and no two rows share one. */
const fill = (db: DatabaseSync): void => {
  for (const table of tablesOf(db)) {
    const columns = db.prepare(`PRAGMA table_info("${table}")`).all()
    const places = columns.map(() => '?').join()
    const insert = db.prepare(`INSERT OR REPLACE INTO "${table}" VALUES (${places})`)
    for (let n = 1; n <= ROWS; n++) insert.run(...columns.map(({ type }) => sampleOf(`${type}`, n)))
  }
}

const countRows = (db: DatabaseSync): Record<string, number> =>
  Object.fromEntries(
    tablesOf(db).map((table) => [
      table,
      Number(db.prepare(`SELECT count(*) AS n FROM "${table}"`).get()?.n),
    ]),
  )

/** Makes the tables of the version before, fills them, and applies the newest migration. */
const migrateFilled = (earlier: string[], newest: string) => {
  const db = new DatabaseSync(':memory:', { enableForeignKeyConstraints: false })
  for (const sql of earlier) db.exec(sql)
  fill(db)
  const before = countRows(db)
  db.exec(newest)
  return { before, after: countRows(db) }
}

test.each(migrations)('$name keeps the rows of a filled database', ({ name, sql }) => {
  const earlier = migrations.filter((migration) => migration.name < name).map(({ sql }) => sql)
  const { before, after } = migrateFilled(earlier, sql)
  expect(Object.values(before).every((rows) => rows >= ROWS)).toBe(true)
  expect(after).toMatchObject(before)
})

test('src/db/version.ts names the newest migration', () => {
  expect(`${SCHEMA_VERSION}.sql`).toBe(migrations.at(-1)?.name)
})

const all = migrations.map(({ sql }) => sql)

test.each([
  ['ALTER TABLE devices ADD x integer NOT NULL', /NOT NULL/],
  ['CREATE UNIQUE INDEX x ON devices (length(name))', /UNIQUE/],
])('a migration that fails on rows is found: %s', (sql, message) => {
  expect(() => migrateFilled(all, sql)).toThrow(message)
})

test('a migration that loses rows is found', () => {
  const { before, after } = migrateFilled(all, 'DELETE FROM devices WHERE key = 1')
  expect(after).not.toMatchObject(before)
})

test('the status of an account follows a release that only knows whether it is disabled', () => {
  const db = new DatabaseSync(':memory:')
  for (const sql of all) db.exec(sql)
  db.exec(`INSERT INTO accounts (id, number, user_name, name, time_zone, day, licenses, used,
    creation, last_modified, version, seq) VALUES ('a', 1, 'a', 'A', 'UTC', '', 1, 0, 0, 0, 1, 1)`)
  const statusAfter = (change: string) => {
    db.exec(`INSERT INTO accounts SELECT * FROM accounts WHERE true
      ON CONFLICT (id) DO UPDATE SET ${change}`)
    return db.prepare('SELECT status FROM accounts').get()?.status
  }
  expect(statusAfter('disabled = 1')).toBe('disabled')
  expect(statusAfter('disabled = 0')).toBe('active')
  expect(statusAfter(`status = 'readOnly', disabled = 0`)).toBe('readOnly')
  expect(statusAfter(`status = 'disabled', disabled = 1`)).toBe('disabled')
})
