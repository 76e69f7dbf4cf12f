import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { touchRulesVersion } from '../db/queries/rulesVersion.ts'
import { rules, zones } from '../db/schema.ts'
import { names, runBatch, statement, valuesOf } from '../db/statement.ts'
import {
  countVertices,
  MAX_ACCOUNT_VERTICES,
  MAX_ZONES,
  type Zone,
  type ZoneRecord,
} from '../domain/geo/zone.ts'
import { isOwnZone, selectZone, selectZonesOf, toZone, type ZoneRow } from './store.ts'

/* Each edit is one atomic batch with its whole condition in every statement. */

type Refusal = 'zone-not-found' | 'zone-cap-reached' | 'zone-in-use' | 'precondition-failed'
export type ZoneRefusal = { ok: false; refusal: Refusal }

const refuse = (refusal: Refusal): ZoneRefusal => ({ ok: false, refusal })

const COLUMNS = names(
  zones.id,
  zones.accountId,
  zones.name,
  zones.description,
  zones.color,
  zones.shape,
  zones.vertices,
  zones.creation,
  zones.lastModified,
  zones.version,
)

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
  const list = given.map(({ id, record }) => {
    const { name, description, color, shape } = record
    return [id, name, description, color, JSON.stringify(shape), countVertices(shape)]
  })
  const vertices = given.reduce((sum, { record }) => sum + countVertices(record.shape), 0)
  const ids = JSON.stringify(given.map(({ id }) => id))
  const [, found] = await runBatch(db, [
    statement(
      db,
      sql`INSERT INTO ${zones} (${COLUMNS})
        SELECT value ->> 0, ${accountId}, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
          value ->> 5, ${now}, ${now}, 1
        FROM json_each(${JSON.stringify(list)})
        WHERE (SELECT count(*) <= ${MAX_ZONES - given.length}
          AND ifnull(sum(${zones.vertices}), 0) <= ${MAX_ACCOUNT_VERTICES - vertices}
          FROM ${zones} WHERE ${zones.accountId} = ${accountId})
        ON CONFLICT DO NOTHING`,
    ),
    selectZonesOf(db, { accountId, ids }),
  ])
  if (found.results.length < given.length) return refuse('zone-cap-reached')
  return { ok: true, zones: found.results.map(toZone) }
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
  const [written, , found] = await runBatch(db, [
    statement<{ version: number }>(
      db,
      sql`UPDATE ${zones} SET name = ${name}, description = ${description}, color = ${color},
          shape = ${JSON.stringify(shape)}, vertices = ${vertices}, last_modified = ${now},
          version = ${zones.version} + 1
        WHERE ${isOwnZone(accountId, before.id)} AND ${zones.version} = ${before.version}
          AND (SELECT ifnull(sum(vertices), 0) FROM ${zones} others
            WHERE others.account_id = ${accountId} AND others.id <> ${before.id})
            <= ${MAX_ACCOUNT_VERTICES - vertices}
        RETURNING version`,
    ),
    touchRulesVersion(db, accountId),
    selectZone(db, accountId, before.id),
  ])
  const row = found.results[0] as ZoneRow | undefined
  if (!row) return refuse('zone-not-found')
  if (written.results.length === 1) return { ok: true, zone: toZone(row) }
  return refuse(row.version === before.version ? 'zone-cap-reached' : 'precondition-failed')
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
  const isExpected = versions ? sql`${zones.version} IN ${valuesOf(versions)}` : sql`true`
  const [before, deleted] = await runBatch(db, [
    statement<{ version: number }>(
      db,
      sql`SELECT ${zones.version} FROM ${zones} WHERE ${isOwnZone(accountId, id)}`,
    ),
    statement<{ id: string }>(
      db,
      sql`DELETE FROM ${zones} WHERE ${isOwnZone(accountId, id)} AND ${isExpected}
        AND NOT ${isUsed} RETURNING id`,
    ),
  ])
  if (deleted.results.length === 1) return { ok: true }
  const [row] = before.results
  if (!row) return refuse('zone-not-found')
  const isOutdated = versions && !versions.includes(row.version)
  return refuse(isOutdated ? 'precondition-failed' : 'zone-in-use')
}
