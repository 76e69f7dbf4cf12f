import { canSettleOthers } from '../env.ts'
import { countText, KnownStatements } from './knownStatements.ts'
import { isFaulty, isNotStored, isOverloaded } from './transient.ts'

/*
 * Joins the calls that requests of one isolate make to one database at the same time. While a call is
 * under way, further small ones wait; the first of them sends all as one batch, which is one round
 * trip and one commit, and gives each its part of the results.
 */

/** How long a call waits for the one under way. With a distant database more would be slower. */
const MAX_WAIT_MS = 4
/** D1 counts each statement against the 1,000 of the request that sends the batch. */
const MAX_STATEMENTS = 100
/** Bound text of one call, and of a batch: large reports would delay small calls. */
const MAX_CHARACTERS = 8000
const MAX_BATCH_CHARACTERS = 16_000
/**
 * If the request that sent a batch has ended, nobody passes its results on. With the one retry a
 * caller may wait twice as long.
 */
const LOST_AFTER_MS = 25_000
const LOST = 'Network connection lost: no results of the joined batch'

interface Call {
  statements: JoiningStatement[]
  /** Makes the request of this call send all that wait. */
  wake: () => void
  /** Null: the batch failed, and the call must run alone. */
  settle: (results: D1Result[] | null) => void
  fail: (error: unknown) => void
}

const countCharacters = (statements: JoiningStatement[]): number =>
  statements.reduce((sum, { characters }) => sum + characters, 0)

const isReadOnly = (statements: JoiningStatement[]): boolean =>
  statements.every(({ text }) => /^\s*SELECT\b/i.test(text))

class JoiningStatement {
  readonly joiner: Joiner
  readonly text: string
  readonly plain: D1PreparedStatement
  readonly characters: number

  constructor(joiner: Joiner, text: string, plain: D1PreparedStatement, characters = 0) {
    this.joiner = joiner
    this.text = text
    this.plain = plain
    this.characters = characters
  }

  bind(...values: unknown[]): JoiningStatement {
    const { joiner, text, plain } = this
    return new JoiningStatement(joiner, text, plain.bind(...values), countText(values))
  }

  async all(): Promise<D1Result> {
    return (await this.joiner.run([this]))[0] as D1Result
  }

  run(): Promise<D1Result> {
    return this.all()
  }

  async first(): Promise<unknown> {
    return (await this.all()).results[0] ?? null
  }

  /** Goes alone: a batch returns no rows of this form. */
  raw(): Promise<unknown[][]> {
    return this.plain.raw()
  }
}

/** The calls to one database. */
class Joiner {
  readonly #client: D1Database
  readonly #waiting: Call[] = []
  /** When the last call was sent, unless it has returned. It may never do so after a disconnect. */
  #sentAt = Number.NEGATIVE_INFINITY
  #lastSent = 0
  readonly #known = new KnownStatements()

  constructor(client: D1Database) {
    this.#client = client
  }

  run(statements: JoiningStatement[]): Promise<D1Result[]> {
    const isLong = countCharacters(statements) > MAX_CHARACTERS
    if (isLong || statements.length > MAX_STATEMENTS || !this.#known.mayJoin(statements)) {
      // Reports of a device are sent in the order in which they came.
      while (this.#waiting.length > 0 && !isReadOnly(statements)) this.#sendWaiting()
      return isLong ? this.#call(statements) : this.#callAlone(statements)
    }
    const waitMs = this.#sentAt + MAX_WAIT_MS - Date.now()
    const isFree = this.#waiting.length === 0 && waitMs <= 0
    if (isFree) return this.#makeWait(() => this.#callAlone(statements))
    return this.#wait(statements, Math.max(waitMs, 1))
  }

  /** Waits for the call under way, and lets another request send this one. */
  async #wait(statements: JoiningStatement[], waitMs: number): Promise<D1Result[]> {
    const { promise: woken, resolve: wake } = Promise.withResolvers<void>()
    const { promise, resolve: settle, reject: fail } = Promise.withResolvers<D1Result[] | null>()
    const call = { statements, wake, settle, fail }
    this.#waiting.push(call)
    void woken.then(() => this.#sendWaiting())
    // The runtime ends a request that waits for nothing of its own: there must always be a timer.
    const loseLater = () => setTimeout(() => fail(new Error(LOST)), LOST_AFTER_MS)
    let timer = setTimeout(() => {
      timer = loseLater()
      while (this.#waiting.includes(call)) this.#sendWaiting()
    }, waitMs)
    // After a disconnect the request goes on: others may wait for what it sends.
    waitUntil?.(promise.catch(() => {}))
    try {
      return (await promise) ?? (await this.#callAlone(statements))
    } finally {
      clearTimeout(timer)
    }
  }

  /** Sends what waits as one batch, as a part of the present request. */
  #sendWaiting(): void {
    const calls = this.#takeWaiting()
    if (calls.length > 0) waitUntil?.(this.#makeWait(() => this.#sendJoined(calls)))
  }

  async #sendJoined(calls: Call[]): Promise<void> {
    const all = calls.flatMap(({ statements }) => statements)
    try {
      const results = this.#known.learn(all, await this.#call(all))
      let at = 0
      for (const { statements, settle } of calls) {
        settle(results.slice(at, at + statements.length))
        at += statements.length
      }
    } catch (error) {
      // A write that may have been stored is not repeated here.
      const mayRepeat = ({ statements }: Call) =>
        isNotStored(error) || (isReadOnly(statements) && !isOverloaded(error))
      for (const call of calls)
        if (calls.length > 1 && mayRepeat(call)) call.settle(null)
        else call.fail(error)
    }
  }

  /** The calls that waited longest, as many as one batch may have. */
  #takeWaiting(): Call[] {
    let [calls, count, characters] = [0, 0, 0]
    for (const { statements } of this.#waiting) {
      count += statements.length
      characters += countCharacters(statements)
      if (count > MAX_STATEMENTS || characters > MAX_BATCH_CHARACTERS) break
      calls++
    }
    return this.#waiting.splice(0, calls)
  }

  /** Does something that others wait for. */
  async #makeWait<T>(work: () => Promise<T>): Promise<T> {
    const id = ++this.#lastSent
    this.#sentAt = Date.now()
    try {
      return await work()
    } finally {
      if (id === this.#lastSent) {
        this.#sentAt = Number.NEGATIVE_INFINITY
        this.#waiting[0]?.wake()
      }
    }
  }

  async #callAlone(statements: JoiningStatement[]): Promise<D1Result[]> {
    try {
      return this.#known.learn(statements, await this.#call(statements))
    } catch (error) {
      // Joined, it would make others run twice.
      if (isFaulty(error)) this.#known.goAlone(statements)
      throw error
    }
  }

  async #call(statements: JoiningStatement[]): Promise<D1Result[]> {
    const [only] = statements
    return only && statements.length === 1
      ? [await only.plain.all()]
      : this.#client.batch(statements.map(({ plain }) => plain))
  }
}

/** Keeps the present request until a promise is settled; null where calls are not joined. */
let waitUntil: ((promise: Promise<unknown>) => void) | null = null

/** Lets calls join, where the runtime allows it. */
export const startJoining = (keep: (promise: Promise<unknown>) => void): void => {
  if (canSettleOthers) waitUntil = keep
}

/** A client whose small calls are joined with those of other requests. */
export const joiningClient = (client: D1Database): D1Database => {
  if (!waitUntil) return client
  const joiner = new Joiner(client)
  const joining = {
    prepare: (text: string) => new JoiningStatement(joiner, text, client.prepare(text)),
    batch: (statements: JoiningStatement[]) => joiner.run(statements),
  }
  return joining as unknown as D1Database
}
