import { eq } from 'drizzle-orm'
import { accounts } from '../db/schema.ts'
import { CHANNELS } from '../domain/message/alert.ts'
import { formatShortTime } from '../domain/message/alertText.ts'
import { parseEmergencySettings } from '../domain/message/emergency.ts'
import { type CheckInText, dueOf } from '../domain/watch/checkInText.ts'
import { isCheckIn, WATCH_ALERT, type Watch, type WatchCounts } from '../domain/watch/watch.ts'
import { Problem } from '../http/contract/problem.ts'
import { deriveId } from '../ids.ts'
import type { ServiceContext } from '../serviceContext.ts'
import {
  createWatch,
  findRunning,
  takeStep,
  takeStepOfAll,
  type WatchBody,
  type WatchStep,
} from './progress.ts'

/* What a device says changes its watches. */

/** Who said what, and when. */
export interface Sign {
  device: { key: number; id: string }
  at: number
  said: CheckInText
  messageId: string
}

const MINUTE_MS = 60_000
const GRACE_MINUTES = 30
const MAX_REMIND_MINUTES = 10
const LIMIT_REACHED = 'No watch was started: the account has as many as it may have.'

const readSettings = async ({ db, accountId }: ServiceContext) => {
  const { timeZone, emergency } = accounts
  const own = eq(accounts.id, accountId)
  const row = await db.select({ timeZone, emergency }).from(accounts).where(own).get()
  const { emergencyAlerts } = parseEmergencySettings(row?.emergency ?? null)
  return { timeZone: row?.timeZone ?? 'UTC', isEmergency: emergencyAlerts.includes(WATCH_ALERT) }
}

/** The watch after the step; null if it has ended meanwhile. */
const step = async (context: ServiceContext, watch: Watch, taken: WatchStep) => {
  const outcome = await takeStep(context, watch, taken, context.now())
  // The provider sends the push again.
  if (!outcome.ok && outcome.refusal === 'conflict') throw new Problem('unavailable')
  return outcome.ok ? outcome.watch : null
}

const stepAll = async (context: ServiceContext, watches: Watch[], taken: WatchStep) => {
  const outcome = await takeStepOfAll(context, watches, taken, context.now())
  if (!outcome) throw new Problem('unavailable')
  return outcome
}

/** Checks in to those that take it; true if any did. */
const checkInTo = async (
  context: ServiceContext,
  watches: Watch[],
  given: WatchCounts,
  at: number,
): Promise<boolean> => {
  const counting = watches.filter((one) => isCheckIn(one, given))
  const after = await stepAll(context, counting, { action: 'checkIn', given, at })
  return after.some(({ lastCheckIn }) => (lastCheckIn ?? 0) >= at)
}

interface Start {
  promise: Pick<WatchBody, 'due' | 'everyMinutes'>
  /** When it begins, and when its first deadline is. */
  from: number
  due: number
  isEmergency: boolean
  timeZone: string
}

/** The device can write, so a watch that it starts waits for a message. */
const startWatchOf = async (
  context: ServiceContext,
  { device, at, messageId }: Sign,
  { promise, from, due, isEmergency, timeZone }: Start,
): Promise<string | null> => {
  const { accountId } = context
  const minutes = Math.floor((due - from) / MINUTE_MS)
  const record: WatchBody = {
    ...promise,
    deviceId: device.id,
    name: 'Started by message',
    graceMinutes: GRACE_MINUTES,
    counts: 'message',
    remindMinutes: Math.min(MAX_REMIND_MINUTES, Math.floor(minutes / 2)),
    alertName: WATCH_ALERT,
    emergency: isEmergency,
    notifications: [...CHANNELS],
  }
  // The same for a repeat of the push after a crash.
  const id = await deriveId('wat', at, messageId)
  const outcome = await createWatch(context, { accountId, id, record, now: from })
  if (outcome.ok) return `A watch was started. The deadline is ${formatShortTime(due, timeZone)}.`
  return outcome.refusal === 'watch-limit-reached' ? LIMIT_REACHED : null
}

/** Moves the deadline that comes first, or starts a watch with one. */
const takePromise = async (
  context: ServiceContext,
  sign: Sign & { said: Extract<CheckInText, { action: 'promise' }> },
  running: Watch[],
): Promise<string | null> => {
  const { said, at } = sign
  const settings = await readSettings(context)
  const due = dueOf(said, at, settings.timeZone)
  // It came too late to promise anything.
  if (due <= context.now()) return null
  const deadlines = running.filter((watch) => watch.everyMinutes === null)
  const [first] = deadlines.sort((a, b) => a.nextDue - b.nextDue)
  // A later message, or a person, has set another deadline since.
  if (first && first.since > at) return null
  if (first && (await step(context, first, { action: 'extend', due, at })))
    return `The deadline is ${formatShortTime(due, settings.timeZone)}.`
  const promise = { due, everyMinutes: null }
  return startWatchOf(context, sign, { promise, from: at, due, ...settings })
}

/** Longer ago nobody waits for an interval any more: the text waited to be claimed, or is replayed. */
const MAX_START_AGE_MS = 86_400_000

/** Starts an interval, unless the same one runs already. */
const takeRepeat = async (
  context: ServiceContext,
  sign: Sign & { said: Extract<CheckInText, { action: 'repeat' }> },
  running: Watch[],
): Promise<string | null> => {
  const { everyMinutes } = sign.said
  if (running.some((watch) => watch.everyMinutes === everyMinutes)) return 'Checked in.'
  if (sign.at < context.now() - MAX_START_AGE_MS) return null
  const settings = await readSettings(context)
  const everyMs = everyMinutes * MINUTE_MS
  // A message that took longer than its interval must not be overdue at once.
  const from = sign.at + everyMs > context.now() ? sign.at : context.now()
  const promise = { due: null, everyMinutes }
  return startWatchOf(context, sign, { promise, from, due: from + everyMs, ...settings })
}

/**
 * Takes what was said for the watches that ran at that time, and returns what came of it; null for
 * nothing. A repeat changes nothing.
 */
export const takeSign = async (context: ServiceContext, sign: Sign): Promise<string | null> => {
  const { db, accountId } = context
  const { said, at, device } = sign
  const watches = await findRunning(db, accountId, device.key)
  const running = watches.filter(({ since }) => since <= at)
  if (said.action === 'checkIn')
    return (await checkInTo(context, running, said.given, at)) ? 'Checked in.' : null
  if (said.action === 'complete') {
    await stepAll(context, running, { action: 'complete' })
    return running.length > 0 ? 'The watch was completed.' : null
  }
  // Who sets a deadline is well: that is a check-in to every interval.
  const intervals = running.filter((watch) => watch.everyMinutes !== null)
  await checkInTo(context, intervals, 'checkIn', at)
  return said.action === 'promise'
    ? takePromise(context, { ...sign, said }, watches)
    : takeRepeat(context, { ...sign, said }, running)
}
