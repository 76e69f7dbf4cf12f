import { useEffect, useRef } from 'preact/hooks'

const INTERVAL_MS = 10_000

/**
 * Calls the newest `load` every 10 seconds while the page is in front. Failures wait for the next
 * round: what is shown stays.
 */
export const usePolling = (load: (signal: AbortSignal) => Promise<void>): void => {
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
    }, INTERVAL_MS)
    return () => {
      clearInterval(timer)
      controller.abort()
    }
  }, [])
}
