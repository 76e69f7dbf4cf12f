import { useEffect } from 'preact/hooks'
import { ApiError } from '../api/problem.ts'
import { send } from '../api/send.ts'
import { hasUnsavedInput } from '../router/router.ts'

const PROBE_MS = 3000

const isReachable = (): Promise<boolean> =>
  send({ method: 'GET', path: '/healthz' }).then(
    () => true,
    (error) => !(error instanceof ApiError && error.isOffline),
  )

const waitAndReload = async (signal: AbortSignal): Promise<void> => {
  // What is missing although the service answers, no reload by itself would bring.
  if (await isReachable()) return
  do await new Promise((resolve) => setTimeout(resolve, PROBE_MS))
  while (!signal.aborted && (!(await isReachable()) || hasUnsavedInput()))
  if (!signal.aborted) location.reload()
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
