import { useEffect, useRef } from 'preact/hooks'
import { setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'

/** Asks before a page with unsaved input is left. */
export const useLeaveGuard = (isDirty: boolean): void => {
  const state = useRef(isDirty)
  state.current = isDirty
  useEffect(() => {
    setLeaveGuard(() => state.current, text.shell.discard)
    return () => setLeaveGuard(null)
  }, [])
}
