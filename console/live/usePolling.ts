import { useEffect, useRef } from 'preact/hooks'

const INTERVAL_MS = 15_000

/**
 * Calls the newest `load` again and again while the page is in front, for what has no events.
 * Failures wait for the next round: what is shown stays.
 */
export const usePolling = (
  load: (signal: AbortSignal) => Promise<void>,
  intervalMs = INTERVAL_MS,
): void => {
  const newest = useRef(load)
  newest.current = load
  useEffect(() => {
    const controller = new AbortController()
    let isLoading = false
    const timer = setInterval(async () => {
      if (isLoading || document.hidden) return
      isLoading = true
      await newest.current(controller.signal).catch(() => undefined)
      isLoading = false
    }, intervalMs)
    return () => {
      clearInterval(timer)
      controller.abort()
    }
  }, [])
}
