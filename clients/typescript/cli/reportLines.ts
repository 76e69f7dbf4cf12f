import { createInterface } from 'node:readline'
import { wait } from '../src/backoff.ts'
import { isTemporary, PerigeeError } from '../src/error.ts'
import type { Perigee, Report, ReportSummary } from '../src/index.ts'
import { COUNTS, type Counts, noCounts } from '../src/reportSummary.ts'
import { ReportQueue } from '../src/reports.ts'
import { EXIT, Failure } from './failure.ts'
import { explainProblem } from './session.ts'
import { note } from './terminal/output.ts'
import { count } from './terminal/text.ts'

/* `perigee report -`: the locations on stdin, one a line. */

/** If so many lines wait, stdin is read no further. */
const MAX_WAITING = 10_000
const RETRY_MS = 2000
/** How long an outage is waited for once stdin has ended. */
const MAX_OUTAGE_MS = 60_000
/** Less than the time after which an interrupted process ends, so that the counts are written. */
const INTERRUPTED_MS = 1500

const parseLine = (text: string, line: number): Report => {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new Failure(`Line ${line} of stdin is not JSON.`, EXIT.usage)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new Failure(`Line ${line} of stdin is not an object.`, EXIT.usage)
  return parsed as Report
}

/** Sends lines as they come: those that arrive while a call is under way go together. */
export class LineSender {
  readonly counts = noCounts()
  invalid = 0
  /** Aborted with the reason when the rest cannot be sent. */
  readonly failed = new AbortController()
  readonly #queue: ReportQueue
  readonly #signal: AbortSignal
  readonly #lines = new WeakMap<Report, number>()
  #sending: Promise<void> | null = null
  /** Aborted when the time to send what is left is over. */
  readonly #late = new AbortController()
  #deadline: ReturnType<typeof setTimeout> | undefined
  /** How many were left at the call before; 0 until stdin has ended. */
  #left = 0

  constructor(perigee: Perigee, signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#setDeadline(INTERRUPTED_MS))
    const send = (locations: Report[]) => {
      const { size } = this.#queue
      // What the calls before have removed shows that there is no outage.
      if (size < this.#left && !signal.aborted) this.#setDeadline(MAX_OUTAGE_MS)
      this.#left = Math.min(this.#left, size)
      return perigee.post('/api/locations', { body: { locations }, signal: this.#late.signal })
    }
    this.#queue = new ReportQueue(send, {})
    // It is flushed here, as soon as something waits.
    this.#queue.stop()
  }

  async add(report: Report, line: number): Promise<void> {
    this.#lines.set(report, line)
    this.#queue.add([report])
    this.#sending ??= this.#sendAll()
    if (this.#queue.size >= MAX_WAITING) await this.#sending
  }

  /** Waits until all is sent, or cannot be. */
  async end(): Promise<void> {
    this.#left = this.#queue.size
    if (!this.#signal.aborted) this.#setDeadline(MAX_OUTAGE_MS)
    await this.#sending
    clearTimeout(this.#deadline)
    if (this.#queue.size > 0)
      note(`${count(this.#queue.size, 'location was', 'locations were')} not sent.`)
  }

  #setDeadline(ms: number): void {
    clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => {
      const cause = new Error('no reply in time')
      this.#late.abort(new PerigeeError('The service could not be reached.', { cause }))
    }, ms)
  }

  async #sendAll(): Promise<void> {
    let isFailing = false
    while (this.#queue.size > 0 && !this.failed.signal.aborted) {
      try {
        this.#count(await this.#queue.flush())
        isFailing = false
      } catch (error) {
        this.#count(this.#queue.takeSummary())
        const isOver = this.#late.signal.aborted || this.#signal.aborted
        if (isOver || !isTemporary(error)) {
          this.failed.abort(error)
          break
        }
        if (!isFailing) note(`${explainProblem(error).message} What waits is sent later.`)
        isFailing = true
        const signal = AbortSignal.any([this.#signal, this.#late.signal])
        await wait(RETRY_MS, signal).catch(() => this.failed.abort(error))
      }
    }
    this.#sending = null
  }

  #count({ invalid, results, ...counts }: ReportSummary): void {
    this.invalid += invalid
    for (const name of COUNTS) this.counts[name] += counts[name]
    for (const { report, status, detail } of results)
      if (status === 'invalid')
        note(`line ${this.#lines.get(report)}: ${detail?.replace(/^\//, '')}`)
  }
}

export interface LineReport {
  counts: Counts
  invalid: number
  failure: unknown
}

/** What was read before a failure is sent all the same. */
export const reportLines = async (perigee: Perigee, signal: AbortSignal): Promise<LineReport> => {
  const sender = new LineSender(perigee, signal)
  const failed = sender.failed.signal
  let failure: unknown = null
  let line = 0
  try {
    const reader = createInterface({
      input: process.stdin,
      signal: AbortSignal.any([signal, failed]),
    })
    for await (const text of reader) {
      line++
      if (text.trim() !== '') await sender.add(parseLine(text, line), line)
      if (failed.aborted) break
    }
  } catch (error) {
    failure = error
  }
  await sender.end()
  const { counts, invalid } = sender
  return { counts, invalid, failure: failed.aborted ? failed.reason : failure }
}
