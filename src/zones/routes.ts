import { Hono } from 'hono'
import { MAX_ZONES, type Zone, type ZoneRecord } from '../domain/geo/zone.ts'
import { applyPatch } from '../http/body/patch.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { byId, replyList } from '../http/paging/list.ts'
import { editResource } from '../http/reply/editResource.ts'
import { requireInPath } from '../http/reply/notFound.ts'
import { reply, replyWithEtag } from '../http/reply/reply.ts'
import * as contract from './contract.ts'
import { createZones, deleteZone, updateZone } from './edit.ts'
import { readFeatures } from './geojson.ts'
import { presentFeature, presentZone } from './present.ts'
import { findZone, listZones } from './store.ts'

const presentOne = (zone: Zone) => ({ success: true as const, zone: presentZone(zone) })

/** The zone in the path. */
const requireZone = (c: Context): Promise<Zone> =>
  requireInPath(c, 'zoneId', (id) => findZone(c.get('db'), c.get('principal').accountId, id))

const addZones = async (c: Context, records: ZoneRecord[]): Promise<Zone[]> => {
  const { accountId } = c.get('principal')
  const ids = await Promise.all(records.map(() => c.get('newId')('zon')))
  // Zones are listed by id: those of a file stay in its order.
  ids.sort()
  const zones = records.map((record, at) => ({ id: ids[at] ?? '', record }))
  const outcome = await createZones(c.get('db'), { accountId, zones, now: Date.now() })
  return requireOk(outcome).zones
}

const editZone = (c: Context, change: (before: Zone) => ZoneRecord) =>
  editResource(c, {
    find: () => requireZone(c),
    change,
    write: (before, record) => {
      const { accountId } = c.get('principal')
      return updateZone(c.get('db'), { accountId, before, record, now: Date.now() })
    },
  })

export const zones = new Hono<AppEnv>()
  .get('/', operation(contract.listZones), (c) =>
    replyList(c, contract.listZones, c.req.valid('query'), {
      read: ([after = ''], limit) =>
        listZones(c.get('db'), c.get('principal').accountId, String(after), limit),
      positionOf: byId,
      toBody: (rows) => ({ zones: rows.map(presentZone) }),
    }),
  )
  .post('/', operation(contract.createZone), async (c) => {
    const [zone] = await addZones(c, [c.req.valid('json')])
    if (!zone) throw new Problem('unavailable')
    return replyWithEtag(c, contract.createZone, presentOne(zone), {
      version: zone.version,
      location: `/api/zones/${zone.id}`,
    })
  })
  .get('/:zoneId', operation(contract.readZone), async (c) => {
    const zone = await requireZone(c)
    return replyWithEtag(c, contract.readZone, presentOne(zone), zone)
  })
  .put('/:zoneId', operation(contract.replaceZone), async (c) => {
    const { zone } = await editZone(c, () => c.req.valid('json'))
    return replyWithEtag(c, contract.replaceZone, presentOne(zone), zone)
  })
  .patch('/:zoneId', operation(contract.patchZone), async (c) => {
    const patch = c.req.valid('json')
    const { zone } = await editZone(c, (before) =>
      applyPatch(patch, presentZone(before), contract.replaceZone),
    )
    return replyWithEtag(c, contract.patchZone, presentOne(zone), zone)
  })
  .delete('/:zoneId', operation(contract.deleteZone), async (c) => {
    const { accountId } = c.get('principal')
    const deletion = { accountId, id: c.req.param('zoneId'), versions: c.get('ifMatch') }
    requireOk(await deleteZone(c.get('db'), deletion))
    return reply(c, contract.deleteZone, { success: true })
  })

/** All zones as one GeoJSON document. */
export const zoneCollection = new Hono<AppEnv>()
  .get('/', operation(contract.exportZones), async (c) => {
    const all = await listZones(c.get('db'), c.get('principal').accountId, '', MAX_ZONES)
    return reply(c, contract.exportZones, {
      success: true,
      type: 'FeatureCollection',
      features: all.map(presentFeature),
    })
  })
  .post('/', operation(contract.importZones), async (c) => {
    const created = await addZones(c, readFeatures(c.req.valid('json').features))
    return reply(
      c,
      contract.importZones,
      { success: true, zones: created.map(presentZone) },
      { Location: '/api/zones' },
    )
  })
