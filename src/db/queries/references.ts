import { type SQL, sql } from 'drizzle-orm'
import { select } from '../query.ts'
import type { devices, groups, zones } from '../schema.ts'

/* Ids in the body of a resource that must name something of the same account. */

export interface Reference {
  table: typeof devices | typeof groups | typeof zones
  what: 'device' | 'group' | 'zone'
  /** Where the ids are in the body. */
  pointer: string
  /** A list, or the one id of a member that is not a list. */
  ids: readonly string[] | string | null
  /** Ids that the resource has already: they may stay. */
  before?: readonly string[] | undefined
}

const MAX_ERRORS = 20

const unknownIds = (accountId: string, { table, pointer, ids, before = [] }: Reference): SQL => {
  const known = new Set(before)
  const listed = typeof ids === 'string' ? [ids] : (ids ?? [])
  const added = [...new Set(listed)].filter((id) => !known.has(id))
  return sql`SELECT ${pointer} AS pointer, listed.value AS id
    FROM json_each(${JSON.stringify(added)}) listed
    WHERE NOT EXISTS (SELECT 1 FROM ${table}
      WHERE ${table.id} = listed.value AND ${table.accountId} = ${accountId})`
}

/** A condition for writing what has these references, and a query for why it was not written. */
export const checkReferences = (accountId: string, references: Reference[] = []) => {
  if (references.length === 0) return { areKnown: sql`true`, selectErrors: undefined }
  const unknown = sql.join(
    references.map((reference) => unknownIds(accountId, reference)),
    sql` UNION ALL `,
  )
  return {
    areKnown: sql`NOT EXISTS (${unknown})`,
    selectErrors: select(
      { pointer: sql<string>`pointer`, id: sql<string>`id` },
      sql`FROM (${unknown}) LIMIT ${MAX_ERRORS}`,
    ).map((row) => {
      const { ids, what } = references.find(({ pointer }) => pointer === row.pointer) as Reference
      const index = Array.isArray(ids) ? `/${ids.indexOf(row.id)}` : ''
      return { pointer: `${row.pointer}${index}`, detail: `is not a ${what} of this account` }
    }),
  }
}

interface FieldError {
  pointer: string
  detail: string
}

/** The refusal for unknown ids, or `other` if there are none. */
export const refuseUnknown = <Other>(
  unknown: { results: FieldError[] } | undefined,
  other: Other,
) =>
  unknown?.results.length
    ? { ok: false as const, refusal: 'invalid-request' as const, errors: unknown.results }
    : other
