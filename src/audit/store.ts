import { and, type SQL, sql } from 'drizzle-orm'
import { readScan } from '../db/boundedScan.ts'
import type { Database } from '../db/open.ts'
import { byId, type Page, toPage } from '../db/page.ts'
import { type InferRow, select } from '../db/query.ts'
import { audit } from '../db/schema.ts'
import { statement } from '../db/statement.ts'
import { base32Time } from '../domain/text/base32.ts'

const COLUMNS = {
  accountId: audit.accountId,
  id: audit.id,
  at: audit.at,
  actorType: audit.actorType,
  actorId: audit.actorId,
  actorName: audit.actorName,
  action: audit.action,
  resourceType: audit.resourceType,
  resourceId: audit.resourceId,
  changes: audit.changes,
  requestId: audit.requestId,
  address: audit.address,
}
export type AuditRow = InferRow<typeof COLUMNS>

export interface AuditQuery {
  /** Null for all accounts of the cell and the service itself. */
  accountId: string | null
  from?: number | undefined
  to?: number | undefined
  actor?: string | undefined
  action?: string | undefined
  resource?: string | undefined
  /** The id that the page before ended with; empty for the first page. */
  before: string
  limit: number
}

/** Entries of one resource of an account have an index; others are filtered. */
const hasIndex = ({ accountId, resource }: AuditQuery): boolean =>
  accountId !== null && resource?.includes('_') === true

const filtersOf = ({ actor, action, resource, ...query }: AuditQuery): SQL[] => [
  ...(query.from === undefined ? [] : [sql`${audit.at} >= ${query.from}`]),
  ...(actor === undefined ? [] : [sql`${actor} IN (${audit.actorId}, ${audit.actorType})`]),
  ...(action === undefined
    ? []
    : [
        // Of D1, LIKE takes 50 bytes. After a full stop comes a slash.
        sql`(${audit.action} = ${action}
          OR (${audit.action} > ${`${action}.`} AND ${audit.action} < ${`${action}/`}))`,
      ]),
  ...(resource === undefined || hasIndex({ ...query, resource })
    ? []
    : [sql`${resource} IN (${audit.resourceId}, ${audit.resourceType})`]),
]

/** Ids begin with the time, so a span of time is a range of them. */
const idAt = (time: number): string => `aud_${base32Time(time)}`

/** An entry that counts, such as of sign-ins, has the id of the beginning of its hour. */
const startOfHour = (time: number): number => time - (time % 3_600_000)

/** The table and what is read of it, newest first. SQLite would not choose the index by itself. */
const rangeOf = (query: AuditQuery): SQL => {
  const { accountId, resource, before, from, to } = query
  const table = hasIndex(query) ? sql`${audit} INDEXED BY audit_resource` : sql`${audit}`
  const range = and(
    // A range of the index by ids.
    accountId === null ? sql`${audit.id} > ''` : sql`${audit.accountId} = ${accountId}`,
    hasIndex(query) ? sql`${audit.resourceId} = ${resource}` : undefined,
    before === '' ? undefined : sql`${audit.id} < ${before}`,
    from === undefined ? undefined : sql`${audit.id} >= ${idAt(startOfHour(from))}`,
    to === undefined ? undefined : sql`${audit.id} < ${idAt(to)}`,
  )
  return sql`${table} WHERE ${range} ORDER BY ${audit.id} DESC`
}

/** Newest first. A filter that few entries match may end a page early. */
export const listAudit = async (db: Database, query: AuditQuery): Promise<Page<AuditRow>> => {
  const { limit } = query
  const filters = filtersOf(query)
  const scanned = (count: number) => sql`(SELECT * FROM ${rangeOf(query)} LIMIT ${count}) ${audit}`
  const { rows, end } = await readScan(db, {
    isFiltered: filters.length > 0,
    limit,
    page: (count) =>
      statement(
        db,
        select(
          COLUMNS,
          sql`FROM ${scanned(count)} WHERE ${and(sql`true`, ...filters)}
            ORDER BY ${audit.id} DESC LIMIT ${limit + 1}`,
        ),
      ),
    end: (count) =>
      statement(
        db,
        select({ id: audit.id }, sql`FROM ${rangeOf(query)} LIMIT 1 OFFSET ${count - 1}`),
      ),
  })
  return toPage(rows, limit, byId, end)
}
