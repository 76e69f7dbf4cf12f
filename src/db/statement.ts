import { is, Param, Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { SQLiteAsyncDialect, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Database } from './open.ts'
import { retryTransient } from './transient.ts'

const dialect = new SQLiteAsyncDialect()
declare const ROW: unique symbol

/** A prepared D1 statement that knows the type of its rows. */
export type Statement<Row = unknown> = D1PreparedStatement & { [ROW]?: Row }

/** Prepares a fragment. Building it costs about 100 µs each time: hot paths use `compile`. */
export const statement = <Row = unknown>(db: Database, query: SQLWrapper): Statement<Row> => {
  const { sql: text, params } = dialect.sqlToQuery(query.getSQL())
  return db.$client.prepare(text).bind(...params)
}

/** Placeholders of a compiled statement, by name. */
export const placeholders = <const Name extends string>(
  ...list: Name[]
): { [N in Name]: Placeholder<N> } =>
  Object.fromEntries(list.map((name) => [name, sql.placeholder(name)])) as {
    [N in Name]: Placeholder<N>
  }

type Read = (values: Record<string, unknown>) => unknown

/** Faster than Drizzle's `fillPlaceholders`, which checks every class at every call. */
const readerOf = (param: unknown): Read => {
  if (is(param, Placeholder)) return (values) => values[param.name]
  if (is(param, Param) && is(param.value, Placeholder)) {
    const { encoder, value } = param
    return (values) => encoder.mapToDriverValue(values[value.name])
  }
  return () => param
}

/** Builds a fragment once; each call only fills its placeholders, which takes less than 1 µs. */
export const compile = <Values extends object, Row = unknown>(fragment: SQL) => {
  const { sql: text, params } = dialect.sqlToQuery(fragment)
  const readers = params.map(readerOf)
  return (db: Database, values: Values): Statement<Row> =>
    db.$client.prepare(text).bind(...readers.map((read) => read(values as Record<string, unknown>)))
}

/** Compiles each variant of a statement at its first use. Variants must be few: all are kept. */
export const compileVariants = <Variant extends object, Values extends object, Row = unknown>(
  build: (variant: Variant) => SQL,
) => {
  const compiled = new Map<string, ReturnType<typeof compile<Values, Row>>>()
  return (db: Database, variant: Variant, values: Values): Statement<Row> => {
    const key = JSON.stringify(variant)
    let fill = compiled.get(key)
    if (!fill) {
      fill = compile<Values, Row>(build(variant))
      compiled.set(key, fill)
    }
    return fill(db, values)
  }
}

type Results<S extends readonly Statement[]> = {
  [K in keyof S]: S[K] extends Statement<infer Row> ? D1Result<Row> : never
}

/** Runs the statements as one atomic batch. */
export const runBatch = async <const S extends readonly Statement[]>(
  db: Database,
  statements: S,
): Promise<Results<S>> => (await db.$client.batch([...statements])) as unknown as Results<S>

export const readAll = async <Row>(query: Statement<Row>): Promise<Row[]> =>
  (await query.all<Row>()).results

export const readFirst = <Row>(query: Statement<Row>): Promise<Row | null> => query.first<Row>()

/** A statement that runs again after a transient error. */
class RetryingStatement {
  readonly plain: D1PreparedStatement

  constructor(plain: D1PreparedStatement) {
    this.plain = plain
  }

  bind(...values: unknown[]): RetryingStatement {
    return new RetryingStatement(this.plain.bind(...values))
  }

  all(): Promise<D1Result> {
    return retryTransient(() => this.plain.all())
  }

  run(): Promise<D1Result> {
    return retryTransient(() => this.plain.run())
  }

  raw(): Promise<unknown[][]> {
    return retryTransient(() => this.plain.raw())
  }

  first(): Promise<unknown> {
    return retryTransient(() => this.plain.first())
  }
}

/** A client whose statements and batches run again after a transient error. */
export const retryingClient = (client: D1Database): D1Database => {
  const retrying = {
    prepare: (text: string) => new RetryingStatement(client.prepare(text)),
    batch: (statements: RetryingStatement[]) =>
      retryTransient(() => client.batch(statements.map(({ plain }) => plain))),
  }
  return retrying as unknown as D1Database
}

/** Bare column names, as the column list of an INSERT and the left side of SET want them. */
export const names = (...columns: SQLiteColumn[]): SQL =>
  sql.join(
    columns.map(({ name }) => sql.identifier(name)),
    sql`, `,
  )

export const commaSeparated = (fragments: SQLWrapper[]): SQL => sql.join(fragments, sql`, `)

/** A number written into the text: the planner sees it, unlike a bound one. */
export const literal = (value: number): SQL => sql.raw(String(value))

/** The values of a list passed as one JSON parameter: D1 takes at most 100 bound parameters. */
export const valuesOf = (list: readonly unknown[] | SQLWrapper): SQL =>
  sql`(SELECT value FROM json_each(${Array.isArray(list) ? JSON.stringify(list) : list}))`
