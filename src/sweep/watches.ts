import { overdueAt, settleWatch, type Watch } from '../domain/watch/watch.ts'
import { publicOrigin } from '../env.ts'
import { pokeFeed } from '../feed/stub.ts'
import { checkedInEvent, dueEvent, overdueEvent, toMissedAlert } from '../watches/events.ts'
import { remindDevice } from '../watches/remind.ts'
import {
  readDueWatches,
  readOverdueWatches,
  type WatchChange,
  WRITE_WATCHES_QUERIES,
  writeWatches,
} from '../watches/rows.ts'
import { handOver } from './pendingRaises.ts'
import { type CellRun, readPosition, runPart, savePosition } from './run.ts'

/* Watches whose reminder or deadline has come. Reports pay nothing for them. */

const PART = 'watches'
const MINUTE_MS = 60_000
const PAGE = 200
const MAX_PAGES = 20
/** Only read, unless their devices are in contact again. */
const OVERDUE_PAGE = 1000
const MAX_CALLS = 50
const PAGE_QUERIES = 1 + WRITE_WATCHES_QUERIES
/** Of one reminder: the device's channel, and its command before and after the network's answer. */
const REMIND_QUERIES = 6
const MAX_REMINDERS = 50
/** Leaves some for the other accounts of the cell. */
const MAX_REMINDERS_PER_ACCOUNT = 25
/** A Worker has six connections. */
const REMINDED_AT_ONCE = 5
export const MAX_WATCH_QUERIES = 2 + 2 * MAX_PAGES * PAGE_QUERIES + MAX_REMINDERS * REMIND_QUERIES

/** One run of this part, and the devices to remind at its end. */
interface WatchRun extends CellRun {
  toRemind: Watch[]
  reminders: number
  remindersByAccount: Map<string, number>
}

const mayRemind = (run: WatchRun, { accountId }: Watch): boolean => {
  const own = run.remindersByAccount.get(accountId) ?? 0
  if (own === MAX_REMINDERS_PER_ACCOUNT || run.reminders === MAX_REMINDERS) return false
  if (!run.take(REMIND_QUERIES)) return false
  run.reminders++
  run.remindersByAccount.set(accountId, own + 1)
  return true
}

interface Found extends WatchChange {
  isReminded: boolean
}

const toChange = async (watch: Watch, run: WatchRun): Promise<Found> => {
  const { env, now } = run
  const { progress, checkedInAt, isDue, isOverdue } = settleWatch(watch, now)
  const checkedIn =
    checkedInAt === null
      ? []
      : [checkedInEvent(watch, progress, { at: checkedInAt, given: 'any', now })]
  // Once it is overdue, the reminder would come too late.
  const isReminded = isDue && !isOverdue && watch.remindMinutes !== null
  if (isReminded && !mayRemind(run, watch)) {
    const later = { ...progress, reminded: watch.reminded }
    const checkAt = Math.min(now + MINUTE_MS, overdueAt(watch, later))
    const change = { before: watch, progress: later, checkAt, events: checkedIn, raise: null }
    return { ...change, isReminded: false }
  }
  const due = isDue ? [dueEvent(watch, progress, now)] : []
  const raise = isOverdue ? await toMissedAlert(watch, progress, publicOrigin(env) ?? '') : null
  const overdue = raise ? [overdueEvent(watch, progress, { alertId: raise.alert.id, now })] : []
  return { before: watch, progress, events: [...checkedIn, ...due, ...overdue], raise, isReminded }
}

/** Records what has become of some watches, then hands over their alerts. */
const settle = async (run: WatchRun, page: Watch[]): Promise<void> => {
  const { env, cell, db, now } = run
  const changes = await Promise.all(page.map((watch) => toChange(watch, run)))
  const { written, raised, subscribed } = await writeWatches(db, changes, now)
  const raises = changes.flatMap(({ before, raise }) =>
    raise && raised.has(raise.alert.id) ? [{ accountId: before.accountId, raise }] : [],
  )
  // What is left over, or lost in a crash, is raised by a later run.
  await handOver(run, PART, raises, MAX_CALLS)
  for (const { before, progress, isReminded } of changes)
    if (isReminded && written.has(before.id)) run.toRemind.push({ ...before, ...progress })
  await Promise.all(subscribed.map((accountId) => pokeFeed(env, { accountId, cell })))
}

/**
 * Settles watches of any accounts together. If that fails, each account's apart: one that is frozen
 * for a move, or has a row that is not valid, holds up no other.
 */
const settlePage = async (run: WatchRun, page: Watch[]): Promise<void> => {
  const byAccount = Map.groupBy(page, ({ accountId }) => accountId)
  try {
    await settle(run, page)
  } catch (error) {
    if (byAccount.size === 1) throw error
    for (const [account, own] of byAccount)
      if (run.take(WRITE_WATCHES_QUERIES))
        await runPart(PART, { cell: run.cell, account }, () => settle(run, own))
  }
}

const settleDue = async (run: WatchRun): Promise<void> => {
  const { db, now, take } = run
  for (let pages = 0; pages < MAX_PAGES && take(); pages++) {
    const page = await readDueWatches(db, { now, limit: PAGE })
    if (page.length === 0 || !take(WRITE_WATCHES_QUERIES)) return
    await settlePage(run, page)
    if (page.length < PAGE) return
  }
}

/** False when the run may not record all of them. */
const settleAll = async (run: WatchRun, found: Watch[]): Promise<boolean> => {
  for (let at = 0; at < found.length; at += PAGE) {
    if (!run.take(WRITE_WATCHES_QUERIES)) return false
    await settlePage(run, found.slice(at, at + PAGE))
  }
  return true
}

/** A run that may not look at all of them goes on in the next minute where it ended. */
const settleReturned = async (run: WatchRun): Promise<void> => {
  const { db, now, take } = run
  if (!take(2)) return
  const start = await readPosition(db, PART)
  let after: Pick<Watch, 'creation' | 'id'> | undefined = { creation: start, id: '' }
  for (let pages = 0; after && pages < MAX_PAGES && take(); pages++) {
    const { creation, id } = after
    const page: Watch[] = await readOverdueWatches(db, { creation, id, limit: OVERDUE_PAGE })
    const returned = page.filter((watch) => settleWatch(watch, now).checkedInAt !== null)
    if (!(await settleAll(run, returned))) break
    after = page.length < OVERDUE_PAGE ? undefined : page.at(-1)
  }
  const end = after?.creation ?? 0
  if (end !== start) await savePosition(db, PART, end)
}

const remindDevices = async ({ toRemind, ...run }: WatchRun): Promise<void> => {
  for (let at = 0; at < toRemind.length; at += REMINDED_AT_ONCE)
    await Promise.all(
      toRemind.slice(at, at + REMINDED_AT_ONCE).map((watch) => {
        const where = { cell: run.cell, account: watch.accountId }
        return runPart(PART, where, () => remindDevice(run, watch))
      }),
    )
}

/**
 * Records reminders and missed check-ins, and contacts that count as check-ins. Each is recorded
 * with its alert only while the watch is as it was read, so that two runs raise it once.
 */
export const checkWatches = async (cellRun: CellRun): Promise<void> => {
  const run = { ...cellRun, toRemind: [], reminders: 0, remindersByAccount: new Map() }
  await settleDue(run)
  await settleReturned(run)
  // Networks are slow, so nothing waits for a reminder.
  if (run.toRemind.length > 0) run.later(() => remindDevices(run))
}
