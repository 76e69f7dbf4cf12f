import { backoffMs, settlesWithin } from './backoff.ts'
import { PerigeeError } from './error.ts'
import {
  addResult,
  COUNTS,
  hasCounts,
  newSummary,
  type Reply,
  type Report,
  type ReportSummary,
} from './reportSummary.ts'

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
/** How often a call under way shows that it is not one of a Worker's request that has ended. */
const PROGRESS_MS = 5000
const MAX_RETRY_MS = 60_000
/** A drain without progress for so long is one that ended with a Worker's request. */
const STALL_MS = 30_000

interface Waiting {
  report: Report
  bytes: number
}

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

/** Collects locations and sends them in batches. What cannot be sent stays first in the queue. */
export class ReportQueue {
  readonly #queue: Waiting[] = []
  readonly #send: Send
  readonly #settings: ReportSettings
  #summary = newSummary()
  #sending: Promise<void> | null = null
  /** The number of the latest drain; one before it only removes what the service has stored. */
  #run = 0
  #progressAt = 0
  /** How many locations a batch has: fewer after a call that was too large or got no reply. */
  #maxCount = MAX_LOCATIONS
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
      return at > 0 && (at >= this.#maxCount || bytes > MAX_BYTES)
    })
    return over < 0 ? this.#queue.length : over
  }

  /** Sends the first of the queue, and removes them once the service has replied. */
  async #sendBatch(count: number, run: number): Promise<void> {
    const batch = this.#queue.slice(0, count)
    try {
      this.#settle(batch, await this.#sendWatched(batch, run))
    } catch (error) {
      if (run !== this.#run) throw error
      const status = error instanceof PerigeeError ? error.status : null
      if (count > 1 && (status === 0 || status === 413)) this.#maxCount = count >> 1
      if (!isRefusal(error, count)) throw error
      // The reply to an earlier call may have removed some of them meanwhile.
      if (batch[0] === this.#queue[0]) await this.#removeRefused(batch, error, run)
    }
  }

  /** The timer that shows progress ends with the call, or with the request of a Worker. */
  async #sendWatched(batch: readonly Waiting[], run: number): Promise<Reply> {
    const showProgress = () => {
      if (run === this.#run) this.#progressAt = Date.now()
    }
    showProgress()
    const timer = setInterval(showProgress, PROGRESS_MS)
    const { unref } = timer as { unref?: () => void }
    // Only the call itself keeps a process of Node running.
    unref?.call(timer)
    try {
      const reply = await this.#send(batch.map(({ report }) => report))
      if (hasCounts(reply)) return reply
      throw new PerigeeError('The reply is not one of Perigee.', {
        cause: new Error('the reply is not one of Perigee'),
      })
    } finally {
      clearInterval(timer)
    }
  }

  /** Removes a batch, or what is left of it: two drains may have sent the same reports. */
  #settle(batch: readonly Waiting[], reply: Reply): void {
    const sent = new Set<Waiting | undefined>(batch)
    let count = 0
    while (count < this.#queue.length && sent.has(this.#queue[count])) count++
    if (count === 0) return
    const removed = new Set(this.#queue.splice(0, count))
    this.#maxCount = Math.min(MAX_LOCATIONS, this.#maxCount * 2)
    for (const name of COUNTS) this.#summary[name] += reply[name]
    for (const { index, status, ...more } of reply.results) {
      const one = batch[index]
      const { code } = more as { code?: string }
      if (one && removed.has(one) && status !== 'duplicate')
        addResult(this.#summary, { report: one.report, status, detail: code ?? null })
    }
  }

  /** One location that is not valid refuses the whole call: it is removed, and the rest sent. */
  async #removeRefused(batch: Waiting[], error: PerigeeError, run: number): Promise<void> {
    const details = new Map<number, string>()
    for (const { pointer, detail } of error.errors) {
      const [, at, member = ''] = /^\/locations\/(\d+)(.*)$/.exec(pointer) ?? []
      const index = Number(at ?? batch.length)
      if (index < batch.length && !details.has(index))
        details.set(index, `${member} ${detail}`.trim())
    }
    if (batch.length === 1) details.set(0, details.get(0) ?? error.detail)
    // Which one is wrong is not known: a half of them is tried.
    if (details.size === 0) return this.#sendBatch(Math.ceil(batch.length / 2), run)
    for (const [at, detail] of [...details].sort(([a], [b]) => b - a)) {
      const report = batch[at]?.report
      if (!report) continue
      this.#queue.splice(at, 1)
      this.#summary.invalid++
      addResult(this.#summary, { report, status: 'invalid', detail })
    }
  }
}
