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
let guard: (() => boolean) | null = null

export const setLeaveGuard = (isDirty: (() => boolean) | null, question = ''): void => {
  guard = isDirty && (() => !isDirty() || confirm(question))
}

export const navigate = (to: string, { replace = false } = {}): void => {
  const url = new URL(to, location.href)
  const isSamePath = url.pathname === location.pathname
  if (!isSamePath && guard && !guard()) return
  if (!isSamePath) guard = null
  history[replace ? 'replaceState' : 'pushState'](null, '', url)
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

export const match = (pattern: string, path: string): Record<string, string> | null => {
  const [wanted, given] = [pattern.split('/'), path.replace(/(.)\/$/, '$1').split('/')]
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [at, part] of wanted.entries()) {
    const value = given[at] ?? ''
    if (part.startsWith(':')) {
      if (value === '') return null
      params[part.slice(1)] = decodeURIComponent(value)
    } else if (part !== value) return null
  }
  return params
}

/** Paths that the service answers itself. Links to them leave the console. */
const OUTSIDE = /^\/(api|admin|docs|healthz|problems|hooks|a|in)(\/|$)/

const isPlainClick = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey

export const startRouter = (): void => {
  addEventListener('popstate', () => {
    guard = null
    place.value = readPlace()
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
