import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

const PAUSE_MS = 300

/**
 * What is typed, reported once the reader pauses, without spaces around it. The field keeps them:
 * after "Tern " comes "7".
 */
export const useDelayedInput = (value: string, onInput: (value: string) => void) => {
  const [typed, setTyped] = useState(value)
  const reported = useRef(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useLayoutEffect(() => {
    // Only a change from elsewhere, such as the back button, replaces what is typed.
    if (value === reported.current) return
    clearTimeout(timer.current)
    setTyped(value)
    reported.current = value
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const type = (next: string) => {
    setTyped(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      reported.current = next.trim()
      onInput(reported.current)
    }, PAUSE_MS)
  }
  return { typed, type }
}
