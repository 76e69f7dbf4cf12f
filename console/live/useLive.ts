import { useEffect, useRef } from 'preact/hooks'
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

/** Loads again, once for events that come together. */
export const useLiveReload = (types: readonly string[], reload: () => void): void => {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // Not put off by each event: on a busy account they never cease.
  const schedule = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      reload()
    }, GATHER_MS)
  }
  useLiveEvents(types, schedule, schedule)
}
