/** An error with the two flags that the platform sets on errors of Durable Objects. */
interface PlatformError extends Error {
  retryable?: boolean
  overloaded?: boolean
}

/** The messages of an error and of what caused it: Drizzle wraps the errors of D1. */
export const textOf = (error: Error): string =>
  error.cause instanceof Error ? `${error.message} ${textOf(error.cause)}` : error.message

const OUR_FAULT = /SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE)|syntax error|no such (table|column)/
const PLATFORM_FAULT = /D1_ERROR|Network connection lost|overloaded|reset|timed? ?out/i
const UNKNOWN_METHOD = /does not implement the method/

/** A deploy has not reached the object yet, or the Worker. */
export const isOtherRelease = (error: Error): boolean => UNKNOWN_METHOD.test(error.message)

/** The platform failed, not our code: the same request may succeed later. */
export const isTransient = (error: Error): boolean => {
  const { retryable, overloaded } = error as PlatformError
  const text = textOf(error)
  return (
    !OUR_FAULT.test(text) &&
    (retryable === true ||
      overloaded === true ||
      isOtherRelease(error) ||
      PLATFORM_FAULT.test(text))
  )
}

const FAULTY =
  /SQLITE_(?!BUSY|LOCKED|IOERR|INTERRUPT|PROTOCOL)|maximum DB size|syntax error|no such (table|column)/
/** Of a request that has made all the calls it may: nothing was sent. */
const NOT_SENT = /too many (API |sub)requests/i

/** A statement cannot be executed. Its whole batch was undone. */
export const isFaulty = (error: unknown): boolean =>
  error instanceof Error && FAULTY.test(textOf(error))

/** Nothing of the call was stored, so it may be made again. */
export const isNotStored = (error: unknown): boolean =>
  isFaulty(error) || (error instanceof Error && NOT_SENT.test(textOf(error)))

/** More load would make these worse, and a slow query would be slow again. */
const NOT_NOW = /overloaded|timed? ?out|exceeded/i

/** The same call must not be made again at once. */
export const isOverloaded = (error: unknown): boolean =>
  error instanceof Error &&
  ((error as PlatformError).overloaded === true || NOT_NOW.test(textOf(error)))

const isWorthRetry = (error: unknown): boolean =>
  error instanceof Error && isTransient(error) && !isOverloaded(error)

const MIN_WAIT_MS = 50
const MAX_WAIT_MS = 150

/**
 * Repeats `work` once after a transient error: a lost connection, or an object that a deploy has
 * reset. Only for reads, and for writes that change nothing when they are made twice.
 */
export const retryTransient = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!isWorthRetry(error)) throw error
    await scheduler.wait(MIN_WAIT_MS + Math.random() * (MAX_WAIT_MS - MIN_WAIT_MS))
    return work()
  }
}

/** A statement that runs again after a transient error. */
class RetryingStatement {
  readonly plain: D1PreparedStatement

  constructor(plain: D1PreparedStatement) {
    this.plain = plain
  }

  bind(...values: unknown[]): RetryingStatement {
    return new RetryingStatement(this.plain.bind(...values))
  }

  all(): Promise<D1Result> {
    return retryTransient(() => this.plain.all())
  }

  run(): Promise<D1Result> {
    return retryTransient(() => this.plain.run())
  }

  raw(): Promise<unknown[][]> {
    return retryTransient(() => this.plain.raw())
  }

  first(): Promise<unknown> {
    return retryTransient(() => this.plain.first())
  }
}

/** A client whose statements and batches run again after a transient error. */
export const retryingClient = (client: D1Database): D1Database => {
  const retrying = {
    prepare: (text: string) => new RetryingStatement(client.prepare(text)),
    batch: (statements: RetryingStatement[]) =>
      retryTransient(() => client.batch(statements.map(({ plain }) => plain))),
  }
  return retrying as unknown as D1Database
}

/** Counts each statement that is prepared. */
export const countingClient = (client: D1Database, onQuery: () => void): D1Database => {
  const prepare = (text: string) => {
    onQuery()
    return client.prepare(text)
  }
  const batch: D1Database['batch'] = (statements) => client.batch(statements)
  return { prepare, batch } as D1Database
}
