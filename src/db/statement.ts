import { is, Param, Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { SQLiteAsyncDialect, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Database } from './open.ts'
import { type Decode, Query } from './query.ts'

const dialect = new SQLiteAsyncDialect()
declare const ROW: unique symbol

/** A prepared D1 statement that knows its rows. */
export type Statement<Row = unknown> = D1PreparedStatement & { readonly [ROW]?: Row }

/** Those that have anything to decode. */
const decoders = new WeakMap<Statement, Decode<unknown>>()

/** A query of Drizzle's builder. In a batch, columns of the same name need different ones. */
interface Built<Row> {
  readonly _: { readonly result: Row[] | D1Result }
  prepare(): {
    getQuery(): { sql: string; params: unknown[] }
    mapResult(result: unknown, isFromBatch: boolean): unknown
  }
}

const bind = <Row>(db: Database, text: string, params: unknown[], decode?: Decode<Row>) => {
  const bound: Statement<Row> = db.$client.prepare(text).bind(...params)
  if (decode) decoders.set(bound, decode)
  return bound
}

/**
 * SQLite plans by the number in a bare `LIMIT ?`, and so prepares the statement again at every run:
 * that takes 150 µs for a long one. It does not look into an expression.
 */
const planOnce = (text: string): string => text.replaceAll(/\blimit \?/gi, '$& + 0')

const toQuery = (query: SQLWrapper): { text: string; params: unknown[] } => {
  const { sql: text, params } = dialect.sqlToQuery(query.getSQL())
  return { text: planOnce(text), params }
}

/** Prepares a query. Building it costs about 100 µs each time: hot paths use `compile`. */
export const statement = <Row = unknown>(
  db: Database,
  query: Built<Row> | Query<Row> | SQLWrapper,
): Statement<Row> => {
  if ('prepare' in query) {
    const built = query.prepare()
    const { sql: text, params } = built.getQuery()
    return bind(db, planOnce(text), params, (result) => {
      const rows = built.mapResult(result, true)
      return Array.isArray(rows) ? rows : []
    })
  }
  const { text, params } = toQuery(query)
  return bind(db, text, params, query instanceof Query ? query.decode : undefined)
}

/** Placeholders of a compiled statement, by name. */
export type Placeholders<Values> = { [N in keyof Values & string]-?: Placeholder<N> } & {
  readonly [VALUES]?: Values
}
declare const VALUES: unique symbol

const EVERY_PLACEHOLDER = new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) })

/** Placeholders of these names, which may be given as a type: `placeholders<keyof Values>()`. */
export const placeholders = <const Name extends string>(..._names: Name[]) =>
  EVERY_PLACEHOLDER as { [N in Name]: Placeholder<N> }

type Read = (values: Record<string, unknown>) => unknown

/** Faster than Drizzle's `fillPlaceholders`, which checks every class at every call. */
const readerOf = (param: unknown): Read => {
  if (is(param, Placeholder)) return (values) => values[param.name]
  if (is(param, Param) && is(param.value, Placeholder)) {
    const { encoder, value } = param
    return ({ [value.name]: given }) => (given === null ? null : encoder.mapToDriverValue(given))
  }
  return () => param
}

/**
 * Builds a query once; each call only fills its placeholders, which takes less than 1 µs. The values
 * are those of the placeholders, `(p: Placeholders<Values>) => …`, the rows those of the query.
 */
export const compile = <Values extends object, Row = unknown>(
  query: SQL | ((p: Placeholders<Values>) => SQL | Query<Row>),
) => {
  const built =
    typeof query === 'function' ? query(EVERY_PLACEHOLDER as Placeholders<Values>) : query
  const { text, params } = toQuery(built)
  const readers = params.map(readerOf)
  const decode = built instanceof Query ? built.decode : undefined
  return (db: Database, values: Values): Statement<Row> =>
    bind(
      db,
      text,
      readers.map((read) => read(values as Record<string, unknown>)),
      decode,
    )
}

/** The rows of a compiled query. */
export type RowOf<Compiled extends (...given: never[]) => Statement> =
  ReturnType<Compiled> extends Statement<infer Row> ? Row : never

/** Compiles each variant of a statement at its first use. Variants must be few: all are kept. */
export const compileVariants = <Variant extends object, Values extends object, Row = unknown>(
  build: (variant: Variant, p: Placeholders<Values>) => SQL | Query<Row>,
) => {
  const compiled = new Map<string, ReturnType<typeof compile<Values, Row>>>()
  return (db: Database, variant: Variant, values: Values): Statement<Row> => {
    const key = JSON.stringify(variant)
    let fill = compiled.get(key)
    if (!fill) {
      fill = compile((p: Placeholders<Values>) => build(variant, p))
      compiled.set(key, fill)
    }
    return fill(db, values)
  }
}

const decodeResult = <Row>(query: Statement<Row>, result: D1Result): D1Result<Row> => {
  const decode = decoders.get(query) as Decode<Row> | undefined
  return decode ? { ...result, results: decode(result) } : (result as D1Result<Row>)
}

export const readAll = async <Row>(query: Statement<Row>): Promise<Row[]> =>
  decodeResult(query, await query.all()).results

export const readFirst = async <Row>(query: Statement<Row>): Promise<Row | null> =>
  (await readAll(query))[0] ?? null

export type Runnable = Statement | Built<unknown> | SQLWrapper
type Entry = Runnable | readonly Runnable[] | undefined
type Batch = Record<string, Entry> | readonly Runnable[]

type ResultOf<Q> = Q extends Statement<infer Row> | Query<infer Row> | Built<infer Row>
  ? D1Result<Row>
  : D1Result
type Results<B> = {
  -readonly [K in keyof B]: B[K] extends readonly Runnable[]
    ? Results<B[K]>
    : ResultOf<NonNullable<B[K]>> | Extract<B[K], undefined>
}

/**
 * Runs the statements as one atomic batch, in their order. Each result has the name of its
 * statement; an entry may be a list of statements, or undefined to leave it out.
 */
export const runBatch = async <const B extends Batch>(
  db: Database,
  batch: B,
): Promise<Results<B>> => {
  const entries = Object.entries<Entry>(batch)
  const statements: Statement[] = []
  const add = (entry: Entry): void => {
    if (Array.isArray(entry)) for (const query of entry) add(query)
    else if (entry) statements.push('bind' in entry ? entry : statement(db, entry as SQLWrapper))
  }
  for (const [, entry] of entries) add(entry)
  const results = await db.$client.batch(statements)
  let at = 0
  const take = (entry: Entry): unknown => {
    if (Array.isArray(entry)) return entry.map(take)
    return entry && decodeResult(statements[at] as Statement, results[at++] as D1Result)
  }
  const named = (Array.isArray(batch) ? [] : {}) as Record<string, unknown>
  for (const [name, entry] of entries) named[name] = take(entry)
  return named as Results<B>
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
