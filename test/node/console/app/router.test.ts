import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { load } from '../support/load.ts'

interface Router {
  startRouter: () => void
  navigate: (to: string) => void
  setLeaveGuard: (isDirty: (() => boolean) | null, question?: string) => void
  place: { value: { path: string } }
  match: (pattern: string, path: string) => Record<string, string> | null
}

/** As much of a browser's window as the router uses: a history of addresses with their states. */
const openWindow = (path: string) => {
  const entries: { url: URL; state: unknown }[] = [
    { url: new URL(path, 'https://perigee.test'), state: null },
  ]
  const handlers = new Map<string, (event: object) => void>()
  let at = 0
  const here = () => entries[at] as { url: URL; state: unknown }
  const history = {
    get state() {
      return here().state
    },
    pushState(state: unknown, _: string, url: URL) {
      entries.splice(++at, entries.length, { url: new URL(url), state })
    },
    replaceState(state: unknown, _: string, url: string | URL) {
      entries[at] = { url: new URL(url), state }
    },
    go(steps: number) {
      at += steps
      handlers.get('popstate')?.({})
    },
  }
  vi.stubGlobal('location', new Proxy({}, { get: (_, name) => Reflect.get(here().url, name) }))
  vi.stubGlobal('history', history)
  vi.stubGlobal('scrollTo', () => undefined)
  vi.stubGlobal('addEventListener', (type: string, handler: (event: object) => void) =>
    handlers.set(type, handler),
  )
  return { handlers, go: history.go, path: () => here().url.pathname }
}

describe('the router', () => {
  let router: Router
  let opened: ReturnType<typeof openWindow>
  const confirm = vi.fn()

  beforeEach(async () => {
    opened = openWindow('/devices')
    vi.stubGlobal('confirm', confirm.mockReset())
    router = await load('router/router.ts')
    router.startRouter()
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.resetModules()
  })

  test('asks before the back button leaves unsaved input, and stays', () => {
    router.navigate('/devices/new')
    router.setLeaveGuard(() => true, 'Discard?')
    confirm.mockReturnValue(false)
    opened.go(-1)
    expect(confirm).toHaveBeenCalledExactlyOnceWith('Discard?')
    expect(opened.path()).toBe('/devices/new')
    expect(router.place.value.path).toBe('/devices/new')

    confirm.mockReturnValue(true)
    opened.go(-1)
    expect(router.place.value.path).toBe('/devices')
  })

  test('goes back over several pages without input, and undoes as many', () => {
    router.navigate('/alerts')
    router.navigate('/groups/new')
    router.setLeaveGuard(() => true, 'Discard?')
    confirm.mockReturnValue(false)
    opened.go(-2)
    expect(opened.path()).toBe('/groups/new')
    router.setLeaveGuard(null)
    opened.go(-2)
    expect(router.place.value.path).toBe('/devices')
    expect(confirm).toHaveBeenCalledOnce()
  })

  test('has the browser ask before a page with unsaved input is closed', () => {
    const close = () => {
      const preventDefault = vi.fn()
      opened.handlers.get('beforeunload')?.({ preventDefault })
      return preventDefault.mock.calls.length > 0
    }
    expect(close()).toBe(false)
    router.setLeaveGuard(() => true)
    expect(close()).toBe(true)
  })

  test('finds no page for an address that cannot be decoded', () => {
    expect(router.match('/devices/:deviceId', '/devices/50%')).toBeNull()
    expect(router.match('/devices/:deviceId', '/devices/a%20b')).toEqual({ deviceId: 'a b' })
  })
})
