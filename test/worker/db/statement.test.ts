import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { select } from '../../../src/db/query.ts'
import { accounts } from '../../../src/db/schema.ts'
import { compile, type Placeholders, readAll, statement } from '../../../src/db/statement.ts'
import { recordCell } from './recordedCell.ts'

const values = { list: '[1,2,3]', rows: 2 }
const columns = { value: sql<number>`value` }

test('a bound LIMIT is an expression, which SQLite does not plan by at every run', async () => {
  const { db, statements } = recordCell()
  const compiled = compile((p: Placeholders<typeof values>) =>
    select(columns, sql`FROM json_each(${p.list}) LIMIT ${p.rows}`),
  )
  expect(await readAll(compiled(db, values))).toEqual([{ value: 1 }, { value: 2 }])
  const built = select(columns, sql`FROM json_each(${values.list}) LIMIT ${values.rows} OFFSET 2`)
  expect(await readAll(statement(db, built))).toEqual([{ value: 3 }])
  await readAll(statement(db, db.select({ id: accounts.id }).from(accounts).limit(1)))
  expect(statements).toHaveLength(3)
  for (const { sql: text } of statements) expect(text).toMatch(/limit \? \+ 0/i)
})
