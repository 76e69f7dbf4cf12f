import { BoundedCache } from '../../domain/cache/boundedCache.ts'

/*
 * Work on a slow body, one over 256 KiB, keeps the isolate and the only writer of the cell busy for
 * tens of milliseconds at a time, in which no other request gets its turn. An account has one at a
 * time, and while others send requests too, there are pauses between them.
 */

/** Beside others, an account's slow bodies are worked on at this rate: 1 MiB in four seconds. */
const BYTES_PER_MS = 262
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

const isAlone = (accountId: string, now: number): boolean =>
  now - (latest.accountId === accountId ? other : latest).at > PRESENT_MS

/** When the next slow body of an account may start, unless the account is alone. */
const nextStarts = new BoundedCache<number>(1000)

const findStart = (owner: string, now: number): number =>
  isAlone(owner, now) ? now : Math.max(now, nextStarts.get(owner) ?? 0)

/** Whether a slow body would have to wait too long: then it need not be read at all. */
export const isStartTooLate = (owner: string, now: number): boolean =>
  findStart(owner, now) - now > MAX_WAIT_MS

/**
 * How long the work on a slow body must wait; null when that is too long. The next one of the
 * account starts after a pause.
 */
export const reserveStart = (owner: string, bytes: number, now: number): number | null => {
  if (isStartTooLate(owner, now)) return null
  const startAt = findStart(owner, now)
  nextStarts.set(owner, startAt + Math.ceil(bytes / BYTES_PER_MS))
  return startAt - now
}
