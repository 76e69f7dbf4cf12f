import { and, asc, eq, gt, ne, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { byId, type Page, toPage } from '../db/page.ts'
import { auditWrite } from '../db/queries/audit.ts'
import { editOutcome, refuse } from '../db/queries/owned.ts'
import { insertSelect } from '../db/query.ts'
import { operators } from '../db/schema.ts'
import { runBatch, valuesOf } from '../db/statement.ts'
import { type Change, changesBetween } from '../domain/admin/audit.ts'
import type { OperatorRole } from '../domain/admin/operator.ts'
import { emailKey } from '../domain/message/email.ts'

/* Operators are rows of cell 0. Their entries of the audit belong to no account. */

export type Operator = typeof operators.$inferSelect

export interface OperatorRecord {
  name: string
  role: OperatorRole
  email: string | null
  /** Of the key. */
  expires: number | null
}

/** A key as it is stored; the id tells it from the one before. */
interface NewKey {
  keyId: string
  hash: string
}

const keyOf = ({ email }: OperatorRecord): string | null =>
  email === null ? null : emailKey(email)

interface Entry {
  id: string
  verb: 'created' | 'updated' | 'deleted' | 'regenerated'
  now: number
  changes?: Change[]
}

const audited = (db: Database, { id, verb, now, changes = [] }: Entry) =>
  auditWrite(db, {
    accountId: '',
    now,
    action: `operator.${verb}`,
    resource: { type: 'operator', id },
    changes,
  })

/** Whether no other operator has the address. */
const isFree = (id: string, record: OperatorRecord) =>
  sql`NOT EXISTS (SELECT 1 FROM ${operators}
    WHERE ${and(eq(operators.emailKey, keyOf(record) ?? ''), ne(operators.id, id))})`

const selectOne = (db: Database, id: string) =>
  db.select().from(operators).where(eq(operators.id, id))

/** In the order of their ids, those after `after`. */
export const listOperators = async (
  db: Database,
  after: string,
  limit: number,
): Promise<Page<Operator>> => {
  const rows = await db
    .select()
    .from(operators)
    .where(gt(operators.id, after))
    .orderBy(asc(operators.id))
    .limit(limit + 1)
  return toPage(rows, limit, byId)
}

interface Creation {
  id: string
  record: OperatorRecord
  key: NewKey | null
  now: number
}

/** A retry after a crash has the same id but a new secret: nobody has seen the first one. */
export const createOperator = async (db: Database, { id, record, key, now }: Creation) => {
  const values = { id, ...record, emailKey: keyOf(record), ...key, version: 1 }
  const { found } = await runBatch(db, {
    inserted: insertSelect(
      operators,
      { ...values, creation: now, lastModified: now },
      sql`WHERE ${isFree(id, record)} ON CONFLICT (id) DO UPDATE SET hash = excluded.hash`,
    ),
    audited: audited(db, { id, verb: 'created', now, changes: changesBetween(null, record) }),
    found: selectOne(db, id),
  })
  const [row] = found.results
  return row ? { ok: true as const, row } : refuse('email-taken')
}

interface Edit {
  before: Operator
  record: OperatorRecord
  now: number
}

/** Writes only while the version is the one that was read. */
export const updateOperator = async (db: Database, { before, record, now }: Edit) => {
  const { id, version } = before
  const { written, found } = await runBatch(db, {
    written: db
      .update(operators)
      .set({ ...record, emailKey: keyOf(record), lastModified: now, version: version + 1 })
      .where(and(eq(operators.id, id), eq(operators.version, version), isFree(id, record))),
    audited: audited(db, { id, verb: 'updated', now, changes: changesBetween(before, record) }),
    found: selectOne(db, id),
  })
  const rows = { before, after: found.results[0] }
  return editOutcome('operator', written.meta.changes > 0, rows, refuse('email-taken'))
}

interface Deletion {
  id: string
  versions: number[] | null
  now: number
}

export const deleteOperator = async (db: Database, { id, versions, now }: Deletion) => {
  const isExpected = versions ? sql`${operators.version} IN ${valuesOf(versions)}` : sql`true`
  const { deleted, left } = await runBatch(db, {
    deleted: db.delete(operators).where(and(eq(operators.id, id), isExpected)),
    audited: audited(db, { id, verb: 'deleted', now }),
    left: selectOne(db, id),
  })
  if (deleted.meta.changes > 0) return { ok: true as const }
  return refuse(left.results.length > 0 ? 'precondition-failed' : 'operator-not-found')
}

interface Regeneration extends NewKey {
  id: string
  /** When the key before stops working. */
  overlapEnd: number
  expires: number | null
  now: number
}

/** A retry after a crash has the same id of the key: the key before it stays the one before. */
export const regenerateOperatorKey = async (
  db: Database,
  { id, keyId, hash, overlapEnd, expires, now }: Regeneration,
) => {
  const isRetry = sql`${operators.keyId} IS ${keyId}`
  const end = sql`min(${overlapEnd}, ifnull(${operators.expires}, ${overlapEnd}))`
  const { found } = await runBatch(db, {
    written: db
      .update(operators)
      .set({
        oldHash: sql`iif(${isRetry}, ${operators.oldHash}, ${operators.hash})`,
        oldExpires: sql`iif(${isRetry}, ${operators.oldExpires},
          iif(${operators.hash} IS NULL, NULL, ${end}))`,
        keyId,
        hash,
        expires,
        lastModified: now,
        version: sql`${operators.version} + 1`,
      })
      .where(eq(operators.id, id)),
    audited: audited(db, {
      id,
      verb: 'regenerated',
      now,
      changes: changesBetween(null, { expires, overlapEnd }),
    }),
    found: selectOne(db, id),
  })
  const [row] = found.results
  return row ? { ok: true as const, row } : refuse('operator-not-found')
}
