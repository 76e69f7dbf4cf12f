import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { auditCreated } from '../db/queries/audit.ts'
import {
  type Creation,
  type Deletion,
  deleteOwned,
  type Edit,
  refuse,
  updateOwned,
} from '../db/queries/owned.ts'
import { touchIfChanged } from '../db/queries/rules/version.ts'
import { insertSelect } from '../db/query.ts'
import { accounts, rules, zones } from '../db/schema.ts'
import { runBatch } from '../db/statement.ts'
import {
  countVertices,
  MAX_ACCOUNT_VERTICES,
  MAX_ZONES,
  type Zone,
  type ZoneRecord,
} from '../domain/geo/zone.ts'
import { explainCap, mayHavePositions } from '../rules/positions.ts'
import { ownZones, selectZonesOf } from './store.ts'

interface NewZones {
  accountId: string
  zones: { id: string; record: ZoneRecord }[]
  now: number
}

/** The operator may allow fewer zones than the service. */
const maxZones = (accountId: string) =>
  sql`ifnull((SELECT ${accounts.maxZones} FROM ${accounts} WHERE ${accounts.id} = ${accountId}),
    ${MAX_ZONES})`

/** Creates all or none. A retry after a crash has the same ids: it finds them and adds nothing. */
export const createZones = async (db: Database, { accountId, zones: given, now }: NewZones) => {
  const list = given.map(({ id, record }) => ({
    id,
    ...record,
    vertices: countVertices(record.shape),
  }))
  const vertices = list.reduce((sum, zone) => sum + zone.vertices, 0)
  const ids = JSON.stringify(given.map(({ id }) => id))
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
        WHERE (SELECT count(*) + ${given.length} <= ${maxZones(accountId)}
          AND ifnull(sum(${zones.vertices}), 0) <= ${MAX_ACCOUNT_VERTICES - vertices}
          FROM ${zones} WHERE ${zones.accountId} = ${accountId})
        ON CONFLICT DO NOTHING`,
    ),
    audited: auditCreated(db, { accountId, now, type: 'zone', created: given }),
    found: selectZonesOf(db, { accountId, ids }),
  })
  if (found.results.length < given.length) return refuse('zone-cap-reached')
  return { ok: true as const, zones: found.results }
}

export const createZone = async (
  db: Database,
  { accountId, id, record, now }: Creation<ZoneRecord>,
) => {
  const outcome = await createZones(db, { accountId, zones: [{ id, record }], now })
  if (!outcome.ok) return outcome
  return { ok: true as const, row: outcome.zones[0] as Zone }
}

export const updateZone = async (db: Database, edit: Edit<Zone, ZoneRecord>) => {
  const { accountId, before, record, now } = edit
  const vertices = countVertices(record.shape)
  const outcome = await updateOwned(db, ownZones, edit, {
    set: { ...record, vertices, lastModified: now },
    condition: sql`(SELECT ifnull(sum(vertices), 0) FROM ${zones} others
      WHERE others.account_id = ${accountId} AND others.id <> ${before.id})
      <= ${MAX_ACCOUNT_VERTICES - vertices} AND ${mayHavePositions(accountId, before.id, vertices)}`,
    otherwise: 'zone-cap-reached',
    thereafter: [touchIfChanged(db, accountId)],
  })
  return explainCap(db, accountId, outcome)
}

export const deleteZone = (db: Database, deletion: Deletion) =>
  deleteOwned(db, ownZones, deletion, {
    inUse: {
      refusal: 'zone-in-use',
      condition: sql`EXISTS (
        SELECT 1 FROM ${rules}, json_each(${rules.record}, '$.when.zones') used
        WHERE ${rules.accountId} = ${deletion.accountId} AND used.value = ${deletion.id})`,
    },
  })
