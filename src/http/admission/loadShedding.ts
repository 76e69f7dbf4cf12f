import { canSettleOthers } from '../../env.ts'
import { log } from '../../log.ts'
import type { Context } from '../context.ts'
import { overloaded } from '../contract/problem.ts'
import { Admission, delay, type SlotLimits } from './admission.ts'
import {
  isStartTooLate,
  notePiece,
  noteRequest,
  pauseLeft,
  reserveFurther,
  reserveStart,
} from './pacing.ts'

/*
 * The slots that requests hold in this isolate. The key of a slot is an account, so that one account
 * cannot block the others.
 */

/** More than 100, so that a client may send a hundred requests at once. */
const MAX_SLOTS = 128
/** During a flood most time goes into rejections, so fewer requests are served at once. */
const FLOOD_SLOTS = 32
/** With fewer active requests none waits for the event loop. */
const BUSY_SLOTS = 8
const FLOOD_REJECTIONS_PER_SECOND = 200
/** How long the event loop may be late on average while requests are rejected, and otherwise. */
const MAX_DELAY_MS = { rejecting: 20, otherwise: 100 }
/**
 * How far delay lowers the number of slots while requests are rejected, and otherwise: a client may
 * send a hundred requests at once.
 */
const MIN_SLOTS = { rejecting: 8, otherwise: 112 }

/** An account has a quarter of them. */
const limitsOf = (max: number): SlotLimits => ({ max, maxPerKey: max / 4 })

const activeRequests = new Admission({
  limits: limitsOf(MAX_SLOTS),
  maxHeldMs: 10_000,
  maxWaiting: { max: 192, maxPerKey: 96 },
  maxWaitMs: 10_000,
  pollMs: 20,
  wakes: canSettleOthers,
})

/** Requests that wait, without a slot, for a receiver that a customer chose. */
const outsideCalls = new Admission({ limits: { max: 512, maxPerKey: 128 }, maxHeldMs: 60_000 })

/**
 * Requests for shares. Nobody signs in for them, so they take no slot of the account whose share it
 * is: its reports and emergencies do not wait for viewers.
 */
const shareViews = new Admission({
  limits: { max: 32, maxPerKey: 8 },
  maxHeldMs: 10_000,
  maxWaiting: { max: 128, maxPerKey: 48 },
  maxWaitMs: 10_000,
  pollMs: 20,
  wakes: canSettleOthers,
})

/** The longest time that a large body may take to arrive. */
export const BODY_TIMEOUT_MS = 60_000
/**
 * Bodies over 64 KiB, until their request ends: what was parsed lives as long. So many of 1 MiB fit
 * into an isolate's memory with the work on them.
 */
export const largeBodies = new Admission({
  limits: { max: 24, maxPerKey: 12 },
  maxHeldMs: BODY_TIMEOUT_MS,
})

/** Costly work: one piece of an account at a time, and the account's others wait behind it. */
const costlyWork = new Admission({
  limits: { max: 16, maxPerKey: 1 },
  maxHeldMs: 10_000,
  maxWaiting: { max: Number.POSITIVE_INFINITY, maxPerKey: 48 },
  maxWaitMs: 10_000,
  pollMs: 5,
  wakes: canSettleOthers,
})

/** The current second: its rejections, and what its requests measured of the event loop's delay. */
const newSecond = (since: number) => ({ since, rejections: 0, measured: 0, delayMs: 0 })
let second = newSecond(0)

/** Halves the slots while the event loop is late, and doubles them until none is rejected. */
const nextSlots = (slots: number, rejections: number, delayMs: number): number => {
  const state = rejections > 0 ? 'rejecting' : 'otherwise'
  if (delayMs > MAX_DELAY_MS[state]) return Math.min(slots, Math.max(MIN_SLOTS[state], slots / 2))
  if (rejections >= FLOOD_REJECTIONS_PER_SECOND) return Math.min(FLOOD_SLOTS, slots * 2)
  return rejections > 0 ? Math.min(MAX_SLOTS, slots * 2) : MAX_SLOTS
}

/** Logs the rejections of the last second and sets the limits for the next one. */
const startSecond = (now: number): void => {
  const { since, rejections, measured } = second
  const delayMs = Math.round(second.delayMs / Math.max(1, measured))
  if (rejections > 0) log('warn', { event: 'requests-rejected', count: rejections, delayMs })
  const isCurrent = now - since < 2000
  const { max } = activeRequests.limits
  activeRequests.limits = limitsOf(isCurrent ? nextSlots(max, rejections, delayMs) : MAX_SLOTS)
  second = newSecond(now)
}

/**
 * False when the isolate is busy. Without this limit, three times too much traffic took 850 MB and
 * 18 s a reply (npm run load); an isolate may use 128 MB.
 */
export const tryAcquireSlot = (request: Request): boolean => {
  const now = Date.now()
  if (now - second.since >= 1000) startSecond(now)
  const isAcquired = activeRequests.tryAcquire(request)
  if (!isAcquired) second.rejections++
  return isAcquired
}

/**
 * Waits for the work that is due, if many requests are active, and measures how long it takes. The
 * runtime goes on with the work that it has before it takes a new request, so requests wait where an
 * isolate cannot count them.
 */
export const measureDelay = async (): Promise<void> => {
  const startedAt = Date.now()
  if (activeRequests.size >= BUSY_SLOTS) await delay(0)
  second.measured++
  second.delayMs += Date.now() - startedAt
}

/**
 * Makes the slot of a request one of its account. While the account uses its share, the request
 * waits without a slot. Throws a 503 when too many of the account wait, or for too long. In a flood
 * nobody waits: a rejection costs less.
 */
export const assignSlot = async (
  request: Request,
  accountId: string,
  limits = activeRequests.limits,
): Promise<void> => {
  noteRequest(accountId, Date.now())
  const hasSlot = activeRequests.releaseSlot(request) !== undefined
  if (!hasSlot || activeRequests.tryAcquire(request, accountId, limits)) return
  const isFlood = activeRequests.limits.max <= FLOOD_SLOTS
  if (!isFlood && (await activeRequests.acquire(request, accountId))) return
  second.rejections++
  throw overloaded()
}

/**
 * Assigns a slot again after the body has arrived. The lower limits of a flood are for new requests:
 * to reject one that was admitted would waste what was done for it.
 */
export const assignSlotAgain = (request: Request, accountId: string): Promise<void> =>
  assignSlot(request, accountId, limitsOf(MAX_SLOTS))

/** Waits without the request's slot, so that slow senders do not block others. */
export const waitWithoutSlot = <T>(request: Request, wait: () => Promise<T>): Promise<T> =>
  activeRequests.runWithoutSlot(request, wait)

/** Waits for a receiver that the account chose, without a slot: it may take as long as it likes. */
export const waitForReceiver = <T>(c: Context, wait: () => Promise<T>): Promise<T> => {
  const request = c.req.raw
  if (!outsideCalls.tryAcquire(request, c.get('principal').accountId)) throw overloaded()
  return waitWithoutSlot(request, wait).finally(() => outsideCalls.releaseSlot(request))
}

/** Serves a viewer of an account's share. Throws a 503 when too many wait, or for too long. */
export const serveViewer = <T>(
  c: Context,
  accountId: string,
  serve: () => Promise<T>,
): Promise<T> =>
  waitWithoutSlot(c.req.raw, async () => {
    noteRequest(accountId, Date.now())
    if (!(await shareViews.acquire(c.req.raw, accountId))) throw overloaded()
    try {
      return await serve()
    } finally {
      shareViews.releaseSlot(c.req.raw)
    }
  })

/** The piece of costly work that a request has begun. */
const pieces = new WeakMap<Request, { owner: string; workMs: number; startedAt: number }>()

const endPiece = (request: Request): void => {
  const piece = pieces.get(request)
  if (piece) notePiece(piece.owner, piece.workMs, Date.now() - piece.startedAt)
  pieces.delete(request)
}

/**
 * Waits without a slot until the owner's costly work of so many milliseconds may start, or go on if
 * the request has begun with some already. Throws a 503 before it starts, and never later.
 */
export const awaitCostlyTurn = async (
  request: Request,
  owner: string,
  workMs: number,
): Promise<void> => {
  endPiece(request)
  const now = Date.now()
  const hasBegun = costlyWork.renewSlot(request)
  if (!hasBegun && isStartTooLate(owner, now)) throw overloaded()
  const waitMs = (hasBegun ? reserveFurther : reserveStart)(owner, workMs, now)
  const isFree = waitMs === 0 && (hasBegun || costlyWork.tryAcquire(request, owner))
  if (!isFree || pauseLeft(owner, now) > 0)
    await waitWithoutSlot(request, async () => {
      await delay(waitMs)
      const hasTurn = isFree || hasBegun || (await costlyWork.acquire(request, owner))
      if (!hasTurn) throw overloaded()
      const pauseMs = pauseLeft(owner, Date.now())
      if (pauseMs > 0) await delay(pauseMs)
      costlyWork.renewSlot(request)
    })
  pieces.set(request, { owner, workMs, startedAt: Date.now() })
}

/** Ends what `awaitCostlyTurn` has begun, before the request ends. */
export const endCostlyTurn = (request: Request): void => {
  endPiece(request)
  costlyWork.releaseSlot(request)
}

/** Releases everything that the request holds. */
export const releaseSlots = (request: Request): void => {
  endPiece(request)
  for (const pool of [activeRequests, outsideCalls, shareViews, largeBodies, costlyWork])
    pool.releaseSlot(request)
}
