import { and, eq, not, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { touchAfter } from '../db/queries/rulesVersion.ts'
import { insertSelect } from '../db/query.ts'
import { rules, zones } from '../db/schema.ts'
import { runBatch, valuesOf } from '../db/statement.ts'
import {
  countVertices,
  MAX_ACCOUNT_VERTICES,
  MAX_ZONES,
  type Zone,
  type ZoneRecord,
} from '../domain/geo/zone.ts'
import { isOwnZone, selectZone, selectZonesOf } from './store.ts'

/* Each edit is one atomic batch with its whole condition in every statement. */

type Refusal = 'zone-not-found' | 'zone-cap-reached' | 'zone-in-use' | 'precondition-failed'
export type ZoneRefusal = { ok: false; refusal: Refusal }

const refuse = (refusal: Refusal): ZoneRefusal => ({ ok: false, refusal })

export interface NewZones {
  accountId: string
  zones: { id: string; record: ZoneRecord }[]
  now: number
}

/** Creates all or none. A retry after a crash has the same ids: it finds them and adds nothing. */
export const createZones = async (
  db: Database,
  { accountId, zones: given, now }: NewZones,
): Promise<{ ok: true; zones: Zone[] } | ZoneRefusal> => {
  const list = given.map(({ id, record }) => ({
    id,
    ...record,
    vertices: countVertices(record.shape),
  }))
  const vertices = list.reduce((sum, zone) => sum + zone.vertices, 0)
  const { found } = await runBatch(db, {
    inserted: insertSelect(
      zones,
      {
        id: sql`value ->> 'id'`,
        accountId,
        name: sql`value ->> 'name'`,
        description: sql`value ->> 'description'`,
        color: sql`value ->> 'color'`,
        shape: sql`value ->> 'shape'`,
        vertices: sql`value ->> 'vertices'`,
        creation: now,
        lastModified: now,
        version: 1,
      },
      sql`FROM json_each(${JSON.stringify(list)})
        WHERE (SELECT count(*) <= ${MAX_ZONES - given.length}
          AND ifnull(sum(${zones.vertices}), 0) <= ${MAX_ACCOUNT_VERTICES - vertices}
          FROM ${zones} WHERE ${zones.accountId} = ${accountId})
        ON CONFLICT DO NOTHING`,
    ),
    found: selectZonesOf(db, { accountId, ids: JSON.stringify(given.map(({ id }) => id)) }),
  })
  if (found.results.length < given.length) return refuse('zone-cap-reached')
  return { ok: true, zones: found.results }
}

export interface ZoneEdit {
  accountId: string
  before: Zone
  record: ZoneRecord
  now: number
}

export const updateZone = async (
  db: Database,
  { accountId, before, record, now }: ZoneEdit,
): Promise<{ ok: true; zone: Zone } | ZoneRefusal> => {
  const { name, description, color, shape } = record
  const vertices = countVertices(shape)
  const hasRoom = sql`(SELECT ifnull(sum(vertices), 0) FROM ${zones} others
    WHERE others.account_id = ${accountId} AND others.id <> ${before.id})
    <= ${MAX_ACCOUNT_VERTICES - vertices}`
  const update = db
    .update(zones)
    .set({
      name,
      description,
      color,
      shape,
      vertices,
      lastModified: now,
      version: before.version + 1,
    })
    .where(and(isOwnZone(accountId, before.id), eq(zones.version, before.version), hasRoom))
  const { written, found } = await runBatch(db, {
    written: touchAfter(db, accountId, update),
    found: selectZone(db, accountId, before.id),
  })
  const [zone] = found.results
  if (!zone) return refuse('zone-not-found')
  if (written[0].meta.changes === 1) return { ok: true, zone }
  return refuse(zone.version === before.version ? 'zone-cap-reached' : 'precondition-failed')
}

export interface ZoneDeletion {
  accountId: string
  id: string
  /** What If-Match names, compared at the moment of the write. */
  versions: number[] | null
}

export const deleteZone = async (
  db: Database,
  { accountId, id, versions }: ZoneDeletion,
): Promise<{ ok: true } | ZoneRefusal> => {
  const isUsed = sql`EXISTS (SELECT 1 FROM ${rules}, json_each(${rules.record}, '$.when.zones') used
    WHERE ${rules.accountId} = ${accountId} AND used.value = ${id})`
  const isExpected = versions ? sql`${zones.version} IN ${valuesOf(versions)}` : undefined
  const { before, deleted } = await runBatch(db, {
    before: db.select({ version: zones.version }).from(zones).where(isOwnZone(accountId, id)),
    deleted: db.delete(zones).where(and(isOwnZone(accountId, id), isExpected, not(isUsed))),
  })
  if (deleted.meta.changes === 1) return { ok: true }
  const [row] = before.results
  if (!row) return refuse('zone-not-found')
  const isOutdated = versions && !versions.includes(row.version)
  return refuse(isOutdated ? 'precondition-failed' : 'zone-in-use')
}
