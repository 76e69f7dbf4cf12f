import { useCallback, useEffect, useRef } from 'preact/hooks'
import { type LiveEvent, live } from './stream.ts'

/** Calls the newest `handler` for events of these types while the component is shown. */
export const useLiveEvents = (
  types: readonly string[],
  handler: (event: LiveEvent) => void,
  onGap: () => void,
): void => {
  const newest = useRef({ handler, onGap })
  newest.current = { handler, onGap }
  const key = types.join()
  useEffect(() => {
    const stop = live.on(key.split(','), (event) => newest.current.handler(event))
    const stopGap = live.onGap(() => newest.current.onGap())
    return () => {
      stop()
      stopGap()
    }
  }, [key])
}

const GATHER_MS = 500

/** Calls `reload` once for calls that come together. */
export const useGathered = (reload: () => void, gatherMs = GATHER_MS): (() => void) => {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const newest = useRef(reload)
  newest.current = reload
  // Not put off by each event: on a busy account they never cease.
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      newest.current()
    }, gatherMs)
  }, [gatherMs])
}

/** Loads again, once for events that come together. */
export const useLiveReload = (types: readonly string[], reload: () => void): void => {
  const schedule = useGathered(reload)
  useLiveEvents(types, schedule, schedule)
}
