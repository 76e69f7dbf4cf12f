import { sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { LOCATION_COLUMNS } from '../../db/queries/locations.ts'
import { type DeviceName, devicesNamedIn, nameOf } from '../../db/queries/namedDevices.ts'
import type { Viewer } from '../../db/queries/visibility.ts'
import { select } from '../../db/query.ts'
import { archivedMonths, devices, locations } from '../../db/schema.ts'
import {
  commaSeparated,
  compile,
  literal,
  names,
  type Placeholders,
  readAll,
  runBatch,
} from '../../db/statement.ts'
import { monthOf } from '../../domain/time/month.ts'
import { logFailure } from '../../log.ts'
import { readTimes } from './monthFile.ts'
import type { TrackRow } from './parquet.ts'
import { isRecent } from './store.ts'

/*
 * Reports of what a moved month has already. The archived location is copied back into the cell, so
 * that the repeat is found there as any other: a duplicate or a conflict.
 */

interface Reported {
  deviceId: string | null
  identifier: string | null
  arrivals: { location: { dateTime: number } }[]
}

interface Old {
  name: DeviceName
  times: Set<number>
}

/** Each device and month may take reads of the bucket, which a request has a limit of. */
const MAX_DEVICES = 50
const MAX_GROUPS = 50

const findOld = (reported: readonly Reported[]): Old[] =>
  reported
    .flatMap((device) => {
      const times = device.arrivals.map(({ location }) => location.dateTime)
      const old = new Set(times.filter((time) => !isRecent(time)))
      return old.size > 0 ? [{ name: nameOf(device), times: old }] : []
    })
    .slice(0, MAX_DEVICES)

const selectDevices = compile((p: Placeholders<Viewer & { refs: string }>) =>
  select(
    { part: sql<number>`sent.key`, key: devices.key },
    sql`FROM ${devicesNamedIn(sql`${p.refs}`)}`,
  ),
)

const selectMonths = compile((p: Placeholders<{ accountId: string; months: string }>) =>
  select(
    {
      month: archivedMonths.month,
      object: archivedMonths.object,
      bytes: archivedMonths.bytes,
    },
    sql`FROM ${archivedMonths} WHERE ${archivedMonths.accountId} = ${p.accountId}
      AND ${archivedMonths.month} IN (SELECT value FROM json_each(${p.months}))`,
  ),
)

const COLUMNS = { deviceKey: locations.deviceKey, ...LOCATION_COLUMNS }
const MEMBERS = Object.keys(COLUMNS) as (keyof TrackRow)[]

const insertRows = compile((p: Placeholders<{ rows: string }>) => {
  const values = MEMBERS.map((_, index) => sql`value ->> ${literal(index)}`)
  return sql`INSERT INTO ${locations} (${names(...Object.values(COLUMNS))})
    SELECT ${commaSeparated(values)} FROM json_each(${p.rows}) WHERE true ON CONFLICT DO NOTHING`
})

const recall = async (
  db: Database,
  history: R2Bucket,
  viewer: Viewer,
  old: readonly Old[],
): Promise<void> => {
  const reportedMonths = new Set(old.flatMap(({ times }) => [...times].map(monthOf)))
  const { found, months } = await runBatch(db, {
    found: selectDevices(db, { ...viewer, refs: JSON.stringify(old.map(({ name }) => name)) }),
    months: selectMonths(db, { ...viewer, months: JSON.stringify([...reportedMonths]) }),
  })
  const recalled: TrackRow[] = []
  let left = MAX_GROUPS
  for (const { part, key: deviceKey } of found.results) {
    const { times } = old[part] as Old
    for (const month of months.results) {
      const own = [...times].filter((time) => monthOf(time) === month.month)
      if (own.length === 0 || left <= 0) continue
      const { rows, groups } = await readTimes(history, month, { deviceKey, times: own, max: left })
      left -= groups
      recalled.push(...rows.map((row) => ({ deviceKey, ...row })))
    }
  }
  if (recalled.length === 0) return
  const rows = recalled.map((row) => MEMBERS.map((member) => row[member]))
  await readAll(insertRows(db, { rows: JSON.stringify(rows) }))
}

/** A bucket that does not answer must not hold up a report for longer. */
const MAX_WAIT_MS = 3000

/**
 * Costs nothing unless a report has locations that may be archived. What is not recalled, because it
 * is too much or the bucket fails, is stored, and readers never see it: no report is lost for it.
 */
export const recallArchived = async (
  db: Database,
  viewer: Viewer,
  reported: readonly Reported[],
): Promise<void> => {
  const { history } = db
  const old = history ? findOld(reported) : []
  if (!history || old.length === 0) return
  const recalled = recall(db, history, viewer, old).catch((error) =>
    logFailure('history-recall-failed', error, { account: viewer.accountId }),
  )
  await Promise.race([recalled, scheduler.wait(MAX_WAIT_MS)])
}
