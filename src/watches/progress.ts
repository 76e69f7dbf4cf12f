import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { type Creation, createOwned, refuse } from '../db/queries/owned.ts'
import { refuseUnknown } from '../db/queries/references.ts'
import type { Viewer } from '../db/queries/visibility.ts'
import { select } from '../db/query.ts'
import { accounts, devices, watches } from '../db/schema.ts'
import { readFirst, statement } from '../db/statement.ts'
import { LINK_BYTES, makeLink } from '../domain/message/link.ts'
import {
  checkAtOf,
  checkIn,
  countContact,
  extendWatch,
  isCheckIn,
  isRunning,
  MAX_WATCHES,
  overdueAt,
  startWatch,
  type Watch,
  type WatchCounts,
  type WatchProgress,
  type WatchRecord,
} from '../domain/watch/watch.ts'
import { pokeFeed } from '../feed/stub.ts'
import type { ServiceContext } from '../serviceContext.ts'
import { checkedInEvent } from './events.ts'
import {
  recordOf,
  toWatch,
  WATCH_COLUMNS,
  WATCHES_WITH_DEVICES,
  type WatchChange,
  writeWatches,
} from './rows.ts'
import { findDeviceKey, ownWatches, readRunning } from './store.ts'

/* Starting a watch, and its steps: by the API, by a link, and by messages of the device. */

/** A watch as it is created and replaced. */
export type WatchBody = WatchRecord & { deviceId: string }

export type WatchStep =
  /** `given`: a message of the device, or a person. `at`: when it arrived. */
  | { action: 'checkIn'; given: WatchCounts; at: number }
  /** `at`: when it was said, if not now. */
  | { action: 'extend'; due: number; at?: number }
  | { action: 'complete' }
  | { action: 'cancel' }

export type StepOutcome =
  | { ok: true; watch: Watch }
  | { ok: false; refusal: 'watch-ended' | 'watch-not-found' | 'conflict' }

type StepContext = Pick<ServiceContext, 'env' | 'db' | 'cell' | 'waitUntil'>

/** The watches of a device that wait for a check-in, oldest first. */
export const findRunning = async (
  db: Database,
  accountId: string,
  deviceKey: number,
): Promise<Watch[]> => {
  const running = await readRunning(db, accountId, deviceKey)
  return running.filter((watch) => isRunning(countContact(watch)))
}

/** Null when there is no such link, or its account is deleted. */
export const findByLink = (db: Database, link: string) =>
  readFirst(
    statement(
      db,
      select(
        { ...WATCH_COLUMNS, deviceName: devices.name, timeZone: accounts.timeZone },
        sql`FROM ${WATCHES_WITH_DEVICES}
          CROSS JOIN ${accounts} ON ${accounts.id} = ${watches.accountId}
            AND ${accounts.deletedAt} IS NULL
          WHERE ${watches.link} = ${link}`,
      ).map(({ deviceName, timeZone, ...row }) => ({ ...toWatch(row), deviceName, timeZone })),
    ),
  )

/** What the page behind a link shows. */
export type LinkedWatch = NonNullable<Awaited<ReturnType<typeof findByLink>>>

const invalid = (pointer: string, detail: string) =>
  refuseUnknown({ results: [{ pointer, detail }] }, refuse('invalid-request'))

export const PAST_DUE = invalid('/due', 'must be in the future')
export const UNKNOWN_DEVICE = invalid('/deviceId', 'is not a device of this account')

/** A retry after a crash has the same id: it finds the watch and its link. */
export const createWatch = async (
  { db, cell, groupId }: Pick<ServiceContext, 'db' | 'cell'> & Pick<Viewer, 'groupId'>,
  creation: Creation<WatchBody>,
) => {
  const { accountId, now } = creation
  const { deviceId } = creation.record
  const record = recordOf(creation.record)
  if (record.due !== null && record.due <= now) return PAST_DUE
  const deviceKey = await findDeviceKey(db, { accountId, groupId }, deviceId)
  if (deviceKey === null) return UNKNOWN_DEVICE
  const progress = startWatch(record, now)
  const own = sql`FROM ${watches} WHERE ${watches.accountId} = ${accountId}`
  return createOwned(db, ownWatches, creation, {
    set: {
      deviceKey,
      record,
      ...progress,
      checkAt: checkAtOf(record, progress),
      link: makeLink(cell, crypto.getRandomValues(new Uint8Array(LINK_BYTES))),
      creation: now,
      lastModified: now,
    },
    references: [{ table: devices, what: 'device', pointer: '/deviceId', ids: deviceId }],
    condition: sql`(SELECT count(*) ${own} AND ${watches.state} IN ('active', 'overdue'))
      < ${MAX_WATCHES}`,
    otherwise: 'watch-limit-reached',
    thereafter: [
      sql`DELETE FROM ${watches} WHERE ${watches.id} IN (
        SELECT ${watches.id} ${own} AND ${watches.state} IN ('completed', 'cancelled')
        ORDER BY ${watches.id}
        LIMIT max(0, (SELECT count(*) ${own}) - ${MAX_WATCHES}))`,
    ],
  })
}

const progressAfter = (
  watch: Watch,
  before: WatchProgress,
  step: WatchStep,
  now: number,
): WatchProgress => {
  if (step.action === 'checkIn') {
    const after = isCheckIn(watch, step.given) ? checkIn(watch, before, step.at) : before
    // It arrived so late that the next deadline was missed too: the alert of this silence is raised.
    const isLate = after.state === 'active' && overdueAt(watch, after) <= now
    return isLate && before.state === 'overdue' ? { ...after, state: 'overdue' } : after
  }
  if (step.action === 'extend') return extendWatch(before, step.due, step.at ?? now)
  return { ...before, state: step.action === 'complete' ? 'completed' : 'cancelled' }
}

const ACTIONS = {
  checkIn: 'checkedIn',
  extend: 'extended',
  complete: 'completed',
  cancel: 'cancelled',
} as const

/** The change that a step makes, with contacts that nobody has recorded; null for a watch that ended. */
const planStep = (watch: Watch, step: WatchStep, now: number): WatchChange | null => {
  const before = countContact(watch)
  if (!isRunning(before)) return null
  const progress = progressAfter(watch, before, step, now)
  const events: WatchChange['events'] = []
  if (before.lastCheckIn !== null && before.lastCheckIn !== watch.lastCheckIn)
    events.push(checkedInEvent(watch, before, { at: before.lastCheckIn, given: 'any', now }))
  if (step.action === 'checkIn' && progress !== before)
    events.push(checkedInEvent(watch, progress, { at: step.at, given: step.given, now }))
  const due = step.action === 'extend' ? { due: step.due } : {}
  return { before: watch, progress, ...due, events, raise: null, action: ACTIONS[step.action] }
}

const MAX_TRIES = 20
/** One device may have as many watches as its account. */
const MAX_CHANGES = 200

/** Tries a step of some watches; returns those that something else has written meanwhile. */
const tryStep = async (
  { env, db, cell, waitUntil }: StepContext,
  changes: WatchChange[],
  now: number,
): Promise<Set<string>> => {
  const lost = new Set<string>()
  for (let at = 0; at < changes.length; at += MAX_CHANGES) {
    const page = changes.slice(at, at + MAX_CHANGES)
    const { written, subscribed } = await writeWatches(db, page, now)
    for (const accountId of subscribed) waitUntil(pokeFeed(env, { accountId, cell }))
    for (const { before } of page) if (!written.has(before.id)) lost.add(before.id)
  }
  return lost
}

/**
 * Takes a step, again after a lost race, with its event in the same batch. A check-in that does not
 * count for the watch, or that repeats the last one, leaves it as it is.
 */
export const takeStep = async (
  context: StepContext,
  watch: Watch,
  step: WatchStep,
  now: number,
): Promise<StepOutcome> => {
  const { accountId, id } = watch
  let read: Watch | null = watch
  for (let tries = 0; tries < MAX_TRIES && read; tries++) {
    const change = planStep(read, step, now)
    if (!change) return refuse('watch-ended')
    const lost = await tryStep(context, [change], now)
    read = await ownWatches.find(context.db, accountId, id)
    if (read && lost.size === 0) return { ok: true, watch: read }
  }
  return read ? refuse('conflict') : refuse('watch-not-found')
}

/**
 * Takes a step of all of these watches of a device in few queries, and returns how far they have
 * come, without those that have ended meanwhile. Null after too many lost races.
 */
export const takeStepOfAll = async (
  context: StepContext,
  watches: Watch[],
  step: WatchStep,
  now: number,
): Promise<WatchProgress[] | null> => {
  const taken: WatchProgress[] = []
  let left = watches
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const changes = left.flatMap((watch) => planStep(watch, step, now) ?? [])
    const lost = await tryStep(context, changes, now)
    for (const { before, progress } of changes) if (!lost.has(before.id)) taken.push(progress)
    const [first] = left
    if (!first || lost.size === 0) return taken
    const { accountId, deviceKey } = first
    const running = await findRunning(context.db, accountId, deviceKey)
    left = running.filter(({ id }) => lost.has(id))
  }
  return null
}
