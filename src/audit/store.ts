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

const isId = (text: string): boolean => text.includes('_')

const filtersOf = ({ actor, action, resource }: AuditQuery): SQL[] => [
  ...(actor === undefined ? [] : [sql`${actor} IN (${audit.actorId}, ${audit.actorType})`]),
  ...(action === undefined
    ? []
    : [
        sql`(${audit.action} = ${action} OR ${audit.action} LIKE ${`${action.replaceAll(/[%_]/g, '')}.%`})`,
      ]),
  ...(resource === undefined || isId(resource) ? [] : [sql`${audit.resourceType} = ${resource}`]),
]

/** Ids begin with the time, so a span of time is a range of them. */
const idAt = (time: number): string => `aud_${base32Time(time)}`

const rangeOf = ({ accountId, resource, before, from, to }: AuditQuery): SQL =>
  and(
    accountId === null ? sql`true` : sql`${audit.accountId} = ${accountId}`,
    resource !== undefined && isId(resource) ? sql`${audit.resourceId} = ${resource}` : undefined,
    before === '' ? undefined : sql`${audit.id} < ${before}`,
    from === undefined ? undefined : sql`${audit.id} >= ${idAt(from)}`,
    to === undefined ? undefined : sql`${audit.id} < ${idAt(to)}`,
  ) ?? sql`true`

/** Newest first. A filter that few entries match may end a page early. */
export const listAudit = async (db: Database, query: AuditQuery): Promise<Page<AuditRow>> => {
  const { limit } = query
  const filters = filtersOf(query)
  const scanned = (count: number) =>
    sql`(SELECT * FROM ${audit} WHERE ${rangeOf(query)} ORDER BY ${audit.id} DESC LIMIT ${count}) ${audit}`
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
        select(
          { id: audit.id },
          sql`FROM ${audit} WHERE ${rangeOf(query)}
            ORDER BY ${audit.id} DESC LIMIT 1 OFFSET ${count - 1}`,
        ),
      ),
  })
  return toPage(rows, limit, byId, end)
}
