import { backoffMs, settlesWithin } from './backoff.ts'
import { PerigeeError } from './error.ts'
import type { Schemas } from './types.ts'

/** A location with its device, by `deviceId` or by `identifier`. */
export type Report = Schemas['AddressedLocation']
type Reply = Schemas['ReportLocationsReply']

/** A location that the service has not stored, and why. */
export interface ReportResult {
  report: Report
  status: string
  detail: string | null
}

const COUNTS = ['accepted', 'duplicates', 'conflicts', 'tooOld', 'unknown', 'refused'] as const

/** What became of the reports since the last `flush`, as the service counts them. */
export interface ReportSummary extends Record<(typeof COUNTS)[number], number> {
  /** How many were refused for their values. */
  invalid: number
  /** What was not stored, the last thousand. */
  results: ReportResult[]
}

export interface ReportSettings {
  /** How long reports are collected before they are sent. Default 1000. */
  reportDelayMs?: number
  /** `report` throws if so many wait. Default 100000. */
  maxPending?: number
  /** Called if reports could not be sent. They are kept and sent later. */
  onReportError?: (error: unknown) => void
}

type Send = (locations: Report[]) => Promise<Reply>

const MAX_LOCATIONS = 1000
/** The service takes 1 MiB; the rest is for what surrounds the locations. */
const MAX_BYTES = 1_048_576 - 1024
const MAX_RESULTS = 1000
const MAX_RETRY_MS = 60_000
/** A drain without progress for so long may be one that ended with a Worker's request. */
const STALL_MS = 30_000

const bytesOf = (report: Report): number =>
  new TextEncoder().encode(JSON.stringify(report)).length + 1

/** True if the locations are why the service will never take this call as it is. */
const isRefusal = (error: unknown, count: number): error is PerigeeError => {
  if (!(error instanceof PerigeeError)) return false
  // A proxy may have a limit of its own. Below it a single location is kept, and tried again.
  if (error.status === 413) return count > 1 || error.code !== null
  const isOfLocations = error.errors.some(({ pointer }) => pointer.startsWith('/locations'))
  return error.status === 400 && isOfLocations
}

const newSummary = (): ReportSummary => ({
  ...(Object.fromEntries(COUNTS.map((name) => [name, 0])) as Pick<
    ReportSummary,
    (typeof COUNTS)[number]
  >),
  invalid: 0,
  results: [],
})

/** Collects locations and sends them in batches. What cannot be sent stays first in the queue. */
export class ReportQueue {
  readonly #queue: { report: Report; bytes: number }[] = []
  readonly #send: Send
  readonly #settings: ReportSettings
  #summary = newSummary()
  #sending: Promise<void> | null = null
  /** The number of the latest drain; one before it changes nothing any more. */
  #run = 0
  #progressAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #timerDueAt = 0
  #failures = 0
  #flushes = 0
  #isStopped = false

  constructor(send: Send, settings: ReportSettings) {
    this.#send = send
    this.#settings = settings
  }

  get pending(): readonly Report[] {
    return this.#queue.map(({ report }) => report)
  }

  /** How many are pending. */
  get size(): number {
    return this.#queue.length
  }

  add(reports: readonly Report[]): void {
    const { maxPending = 100_000, reportDelayMs = 1000 } = this.#settings
    if (this.#queue.length + reports.length > maxPending)
      throw new RangeError(`${this.#queue.length} reports wait to be sent, which is too many.`)
    // All of them or, if one cannot be written as JSON, none.
    const added = reports.map((report) => ({ report, bytes: bytesOf(report) }))
    for (const one of added) this.#queue.push(one)
    const isFull = this.#queue.length >= MAX_LOCATIONS && this.#failures === 0
    // A timer of a Worker's request that has ended never fires.
    const isOverdue = this.#timer !== undefined && Date.now() > this.#timerDueAt
    if (isFull || isOverdue) this.#sendLater(0)
    else if (this.#timer === undefined) this.#sendLater(reportDelayMs)
  }

  /** Sends all that waits. Rejects if that is not possible now; what is left stays. */
  async flush(): Promise<ReportSummary> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#flushes++
    try {
      while (this.#queue.length > 0) await this.#drain()
    } finally {
      this.#flushes--
    }
    return this.takeSummary()
  }

  /** What became of reports since it was last asked for. */
  takeSummary(): ReportSummary {
    const summary = this.#summary
    this.#summary = newSummary()
    return summary
  }

  /** Sends nothing more by itself after the call under way. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #sendLater(ms: number): void {
    clearTimeout(this.#timer)
    if (this.#isStopped) return
    this.#timerDueAt = Date.now() + ms
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      // A failure has been handled where it occurred.
      this.#drain().catch(() => undefined)
    }, ms)
  }

  /** Waits for the drain under way while it makes progress, or starts one. */
  async #drain(): Promise<void> {
    for (;;) {
      const sending = this.#sending
      const leftMs = this.#progressAt + STALL_MS - Date.now()
      if (sending === null || leftMs <= 0) return this.#startDrain()
      if (await settlesWithin(sending, leftMs)) return sending
    }
  }

  #startDrain(): Promise<void> {
    const run = ++this.#run
    const sending = this.#sendAll(run).finally(() => {
      if (run === this.#run) this.#sending = null
    })
    this.#sending = sending
    return sending
  }

  async #sendAll(run: number): Promise<void> {
    const isCurrent = () => run === this.#run
    try {
      while (isCurrent() && this.#queue.length > 0 && !(this.#isStopped && this.#flushes === 0))
        await this.#sendBatch(this.#nextCount(), run)
      if (isCurrent()) this.#failures = 0
    } catch (error) {
      // The drain that has taken its place sends the same reports.
      if (!isCurrent()) return
      this.#sendLater(backoffMs(++this.#failures, MAX_RETRY_MS))
      this.#settings.onReportError?.(error)
      throw error
    }
  }

  #nextCount(): number {
    let bytes = 0
    const over = this.#queue.findIndex((one, at) => {
      bytes += one.bytes
      return at > 0 && (at >= MAX_LOCATIONS || bytes > MAX_BYTES)
    })
    return over < 0 ? this.#queue.length : over
  }

  /**
   * Sends the first of the queue, and removes them once the service has replied. A reply to a
   * drain that was superseded removes nothing: the queue may begin with other reports by then.
   */
  async #sendBatch(count: number, run: number): Promise<void> {
    this.#progressAt = Date.now()
    const reports = this.#queue.slice(0, count).map(({ report }) => report)
    try {
      const reply = await this.#send(reports)
      if (run !== this.#run) return
      this.#queue.splice(0, count)
      for (const name of COUNTS) this.#summary[name] += reply[name]
      for (const { index, status, ...more } of reply.results) {
        const report = reports[index]
        const { code } = more as { code?: string }
        if (report && status !== 'duplicate') this.#note({ report, status, detail: code ?? null })
      }
    } catch (error) {
      if (run !== this.#run || !isRefusal(error, count)) throw error
      await this.#removeRefused(reports, error, run)
    }
  }

  /** One location that is not valid refuses the whole call: it is removed, and the rest sent. */
  async #removeRefused(reports: Report[], error: PerigeeError, run: number): Promise<void> {
    const details = new Map<number, string>()
    for (const { pointer, detail } of error.errors) {
      const [, at, member = ''] = /^\/locations\/(\d+)(.*)$/.exec(pointer) ?? []
      const index = Number(at ?? reports.length)
      if (index < reports.length && !details.has(index))
        details.set(index, `${member} ${detail}`.trim())
    }
    if (reports.length === 1) details.set(0, details.get(0) ?? error.detail)
    // Which one is wrong is not known: a half of them is tried.
    if (details.size === 0) return this.#sendBatch(Math.ceil(reports.length / 2), run)
    for (const [at, detail] of [...details].sort(([a], [b]) => b - a)) {
      const report = reports[at]
      if (!report) continue
      this.#queue.splice(at, 1)
      this.#summary.invalid++
      this.#note({ report, status: 'invalid', detail })
    }
  }

  #note(result: ReportResult): void {
    this.#summary.results.push(result)
    if (this.#summary.results.length > MAX_RESULTS) this.#summary.results.shift()
  }
}
