import {
  Column,
  type GetColumnData,
  getTableColumns,
  is,
  isSQLWrapper,
  noopDecoder,
  Placeholder,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'

export type Columns = Record<string, SQLiteColumn | SQL>
export type InferRow<C extends Columns> = {
  [K in keyof C]: C[K] extends SQLiteColumn
    ? GetColumnData<C[K]>
    : C[K] extends SQL<infer T>
      ? T
      : never
}

/** Turns the values of the driver into those of the columns. */
export type Decode<Row> = (result: D1Result) => Row[]

/** SQL text whose rows have the names and types of the columns that it selects. */
export class Query<Row> implements SQLWrapper {
  readonly text: SQL
  readonly decode: Decode<Row> | undefined

  constructor(text: SQL, decode: Decode<Row> | undefined) {
    this.text = text
    this.decode = decode
  }

  getSQL(): SQL {
    return this.text
  }

  /** The same query with its rows turned into something else. */
  map<To>(to: (row: Row) => To): Query<To> {
    const { decode } = this
    return new Query(this.text, (result) =>
      (decode ? decode(result) : (result.results as Row[])).map((row) => to(row)),
    )
  }
}

interface Decoder {
  mapFromDriverValue(value: unknown): unknown
}

/** Null for a value that the driver gives as it is: all but JSON, booleans and `mapWith`. */
const decoderOf = (column: SQLiteColumn | SQL): Decoder | null => {
  const decoder = is(column, Column) ? column : (column as unknown as { decoder: Decoder }).decoder
  const isPlain = decoder.mapFromDriverValue === Column.prototype.mapFromDriverValue
  return isPlain || decoder === noopDecoder ? null : decoder
}

const decodeWith = <Row>(columns: Columns): Decode<Row> | undefined => {
  const decoders = Object.entries(columns).flatMap(([name, column]) => {
    const decoder = decoderOf(column)
    return decoder ? [{ name, decoder }] : []
  })
  if (decoders.length === 0) return undefined
  return ({ results }) => {
    for (const row of results as Record<string, unknown>[]) {
      for (const { name, decoder } of decoders) {
        if (row[name] !== null) row[name] = decoder.mapFromDriverValue(row[name])
      }
    }
    return results as Row[]
  }
}

/** Like `select`, with text around the list of columns, such as WITH or RETURNING. */
export const selectIn = <C extends Columns>(columns: C, text: (list: SQL) => SQL) => {
  const list = Object.entries(columns).map(
    ([name, column]) => sql`${column} AS ${sql.identifier(name)}`,
  )
  return new Query<InferRow<C>>(text(sql.join(list, sql`, `)), decodeWith(columns))
}

/** Selects columns and expressions (`sql<Type>`) by the names of `columns`; `rest` is FROM …. */
export const select = <C extends Columns>(columns: C, rest: SQL): Query<InferRow<C>> =>
  selectIn(columns, (list) => sql`SELECT ${list} ${rest}`)

/** A column of a table that a LEFT JOIN may not find. */
export const nullable = <C extends SQLiteColumn>(column: C): SQL<GetColumnData<C> | null> =>
  sql`${column}`.mapWith(column)

/** The same for several columns. */
export const nullables = <C extends Record<string, SQLiteColumn>>(columns: C) =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, nullable(column)])) as {
    [K in keyof C]: SQL<GetColumnData<C[K]> | null>
  }

/** How many rows there are, counted to at most `max`; `rows` is what follows FROM. */
export const countBounded = (rows: SQL, max: number): SQL<number> =>
  sql`(SELECT count(*) FROM (SELECT 1 FROM ${rows} LIMIT ${sql.raw(String(max))}))`

/** An expression whose value is JSON, parsed. */
export const json = <T>(expression: SQL): SQL<T> =>
  expression.mapWith((text: string) => JSON.parse(text) as T)

export type InsertValues<T extends SQLiteTable> = {
  [K in keyof T['$inferInsert']]: T['$inferInsert'][K] | SQLWrapper
}

/** The names of columns, and their values as the columns encode them. */
const encode = (table: SQLiteTable, values: Record<string, unknown>) => {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table)
  return Object.entries<unknown>(values).map(([key, value]) => {
    const column = columns[key] as SQLiteColumn
    const isGivenAsSql = isSQLWrapper(value) && !is(value, Placeholder)
    return {
      name: sql.identifier(column.name),
      value: isGivenAsSql ? sql`${value}` : sql`${sql.param(value, column)}`,
    }
  })
}

const join = (list: SQLWrapper[]): SQL => sql.join(list, sql`, `)

/** INSERT … SELECT of these values; `rest` (FROM, WHERE, ON CONFLICT) says for which rows. */
export const insertSelect = <T extends SQLiteTable>(
  table: T,
  values: InsertValues<T>,
  rest: SQL,
): SQL => {
  const given = encode(table, values)
  return sql`INSERT INTO ${table} (${join(given.map(({ name }) => name))})
    SELECT ${join(given.map(({ value }) => value))} ${rest}`
}

/** UPDATE … SET of these values. */
export const updateSet = <T extends SQLiteTable>(
  table: T,
  values: Partial<InsertValues<T>>,
  where: SQL,
): SQL => {
  const changes = encode(table, values).map(({ name, value }) => sql`${name} = ${value}`)
  return sql`UPDATE ${table} SET ${join(changes)} WHERE ${where}`
}
