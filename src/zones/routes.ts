import { Hono } from 'hono'
import { withWriter } from '../db/open.ts'
import { recordAudit } from '../db/queries/audit.ts'
import { changesBetween } from '../domain/admin/audit.ts'
import { MAX_ZONES } from '../domain/geo/zone.ts'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { requireOk } from '../http/contract/problem.ts'
import { reply } from '../http/reply/reply.ts'
import { inAccount, resourceRoutes } from '../http/resource/routes.ts'
import { writerOf } from '../http/writer.ts'
import * as contract from './contract.ts'
import { createZone, createZones, deleteZone, updateZone } from './edit.ts'
import { readFeatures } from './geojson.ts'
import { presentFeature, presentZone } from './present.ts'
import { ownZones } from './store.ts'

export const zones = resourceRoutes(contract.zones, {
  ...inAccount(ownZones),
  prefix: 'zon',
  present: presentZone,
  create: createZone,
  update: updateZone,
  remove: deleteZone,
})

/** All zones as one GeoJSON document. */
export const zoneCollection = new Hono<AppEnv>()
  .get('/', operation(contract.exportZones), async (c) => {
    const { accountId } = c.get('principal')
    const { rows } = await ownZones.list(c.get('db'), accountId, '', MAX_ZONES)
    await recordAudit(withWriter(c.get('db'), writerOf(c)), {
      accountId,
      now: Date.now(),
      action: 'zones.exported',
      resource: { type: 'account', id: accountId },
      changes: changesBetween(null, { zones: rows.length }),
    })
    return reply(c, contract.exportZones, {
      success: true,
      type: 'FeatureCollection',
      features: rows.map(presentFeature),
    })
  })
  .post('/', operation(contract.importZones), async (c) => {
    const { accountId } = c.get('principal')
    const records = readFeatures(c.req.valid('json').features)
    const ids = await Promise.all(records.map(() => c.get('newId')('zon')))
    // Zones are listed by id: those of a file stay in its order.
    ids.sort()
    const created = requireOk(
      await createZones(c.get('db'), {
        accountId,
        zones: records.map((record, at) => ({ id: ids[at] ?? '', record })),
        now: Date.now(),
      }),
    )
    return reply(
      c,
      contract.importZones,
      { success: true, zones: created.zones.map(presentZone) },
      { Location: '/api/zones' },
    )
  })
