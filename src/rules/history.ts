import { sql } from 'drizzle-orm'
import { fixColumns, packMembers } from '../db/queries/fixes.ts'
import type { LocationRow } from '../db/queries/locations.ts'
import { type DeviceRef, isVisibleDevice } from '../db/queries/visibility.ts'
import { select } from '../db/query.ts'
import { devices, locations } from '../db/schema.ts'
import { compile, type Placeholders } from '../db/statement.ts'
import type { Rule } from '../domain/rule/rule.ts'
import { type FixRow, pickCompared } from '../domain/track/fix.ts'
import type { LongReplySlot } from '../http/admission/longReply.ts'
import { readFurtherPages, SPAN_PAGE_ROWS } from '../http/paging/spanPages.ts'
import { readAcross } from '../locations/store.ts'
import type { ServiceContext } from '../serviceContext.ts'
import { comparedMembers } from './evaluate/signals.ts'

/* The track that a rule is tried on. */

export interface Span {
  deviceId: string
  from: number
  to: number
}

interface PageValues extends DeviceRef {
  from: number
  to: number
  limit: number
  members: string
}

const selectFixes = compile((p: Placeholders<PageValues>) =>
  select(
    { ...fixColumns(sql`${p.members}`), receivedAt: locations.receivedAt },
    sql`FROM ${devices} CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
      WHERE ${isVisibleDevice(p)} AND ${locations.time} BETWEEN ${p.from} AND ${p.to}
      ORDER BY ${locations.time} LIMIT ${p.limit}`,
  ),
)

export type PageRow = FixRow & { receivedAt: number }

/** The fixes of a span, in order of time. */
export const readHistory = async (
  { db, accountId }: ServiceContext,
  rule: Rule,
  span: Span,
  slot: LongReplySlot,
): Promise<PageRow[]> => {
  const members = comparedMembers(rule)
  const page = {
    accountId,
    groupId: null,
    ...span,
    limit: SPAN_PAGE_ROWS,
    members: packMembers(members),
  } as const
  const toRow = ({ rest, ...row }: LocationRow): PageRow => {
    const compared = pickCompared(rest, members)
    return { ...row, rest: compared && JSON.stringify(compared) }
  }
  const read = (from: number) =>
    readAcross(db, { ...page, from }, selectFixes(db, { ...page, from }), toRow)
  return readFurtherPages(await read(span.from), (from) =>
    slot.readInTurn({ rows: SPAN_PAGE_ROWS, read: () => read(from) }),
  )
}
