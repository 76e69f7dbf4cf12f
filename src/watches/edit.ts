import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { appendEvent } from '../db/queries/events.ts'
import { type Deletion, deleteOwned, type Edit, refuse, updateOwned } from '../db/queries/owned.ts'
import type { Viewer } from '../db/queries/visibility.ts'
import { devices, watches } from '../db/schema.ts'
import { checkAtOf, countContact, editProgress, type Watch } from '../domain/watch/watch.ts'
import { checkedInEvent } from './events.ts'
import { PAST_DUE, UNKNOWN_DEVICE, type WatchBody } from './progress.ts'
import { recordOf } from './rows.ts'
import { findDeviceKey, findVisibleWatch, ownWatches } from './store.ts'

const MAX_TRIES = 20

/** The event of a contact that counts and that the edit records. */
const appendFound = (db: Database, before: Watch, found: Watch, now: number) => {
  const { accountId, deviceId, id, version } = before
  const { lastCheckIn: at } = found
  if (at === null || at === before.lastCheckIn) return []
  const event = checkedInEvent(before, found, { at, given: 'any', now })
  const isWritten = sql`EXISTS (SELECT 1 FROM ${watches} WHERE ${ownWatches.isOwn(accountId, id)}
    AND ${watches.version} = ${version + 1} AND ${watches.lastModified} = ${now})`
  return appendEvent(db, { ...event, accountId, deviceId }, isWritten)
}

const writeEdit = (
  db: Database,
  read: Watch,
  { deviceId, ...body }: WatchBody,
  { deviceKey, now }: { deviceKey: number; now: number },
) => {
  const { accountId, state, since, nextDue, reminded, lastCheckIn } = read
  const found = { ...read, ...countContact(read) }
  const progress = editProgress(found, { ...body, deviceId }, now)
  if (!progress) return refuse('watch-ended')
  const record = recordOf(body)
  const edit = { accountId, before: read, record: { ...body, deviceId }, now }
  return updateOwned(db, ownWatches, edit, {
    set: {
      deviceKey,
      record,
      ...progress,
      checkAt: checkAtOf(record, progress),
      lastModified: now,
    },
    references: [{ table: devices, what: 'device', pointer: '/deviceId', ids: deviceId }],
    condition: sql`${watches.state} = ${state} AND ${watches.since} = ${since}
      AND ${watches.nextDue} = ${nextDue} AND ${watches.reminded} IS ${reminded}
      AND ${watches.lastCheckIn} IS ${lastCheckIn}`,
    otherwise: 'conflict',
    thereafter: appendFound(db, read, found, now),
  })
}

/** A check-in or the sweep that comes between is no edit: the edit runs again with what it wrote. */
export const updateWatch = async (
  db: Database,
  { accountId, before, record: body, now }: Edit<Watch, WatchBody>,
  viewer: Viewer,
) => {
  if (body.due !== null && body.due !== before.due && body.due <= now) return PAST_DUE
  const isSameDevice = body.deviceId === before.deviceId
  const deviceKey = isSameDevice ? before.deviceKey : await findDeviceKey(db, viewer, body.deviceId)
  if (deviceKey === null) return UNKNOWN_DEVICE
  let read = before
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const outcome = await writeEdit(db, read, body, { deviceKey, now })
    if (outcome.ok || outcome.refusal !== 'conflict') return outcome
    const again = await ownWatches.find(db, accountId, before.id)
    if (!again) return refuse('watch-not-found')
    if (again.version !== before.version) return refuse('precondition-failed')
    read = again
  }
  return refuse('conflict')
}

export const deleteWatch = async (db: Database, deletion: Deletion, viewer: Viewer) =>
  (await findVisibleWatch(db, viewer, deletion.id))
    ? deleteOwned(db, ownWatches, deletion)
    : refuse('watch-not-found')
