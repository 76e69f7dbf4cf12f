import { BoundedCache } from '../../domain/cache/boundedCache.ts'

/*
 * Costly work, such as a large body, a password's hash or a long export, keeps the isolate busy for
 * tens of milliseconds at a time, in which no other request gets its turn. While others send
 * requests too, there are pauses between the pieces of an account's costly work.
 */

/** How much of the time an account's costly work may take beside others. */
const MAX_TIME_SHARE = 0.2
const MAX_WAIT_MS = 10_000
/** How long an account that has sent a request counts as one that sends requests. */
const PRESENT_MS = 10_000

interface Sender {
  accountId: string
  at: number
}

/** The account that sent the last request, and the last one before it that is another. */
let latest: Sender = { accountId: '', at: 0 }
let other: Sender = latest

export const noteRequest = (accountId: string, at: number): void => {
  if (accountId === latest.accountId) {
    latest.at = at
    return
  }
  other = latest
  latest = { accountId, at }
}

/**
 * The owner of work on what an account sends: pushes and large bodies. It has turns and a share of
 * its own, so that an emergency does not wait for an export or a password's hash.
 */
export const intakeOf = (accountId: string): string => `${accountId} intake`

/** The owner of work for viewers of an account's shares, who have nothing to do with the account. */
export const sharesOf = (accountId: string): string => `${accountId} shares`

const isAlone = (owner: string, now: number): boolean => {
  const [accountId] = owner.split(' ', 1)
  return now - (latest.accountId === accountId ? other : latest).at > PRESENT_MS
}

/** When the next piece of an owner's work may start, unless the owner is alone. */
const nextStarts = new BoundedCache<number>(1000)

/** A time further ahead than any pause is one of before the clock was set back. */
const MAX_AHEAD_MS = 60_000

const timeLeft = (time = 0, now: number): number =>
  time - now > MAX_AHEAD_MS ? 0 : Math.max(0, time - now)

const findStart = (owner: string, now: number): number =>
  isAlone(owner, now) ? now : now + timeLeft(nextStarts.get(owner), now)

/** Whether work would have to wait too long: then it is refused before anything is done for it. */
export const isStartTooLate = (owner: string, now: number): boolean =>
  findStart(owner, now) - now > MAX_WAIT_MS

/** How long a piece of work must wait. The owner's next one starts after a pause. */
export const reserveStart = (owner: string, workMs: number, now: number): number => {
  const startAt = findStart(owner, now)
  nextStarts.set(owner, startAt + Math.ceil(workMs / MAX_TIME_SHARE))
  return startAt - now
}

/**
 * How long work that has begun must pause before a further piece. What waits for its start must not
 * delay it, and starts as much later.
 */
export const reserveFurther = (owner: string, workMs: number, now: number): number => {
  if (isAlone(owner, now)) return 0
  nextStarts.set(owner, findStart(owner, now) + Math.ceil(workMs / MAX_TIME_SHARE))
  return Math.ceil(workMs / MAX_TIME_SHARE - workMs)
}

/** Work may take longer than was estimated, on a busy machine: up to so many times counts. */
const MAX_OVERRUN = 8
const pauseEnds = new BoundedCache<number>(1000)

/** Notes how long a piece of work of an estimated length took. The pause after it depends on that. */
export const notePiece = (owner: string, workMs: number, tookMs: number): void => {
  const countedMs = Math.min(tookMs, workMs * MAX_OVERRUN)
  pauseEnds.set(owner, Date.now() + countedMs * (1 / MAX_TIME_SHARE - 1))
}

/** How much is left of the pause after the owner's last piece of work. */
export const pauseLeft = (owner: string, now: number): number =>
  isAlone(owner, now) ? 0 : timeLeft(pauseEnds.get(owner), now)
