import { type SQL, sql } from 'drizzle-orm'
import { type AuditEntry, changesBetween, type Writer } from '../../domain/admin/audit.ts'
import { base32, base32Time } from '../../domain/text/base32.ts'
import type { Database } from '../open.ts'
import { insertSelect } from '../query.ts'
import { audit } from '../schema.ts'
import { type Runnable, runBatch } from '../statement.ts'

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

/** The account of entries that concern the service itself; they are in cell 0. */
export const NO_ACCOUNT = ''

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

/** Records what no statement of the cell has written, such as an export, before it begins. */
export const recordAudit = async (db: Database, recorded: Recorded): Promise<void> => {
  await runBatch(db, [...auditWrite(db, recorded, sql`true`)])
}

interface RecordedEach {
  accountId: string
  now: number
  action: string
  type: string
  /** Of each row. */
  resourceId: SQL
  changes?: SQL
  /** FROM … */
  rows: SQL
}

/** The same as `auditWrite` for each of several resources; without its condition. */
export const auditEach = (
  { writer }: Database,
  { accountId, now, action, type, resourceId, changes = sql`'[]'`, rows }: RecordedEach,
): readonly Runnable[] => {
  if (!writer) return []
  const of = { action, resourceType: type, resourceId, changes }
  const id = sql`${`aud_${base32Time(now)}`} || substr(lower(hex(randomblob(7))), 1, ${RANDOM_LENGTH})`
  return [insertSelect(audit, { accountId, id, at: now, ...of, ...columnsOfWriter(writer) }, rows)]
}

interface Created extends Pick<RecordedEach, 'accountId' | 'now' | 'type'> {
  created: { id: string; record: object }[]
}

/** The entries of new resources, directly after the statement that inserts them all. */
export const auditCreated = (
  db: Database,
  { created, type, ...common }: Created,
): readonly Runnable[] => {
  const list = created.map(({ id, record }) => [id, changesBetween(null, record)])
  return auditEach(db, {
    ...common,
    action: `${type}.created`,
    type,
    resourceId: sql`value ->> 0`,
    changes: sql`value -> 1`,
    rows: sql`FROM json_each(${JSON.stringify(list)}) WHERE ${HAS_WRITTEN}`,
  })
}
