import {
  readDueWatches,
  readReturnedWatches,
  type WatchChange,
  WRITE_WATCHES_QUERIES,
  writeWatches,
} from '../db/queries/watches.ts'
import { type Settlement, settleWatch, type Watch } from '../domain/watch/watch.ts'
import { publicOrigin } from '../env.ts'
import { pokeFeed } from '../feed/stub.ts'
import { checkedInEvent, dueEvent, overdueEvent, toMissedAlert } from '../watches/events.ts'
import { remindDevice } from '../watches/remind.ts'
import { handOver } from './pendingRaises.ts'
import { type CellRun, runPart } from './run.ts'

/* Watches whose reminder or deadline has come. Reports pay nothing for them. */

const PART = 'watches'
const PAGE = 200
const MAX_PAGES = 10
const MAX_CALLS = 50
const PAGE_QUERIES = 1 + WRITE_WATCHES_QUERIES
export const MAX_WATCH_QUERIES = 2 * MAX_PAGES * PAGE_QUERIES

interface Found extends WatchChange {
  isReminded: boolean
}

const toChange = async (
  watch: Watch,
  { progress, checkedInAt, isDue, isOverdue }: Settlement,
  { env, now }: CellRun,
): Promise<Found> => {
  const events: WatchChange['events'] = []
  if (checkedInAt !== null)
    events.push(checkedInEvent(watch, progress, { at: checkedInAt, given: 'any', now }))
  if (isDue) events.push(dueEvent(watch, progress, now))
  const origin = publicOrigin(env) ?? ''
  const raise = isOverdue ? await toMissedAlert(watch, progress, origin) : null
  if (raise) events.push(overdueEvent(watch, progress, { alertId: raise.alert.id, now }))
  // Once it is overdue, the reminder would come too late.
  const isReminded = isDue && !isOverdue && watch.remindMinutes !== null
  return { before: watch, progress, events, raise, isReminded }
}

/** Records what has become of some watches, then hands over alerts and reminds devices. */
const settlePage = async (run: CellRun, page: Watch[]): Promise<void> => {
  const { env, cell, db, now } = run
  const changes = await Promise.all(
    page.map((watch) => toChange(watch, settleWatch(watch, now), run)),
  )
  const { written, raised, subscribed } = await writeWatches(db, changes, now)
  const raises = changes.flatMap(({ before, raise }) =>
    raise && raised.has(raise.alert.id) ? [{ accountId: before.accountId, raise }] : [],
  )
  // What is left over, or lost in a crash, is raised by a later run.
  await handOver(run, PART, raises, MAX_CALLS)
  for (const { before, progress, isReminded } of changes) {
    if (!isReminded || !written.has(before.id)) continue
    const where = { cell, account: before.accountId }
    await runPart(PART, where, () => remindDevice(run, { ...before, ...progress }))
  }
  for (const accountId of subscribed) await pokeFeed(env, { accountId, cell })
}

/**
 * Records reminders and missed check-ins, and contacts that count as check-ins. Each is recorded
 * with its alert only while the watch is as it was read, so that two runs raise it once.
 */
export const checkWatches = async (run: CellRun): Promise<void> => {
  const { db, now, take } = run
  const reads: ((limit: number) => Promise<Watch[]>)[] = [
    (limit) => readDueWatches(db, { now, limit }),
    (limit) => readReturnedWatches(db, limit),
  ]
  for (const read of reads) {
    for (let pages = 0; pages < MAX_PAGES && take(); pages++) {
      const page = await read(PAGE)
      if (page.length === 0 || !take(WRITE_WATCHES_QUERIES)) break
      await settlePage(run, page)
      if (page.length < PAGE) break
    }
  }
}
