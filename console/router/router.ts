import { signal } from '@preact/signals'

/* Addresses of the console's pages, with the browser's own history. */

export interface Place {
  path: string
  query: URLSearchParams
}

const readPlace = (): Place => ({
  path: location.pathname,
  query: new URLSearchParams(location.search),
})

export const place = signal<Place>(readPlace())

/** Set by a form with unsaved input; asks before its page is left. */
let guard: { isDirty: () => boolean; question: string } | null = null

export const setLeaveGuard = (isDirty: (() => boolean) | null, question = ''): void => {
  guard = isDirty && { isDirty, question }
}

export const hasUnsavedInput = (): boolean => guard?.isDirty() ?? false

/** The field of a form that was last typed into: not every form asks before it is left. */
let lastTyped: HTMLInputElement | null = null

/** True also for what may be left without a question, but must not vanish by itself. */
export const hasTypedInput = (): boolean =>
  hasUnsavedInput() || (lastTyped?.isConnected === true && lastTyped.value !== '')

const canLeave = (): boolean => !hasUnsavedInput() || confirm(guard?.question)

/**
 * The position in the history, kept with each of its entries. It shows how far the back button went,
 * so that the step can be undone.
 */
let position = 0

/** An entry without a position is a new one: the first, or that of a link to a part of the page. */
const readPosition = (next: number): number => {
  const state: unknown = history.state
  if (typeof state === 'number') return state
  history.replaceState(next, '', location.href)
  return next
}

export const navigate = (to: string, { replace = false } = {}): void => {
  const url = new URL(to, location.href)
  const isSamePath = url.pathname === location.pathname
  if (!isSamePath && !canLeave()) return
  if (!isSamePath) guard = null
  if (!replace) position++
  history[replace ? 'replaceState' : 'pushState'](position, '', url)
  place.value = readPlace()
  if (!isSamePath) scrollTo(0, 0)
}

/** Changes members of the query; empty ones are removed. The back button skips the change. */
export const setQuery = (changes: Record<string, string | null>): void => {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes))
    if (value) query.set(name, value)
    else query.delete(name)
  const search = query.size > 0 ? `?${query}` : ''
  navigate(`${location.pathname}${search}`, { replace: true })
}

/** Null for an address that somebody has mistyped, such as `/devices/50%`. */
const decodePart = (part: string): string | null => {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

export const match = (pattern: string, path: string): Record<string, string> | null => {
  const [wanted, given] = [pattern.split('/'), path.replace(/(.)\/$/, '$1').split('/')]
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [at, part] of wanted.entries()) {
    const value = given[at] ?? ''
    if (part.startsWith(':')) {
      if (value === '') return null
      const decoded = decodePart(value)
      if (decoded === null) return null
      params[part.slice(1)] = decoded
    } else if (part !== value) return null
  }
  return params
}

/** Paths that the service answers itself. Links to them leave the console. */
const OUTSIDE = /^\/(api|admin|docs|healthz|problems|hooks|a|c|in)(\/|$)/

const isPlainClick = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey

/** The back or forward button. The address has changed already, so a refusal changes it back. */
const followHistory = (): void => {
  const isOwnEntry = typeof history.state === 'number'
  const steps = readPosition(position + 1) - position
  const isSamePath = location.pathname === place.peek().path
  if (!isSamePath && isOwnEntry && steps !== 0 && !canLeave()) {
    history.go(-steps)
    return
  }
  position += steps
  if (!isSamePath) guard = null
  place.value = readPlace()
}

export const startRouter = (): void => {
  position = readPosition(0)
  addEventListener('popstate', followHistory)
  // Closing or reloading the page. The browser asks in its own words.
  addEventListener('beforeunload', (event) => {
    if (hasUnsavedInput()) event.preventDefault()
  })
  addEventListener('input', ({ target }) => {
    if ((target as HTMLInputElement).form) lastTyped = target as HTMLInputElement
  })
  addEventListener('click', (event) => {
    if (event.defaultPrevented || !isPlainClick(event)) return
    const link = (event.target as Element).closest?.('a')
    if (!link || link.target || link.hasAttribute('download')) return
    const url = new URL(link.href, location.href)
    if (url.origin !== location.origin || OUTSIDE.test(url.pathname)) return
    if (url.hash && url.pathname === location.pathname) return
    event.preventDefault()
    navigate(url.href)
  })
}
