import { type SQL, sql } from 'drizzle-orm'
import type { AuditEntry, Writer } from '../../domain/admin/audit.ts'
import { base32, base32Time } from '../../domain/text/base32.ts'
import type { Database } from '../open.ts'
import { insertSelect } from '../query.ts'
import { audit } from '../schema.ts'
import type { Runnable } from '../statement.ts'

const RANDOM_LENGTH = 13

/** Ids of the audit sort by time. */
export const newAuditId = (at: number): string =>
  `aud_${base32Time(at)}${base32(crypto.getRandomValues(new Uint8Array(9)), RANDOM_LENGTH)}`

/** An entry as it is stored. */
export interface StoredEntry extends AuditEntry {
  id: string
  at: number
  writer: Writer
}

/** Who writes, as the columns of an entry. */
export const columnsOfWriter = ({ actor, requestId, address }: Writer) => ({
  actorType: actor.type,
  actorId: actor.id,
  actorName: actor.name,
  requestId,
  address,
})
export type WriterColumns = ReturnType<typeof columnsOfWriter>

/** Stores an entry if the condition holds. A repeat has the same id and stores nothing. */
export const insertEntry = (
  accountId: string,
  { id, at, writer, action, resource, changes }: StoredEntry,
  condition: SQL = sql`true`,
): SQL => {
  const of = { resourceType: resource.type, resourceId: resource.id }
  const values = { accountId, id, at, action, ...of, changes, ...columnsOfWriter(writer) }
  return insertSelect(audit, values, sql`WHERE ${condition} ON CONFLICT DO NOTHING`)
}

/** True after a statement that has written something: the entry follows it in its batch. */
const HAS_WRITTEN = sql`changes() > 0`

interface Recorded extends Omit<AuditEntry, 'changes'> {
  accountId: string
  now: number
  changes?: AuditEntry['changes']
}

/**
 * What a batch adds to the audit, directly after the statement that it records: nothing where the
 * handle names no writer.
 */
export const auditWrite = (
  { writer }: Database,
  { accountId, now, changes = [], ...entry }: Recorded,
  condition = HAS_WRITTEN,
): readonly Runnable[] =>
  writer
    ? [
        insertEntry(
          accountId,
          { id: newAuditId(now), at: now, writer, ...entry, changes },
          condition,
        ),
      ]
    : []

/** The same for several new resources, whose ids are given as a JSON list. */
export const auditCreated = (
  { writer }: Database,
  { accountId, now, type, ids }: { accountId: string; now: number; type: string; ids: string },
): readonly Runnable[] => {
  if (!writer) return []
  const of = { action: `${type}.created`, resourceType: type, resourceId: sql`value` }
  const id = sql`'aud_' || substr(value, instr(value, '_') + 1)`
  return [
    insertSelect(
      audit,
      { accountId, id, at: now, ...of, changes: [], ...columnsOfWriter(writer) },
      sql`FROM json_each(${ids}) WHERE ${HAS_WRITTEN} ON CONFLICT DO NOTHING`,
    ),
  ]
}
