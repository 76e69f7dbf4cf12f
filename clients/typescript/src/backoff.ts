const FIRST_WAIT_MS = 400

/** Doubles with each attempt, and differs between clients that failed at the same time. */
export const backoffMs = (attempts: number, maxMs: number): number =>
  Math.min(maxMs, FIRST_WAIT_MS * 2 ** attempts) * (0.75 + Math.random() / 2)

/**
 * True once the promise has settled, false after `ms`. In a Worker, what an ended request began
 * never settles: its callers wait by timers of their own.
 */
export const settlesWithin = (promise: Promise<unknown>, ms: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms)
    const settle = () => {
      clearTimeout(timer)
      resolve(true)
    }
    promise.then(settle, settle)
  })

/** What the promise gives, or a rejection as soon as the signal is aborted. */
export const unlessAborted = <T>(given: Promise<T> | T, signal?: AbortSignal): Promise<T> => {
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort)
  })
  return Promise.race([aborted, given]).finally(() => signal?.removeEventListener('abort', abort))
}

/** Waits, or rejects with the reason of the signal as soon as it is aborted. */
export const wait = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
