import type { BudgetState } from '../../db/queries/usage.ts'
import {
  type Budgets,
  type CountedUsage,
  effectiveBudgets,
  type Usage,
  usageAsOf,
} from '../../domain/account/budget.ts'
import { currentDay } from '../../domain/account/license.ts'
import { addDays, dayStart } from '../../domain/time/day.ts'

/**
 * An isolate writes its count after this many locations or when its last write is this old: less
 * than the 30 seconds that a request may work on after its reply.
 */
const MAX_PENDING_LOCATIONS = 1000
const MAX_WRITE_AGE_MS = 25_000
/** Requests alone wait for others, and are written at most once a minute. */
const MIN_REQUESTS_INTERVAL_MS = 60_000
/** At least so long between two writes: large reports would otherwise write a row each. */
export const MIN_INTERVAL_MS = 1000

export interface Counts {
  locations: number
  storageBytes: number
  requests: number
}

const NOTHING: Counts = { locations: 0, storageBytes: 0, requests: 0 }

const sum = (a: Counts, b: Partial<Counts>): Counts => ({
  locations: a.locations + (b.locations ?? 0),
  storageBytes: a.storageBytes + (b.storageBytes ?? 0),
  requests: a.requests + (b.requests ?? 0),
})

/** Whether nothing but requests was counted. */
const isNothing = ({ locations, storageBytes }: Counts) => locations === 0 && storageBytes === 0

/** What one isolate knows of an account's budgets and usage. */
export class BudgetMeter {
  #state: BudgetState
  /** Of all isolates, as far as they have written it. */
  #usage: Usage
  /** Counted by this isolate and not yet written. Less than 0 after a correction. */
  #pending = NOTHING
  /** The same of days that are over. */
  #late: CountedUsage[] = []
  /** When the last count was taken to be written. */
  #takenAt = 0
  /** When a request writes what is pending, if no other does before. */
  #plannedFor = 0
  #requestsPlannedFor = 0
  /** When the state was read, or began to be read. */
  readAt: number

  constructor(state: BudgetState, now: number) {
    this.#state = state
    this.#usage = usageAsOf(state.usage, currentDay(state, now))
    this.readAt = now
  }

  update(state: BudgetState, now: number): void {
    this.#advance(now)
    this.#state = state
    this.#usage = usageAsOf(state.usage, currentDay(state, now))
    this.readAt = now
  }

  /** The budget that is used up, or null. Storage comes first, against `share` times its budget. */
  findExceeded(perLicense: Budgets, now: number, share = 1): keyof Budgets | null {
    this.#advance(now)
    const { overrides, licenses } = this.#state
    const budgets = effectiveBudgets(overrides, perLicense, licenses)
    const { locations, storageBytes } = sum(this.#pending, this.#usage)
    if (storageBytes >= budgets.storageBytes * share) return 'storageBytes'
    return locations >= budgets.locationsPerDay ? 'locationsPerDay' : null
  }

  /** Names of alerts with which a report is stored beyond the budgets. */
  get emergencyAlerts(): readonly string[] {
    return this.#state.emergencyAlerts
  }

  /** When the day that is counted ends. */
  resetAt(): number {
    return dayStart(addDays(this.#usage.day, 1), this.#state.timeZone)
  }

  add(counts: Partial<Counts>, now: number): void {
    this.#advance(now)
    this.#pending = sum(this.#pending, counts)
  }

  /** After how long what is pending has to be written; null when nothing is, or it is planned. */
  planWrite(now: number): number | null {
    if (isNothing(this.#pending) || now < this.#plannedFor) return null
    this.#plannedFor = Math.max(now, this.#takenAt + MAX_WRITE_AGE_MS)
    return this.#plannedFor - now
  }

  /** The same for requests alone; null also when that would be too late for this request. */
  planRequests(now: number): number | null {
    if (this.#pending.requests === 0 || now < this.#requestsPlannedFor) return null
    const at = Math.max(now + MAX_WRITE_AGE_MS, this.#takenAt + MIN_REQUESTS_INTERVAL_MS)
    if (at - now > MAX_WRITE_AGE_MS) return null
    this.#requestsPlannedFor = at
    return at - now
  }

  /**
   * What has to be written now, if anything, because there is much of it or the last write is older
   * than `maxAgeMs`. It counts as written from here on. Requests go along.
   */
  takePending(now: number, maxAgeMs = MAX_WRITE_AGE_MS): CountedUsage[] {
    this.#advance(now)
    const pending = this.#pending
    const age = now - this.#takenAt
    const isMuch = pending.locations >= MAX_PENDING_LOCATIONS && age >= MIN_INTERVAL_MS
    if (!isNothing(pending) && (isMuch || age >= maxAgeMs)) return this.#take(now)
    return this.#late.splice(0)
  }

  /** The same when requests were counted and nothing else. */
  takeRequests(now: number): CountedUsage[] {
    this.#advance(now)
    const isDue = now - this.#takenAt >= MIN_REQUESTS_INTERVAL_MS
    return isDue && this.#pending.requests > 0 ? this.#take(now) : []
  }

  #take(now: number): CountedUsage[] {
    this.#takenAt = now
    const { day } = this.#usage
    const pending = this.#pending
    this.#pending = NOTHING
    const { locations, storageBytes } = sum(pending, this.#usage)
    this.#usage = { day, locations, storageBytes }
    return [...this.#late.splice(0), { day, ...pending }]
  }

  /** On a new day the locations of the day before count no more; their bytes do. */
  #advance(now: number): void {
    const today = currentDay(this.#state, now)
    const { day } = this.#usage
    if (today <= day) return
    const { locations, requests, storageBytes } = this.#pending
    if (locations !== 0 || requests > 0)
      this.#late.push({ day, locations, requests, storageBytes: 0 })
    this.#usage = usageAsOf(this.#usage, today)
    this.#pending = { ...NOTHING, storageBytes }
  }
}
