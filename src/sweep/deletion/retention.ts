import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { base32TimeOf } from '../../db/ids.ts'
import { isHere } from '../../db/movedCell.ts'
import type { Database } from '../../db/open.ts'
import { DELETE_ALERTS_QUERIES, deleteAlerts } from '../../db/queries/alerts.ts'
import { STORED_BYTES } from '../../db/queries/locations.ts'
import { select } from '../../db/query.ts'
import { accounts, alerts, devices, locations, sweepPositions } from '../../db/schema.ts'
import { literal, readFirst, statement } from '../../db/statement.ts'
import { type CellRun, runPart, savePosition } from '../run.ts'
import { deleteLocations, deletePages, LOCATION_PAGE, LOCATION_QUERIES } from './deletePage.ts'

/* Deletes locations and alerts that are older than their account keeps them (`retentionDays`). */

const MAX_DEVICES_PER_RUN = 500
const MAX_PAGES = 50
export const MAX_RETENTION_QUERIES = 2 + MAX_PAGES * (DELETE_ALERTS_QUERIES + LOCATION_QUERIES)
/** The name under which `sweep_positions` stores how far this part has come. */
const PART = 'tracks'
const DAY = literal(86_400_000)

/** The devices of one run, in the order of their keys. */
interface Slice {
  now: number
  /** The key before the first device. */
  after: number
  last: number
}

const isInSlice = ({ after, last }: Slice): SQL =>
  sql`${devices.key} > ${after} AND ${devices.key} <= ${last}`

/** The time before which a device's account keeps nothing. */
const cutoff = ({ now }: Slice): SQL => sql`(${now} - ${accounts.retentionDays} * ${DAY})`

const newest = alias(locations, 'newest')

/** The last location of a device is always kept: a device that is silent keeps its position. */
const selectOldLocations = (slice: Slice): SQL => {
  const lastTime = sql`(SELECT max(${newest.time}) FROM ${locations} ${newest}
    WHERE ${newest.deviceKey} = ${devices.key})`
  return sql`SELECT ${locations.deviceKey}, ${locations.time}, ${devices.accountId},
      ${STORED_BYTES} AS bytes
    FROM ${devices} CROSS JOIN ${accounts} ON ${accounts.id} = ${devices.accountId} AND ${isHere(accounts.id)}
    CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
      AND ${locations.time} < min(${cutoff(slice)}, ${lastTime})
    WHERE ${isInSlice(slice)} ORDER BY ${devices.key}, ${locations.time}`
}

/**
 * An alert is kept from its arrival: a late SOS stays. Its own time is at most ten minutes later, so
 * the index by time finds the candidates. Alerts of earlier releases tell it by their id alone.
 */
const selectOldAlerts = (slice: Slice): SQL =>
  sql`SELECT ${alerts.id}, ${alerts.accountId} FROM ${devices}
    CROSS JOIN ${accounts} ON ${accounts.id} = ${devices.accountId} AND ${isHere(accounts.id)}
    CROSS JOIN ${alerts} ON ${alerts.deviceKey} = ${devices.key}
      AND ${alerts.time} < ${cutoff(slice)} + ${DAY}
      AND ${alerts.id} < 'alr_' || ${base32TimeOf(cutoff(slice))}
      AND ifnull(${alerts.receivedAt}, 0) < ${cutoff(slice)}
    WHERE ${isInSlice(slice)} ORDER BY ${devices.key}, ${alerts.time}, ${alerts.id}`

/** False when there is more than one run may delete. A failure is logged and left to later runs. */
const trimSlice = async ({ cell, db, take }: CellRun, slice: Slice): Promise<boolean> => {
  const oldAlerts = selectOldAlerts(slice)
  const oldLocations = selectOldLocations(slice)
  const works = [
    { queries: DELETE_ALERTS_QUERIES, deleteNext: () => deleteAlerts(db, oldAlerts) },
    {
      queries: LOCATION_QUERIES,
      deleteNext: async () => (await deleteLocations(db, oldLocations)) === LOCATION_PAGE,
    },
  ]
  let isDone = true
  for (const work of works) {
    let pages = 0
    const takePage = (count?: number) => pages++ < MAX_PAGES && take(count)
    const outcome = await runPart('retention', { cell }, () =>
      deletePages({ ...work, take: takePage }),
    )
    if (outcome === false) isDone = false
  }
  return isDone
}

const POSITION = sql`ifnull((SELECT ${sweepPositions.position} FROM ${sweepPositions}
  WHERE ${sweepPositions.part} = ${PART}), 0)`

const readNext = async (db: Database) => {
  const next = sql`SELECT ${devices.key} FROM ${devices} WHERE ${devices.key} > ${POSITION}
    ORDER BY ${devices.key} LIMIT ${literal(MAX_DEVICES_PER_RUN)}`
  const columns = {
    after: sql<number>`${POSITION}`,
    last: sql<number | null>`max(key)`,
    count: sql<number>`count(*)`,
  }
  const found = await readFirst(statement(db, select(columns, sql`FROM (${next})`)))
  return found ?? { after: 0, last: null, count: 0 }
}

/**
 * Goes through the next few hundred devices in the order of their keys, and round again. A device
 * with nothing to delete costs a few seeks, however long its track. Devices whose rows cannot be
 * deleted are passed over until the next round.
 */
export const enforceRetention = async (run: CellRun): Promise<void> => {
  const { db, now, take } = run
  if (!take(2)) return
  const { after, last, count } = await readNext(db)
  if (last !== null && !(await trimSlice(run, { now, after, last }))) return
  const position = count < MAX_DEVICES_PER_RUN ? 0 : (last ?? 0)
  if (position !== after) await savePosition(db, PART, position)
}
