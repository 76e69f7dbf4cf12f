import { useEffect } from 'preact/hooks'
import { isOnline, isReachable } from '../api/connection.ts'
import { hasTypedInput } from '../router/router.ts'

const PAUSE_MS = 500
/** A part that is really missing must not reload the page again and again. */
const MIN_RELOAD_MS = 60_000
const RELOADED = 'perigee.reloaded'

const waitAndReload = async (signal: AbortSignal): Promise<void> => {
  // The connection broke only briefly, or the part is missing.
  const isBrief = await isReachable()
  if (isBrief && Date.now() - Number(sessionStorage.getItem(RELOADED)) < MIN_RELOAD_MS) return
  while (!signal.aborted && (!isOnline.peek() || hasTypedInput() || !(await isReachable())))
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  if (signal.aborted) return
  if (isBrief) sessionStorage.setItem(RELOADED, String(Date.now()))
  location.reload()
}

/**
 * Loads the page anew once the service can be reached again. A second import of the missing part
 * would leave out its CSS.
 */
export const useReloadWhenBack = (hasFailed: boolean): void =>
  useEffect(() => {
    if (!hasFailed) return
    const controller = new AbortController()
    void waitAndReload(controller.signal)
    return () => controller.abort()
  }, [hasFailed])
