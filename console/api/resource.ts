import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { PerigeeError } from '../../clients/typescript/src/error.ts'
import { isOffline, onBack } from './connection.ts'
import { isAborted, toError } from './errors.ts'

/** Tries again once there is a connection, where a call had no answer. */
const useRetry = (error: PerigeeError | null, retry: () => void): void => {
  const newest = useRef(retry)
  newest.current = retry
  const hasNoReply = isOffline(error)
  // At once: after the paint the connection may be back already.
  useLayoutEffect(() => (hasNoReply ? onBack(() => newest.current()) : undefined), [hasNoReply])
}

export interface Resource<T> {
  data: T | null
  error: PerigeeError | null
  isPending: boolean
  /** Loads again and keeps showing what is there. */
  reload: () => void
  /** Replaces the data without a call, for example after a live event. */
  set: (change: (data: T) => T) => void
}

const NOTHING = { data: null, error: null, isPending: true }

const isSame = (before: readonly unknown[], now: readonly unknown[]): boolean =>
  before.every((value, at) => Object.is(value, now[at]))

/** Loads when the component appears and whenever `deps` change. */
export const useResource = <T>(
  load: (signal: AbortSignal) => Promise<T>,
  deps: readonly unknown[],
): Resource<T> => {
  const [state, setState] = useState<Pick<Resource<T>, 'data' | 'error' | 'isPending'>>(NOTHING)
  const [round, setRound] = useState(0)
  const lastDeps = useRef(deps)
  useEffect(() => {
    const controller = new AbortController()
    const isReload = isSame(lastDeps.current, deps)
    lastDeps.current = deps
    setState((before) => (isReload ? { ...before, isPending: true } : NOTHING))
    load(controller.signal)
      .then((data) => {
        // Not every part of a load can be aborted: an older answer must not replace a newer one.
        if (!controller.signal.aborted) setState({ data, error: null, isPending: false })
      })
      .catch((error) => {
        if (isAborted(error) || controller.signal.aborted) return
        setState((before) => ({ ...before, error: toError(error), isPending: false }))
      })
    return () => controller.abort()
  }, [...deps, round])
  const reload = useCallback(() => setRound((before) => before + 1), [])
  useRetry(state.error, reload)
  const set = useCallback(
    (change: (data: T) => T) =>
      setState((before) => (before.data ? { ...before, data: change(before.data) } : before)),
    [],
  )
  // Nothing of another one is shown, not even until the first paint.
  return { ...(isSame(lastDeps.current, deps) ? state : NOTHING), reload, set }
}

export interface Page<T> {
  items: T[]
  nextCursor: string | null
}

export interface Pages<T> {
  items: T[]
  error: PerigeeError | null
  isPending: boolean
  hasMore: boolean
  /** Loads the next page, or what has just failed. */
  loadMore: () => void
  reload: () => void
  set: (change: (items: T[]) => T[]) => void
}

/** At most so many pages are loaded again at once. */
const MAX_RELOADED_PAGES = 20

/** Reads from the cursor on until there are so many items, at least one, or no more. */
const readItems = async <T>(
  load: (cursor: string | null) => Promise<Page<T>>,
  from: string | null,
  minCount: number,
): Promise<Page<T>> => {
  const { items, nextCursor } = await load(from)
  const found = [...items]
  let cursor = nextCursor
  for (let count = 1; count < MAX_RELOADED_PAGES; count++) {
    if (cursor === null || found.length >= Math.max(1, minCount)) break
    const page = await load(cursor)
    found.push(...page.items)
    cursor = page.nextCursor
  }
  return { items: found, nextCursor: cursor }
}

/**
 * A list that is loaded page by page; `Table` asks for the next page as its reader scrolls. When it
 * is loaded again, it stays as long as it was, so that a reader far down the list stays there.
 */
export const usePages = <T>(
  load: (cursor: string | null, signal: AbortSignal) => Promise<Page<T>>,
  deps: readonly unknown[],
): Pages<T> => {
  const [state, setState] = useState<{ items: T[]; cursor: string | null; isComplete: boolean }>({
    items: [],
    cursor: null,
    isComplete: false,
  })
  const [isPending, setIsPending] = useState(true)
  const [error, setError] = useState<PerigeeError | null>(null)
  const [round, setRound] = useState(0)
  const current = useRef<AbortController | null>(null)
  const lastDeps = useRef(deps)
  const hasFailedToReload = useRef(false)

  const loadPage = (cursor: string | null, minCount = 0) => {
    const controller = new AbortController()
    current.current = controller
    hasFailedToReload.current = false
    setIsPending(true)
    setError(null)
    readItems((next) => load(next, controller.signal), cursor, minCount)
      .then(({ items, nextCursor }) => {
        if (controller.signal.aborted) return
        setState((before) => ({
          items: cursor === null ? items : [...before.items, ...items],
          cursor: nextCursor,
          isComplete: nextCursor === null,
        }))
        setIsPending(false)
      })
      .catch((error) => {
        if (isAborted(error) || controller.signal.aborted) return
        hasFailedToReload.current = cursor === null
        // What another filter has found must not be taken for what this one finds.
        if (cursor === null && minCount === 0)
          setState({ items: [], cursor: null, isComplete: false })
        setError(toError(error))
        setIsPending(false)
      })
  }
  useEffect(() => {
    const isReload = isSame(lastDeps.current, deps)
    lastDeps.current = deps
    loadPage(null, isReload ? state.items.length : 0)
    return () => current.current?.abort()
  }, [...deps, round])

  const reload = useCallback(() => setRound((before) => before + 1), [])
  const set = useCallback(
    (change: (items: T[]) => T[]) =>
      setState((before) => ({ ...before, items: change(before.items) })),
    [],
  )
  const loadMore = () => {
    if (isPending) return
    if (hasFailedToReload.current) reload()
    else if (state.cursor !== null) loadPage(state.cursor)
  }
  useRetry(error, loadMore)
  const hasMore = !state.isComplete && state.cursor !== null
  return { items: state.items, error, isPending, hasMore, loadMore, reload, set }
}

export interface Action<Args extends unknown[]> {
  run: (...args: Args) => Promise<boolean>
  isPending: boolean
  error: PerigeeError | null
  clear: () => void
}

/** An action with its pending state and its error. `run` returns whether it succeeded. */
export const useAction = <Args extends unknown[]>(
  act: (...args: Args) => Promise<unknown>,
): Action<Args> => {
  const [isPending, setIsPending] = useState(false)
  const [error, setError] = useState<PerigeeError | null>(null)
  const run = async (...args: Args): Promise<boolean> => {
    setIsPending(true)
    setError(null)
    try {
      await act(...args)
      return true
    } catch (error) {
      setError(toError(error))
      return false
    } finally {
      setIsPending(false)
    }
  }
  return { run, isPending, error, clear: () => setError(null) }
}
