import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { load } from '../support/load.ts'

type Handler = (event: object) => void

const PAYLOAD = {
  title: 'SOS button: Tern 7',
  body: 'in Tavira',
  alertId: 'alr_1',
  emergency: true,
  kind: 'alert',
  link: '/a/00abcdefghjkmnpq',
  receipt: '/hooks/webpush/acc_1?message=msg_1&signature=x',
}

describe('the service worker', () => {
  const handlers = new Map<string, Handler>()
  const replies = new Map<string, () => Response>()
  const calls: string[] = []
  const showNotification = vi.fn(async (_title: string, _options: object) => undefined)
  const subscribe = vi.fn(async () => ({ toJSON: () => ({ endpoint: 'https://push.example/2' }) }))
  const openWindow = vi.fn(async () => undefined)
  let tabs: object[] = []

  /** Runs a handler to the end of what it waits for. */
  const dispatch = async (type: string, event: object = {}) => {
    const work: Promise<unknown>[] = []
    const waitUntil = (promise: Promise<unknown>) => work.push(promise)
    handlers.get(type)?.({ ...event, waitUntil, respondWith: waitUntil })
    return Promise.all(work)
  }
  const push = (payload: unknown) =>
    dispatch('push', { data: { text: () => JSON.stringify(payload) } })
  const click = (action: string, data: object = PAYLOAD) => {
    const notification = { title: PAYLOAD.title, data, close: vi.fn() }
    return dispatch('notificationclick', { action, notification })
  }

  beforeEach(async () => {
    for (const map of [handlers, replies]) map.clear()
    calls.length = 0
    tabs = []
    vi.clearAllMocks()
    vi.stubGlobal('addEventListener', (type: string, act: Handler) => handlers.set(type, act))
    vi.stubGlobal('registration', { showNotification, pushManager: { subscribe } })
    vi.stubGlobal('clients', { matchAll: async () => tabs, openWindow })
    vi.stubGlobal('fetch', async (path: string, init: RequestInit = {}) => {
      calls.push(`${init.method ?? 'GET'} ${path}`)
      const reply = replies.get(path)
      if (!reply) throw new TypeError('Failed to fetch')
      return reply()
    })
    await load('worker/sw.ts')
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  test('shows a push, then confirms it', async () => {
    replies.set(PAYLOAD.receipt, () => {
      expect(showNotification).toHaveBeenCalledOnce()
      return new Response()
    })
    await push(PAYLOAD)
    expect(showNotification.mock.calls[0]?.[0]).toBe(PAYLOAD.title)
    expect(calls).toEqual([`POST ${PAYLOAD.receipt}`])
  })

  test('confirms it again when that fails, three times in all', async () => {
    vi.useFakeTimers()
    const done = push(PAYLOAD)
    await vi.runAllTimersAsync()
    await done
    expect(calls).toEqual(Array(3).fill(`POST ${PAYLOAD.receipt}`))
  })

  test('shows what it cannot read, and confirms nothing', async () => {
    await dispatch('push', { data: null })
    expect(showNotification).toHaveBeenCalledOnce()
    expect(calls).toEqual([])
  })

  test.each([
    ['Acknowledged', () => new Response('<html>')],
    ['Not acknowledged', () => new Response('<html>', { status: 404 })],
  ])('acknowledges by the link and says: %s', async (title, reply) => {
    replies.set(PAYLOAD.link, reply)
    await click('acknowledge')
    expect(calls).toEqual([`POST ${PAYLOAD.link}`])
    expect(showNotification.mock.calls[0]?.[0]).toBe(title)
  })

  test('says that it could not acknowledge without a connection, or without a link', async () => {
    await click('acknowledge')
    await click('acknowledge', { alertId: 'alr_1', link: null })
    expect(showNotification.mock.calls.map(([title]) => title)).toEqual(
      Array(2).fill('Not acknowledged'),
    )
  })

  /** One that answers is of the console. */
  const makeTab = (path: string, answers: boolean) => ({
    url: `https://perigee.test${path}`,
    focus: vi.fn(async () => undefined),
    navigate: vi.fn(async () => undefined),
    postMessage: vi.fn((_message: object, [port]: MessagePort[]) => {
      if (answers) port?.postMessage(true)
    }),
  })

  test('opens the alert in a tab of the console, by its own router', async () => {
    const [link, map] = [makeTab('/a/x', false), makeTab('/', true)]
    tabs = [link, map]
    await click('')
    expect(map.focus).toHaveBeenCalledOnce()
    expect(map.postMessage.mock.calls[0]?.[0]).toEqual({ open: '/alerts/alr_1' })
    expect(map.navigate).not.toHaveBeenCalled()
    expect(link.focus).not.toHaveBeenCalled()
    expect(openWindow).not.toHaveBeenCalled()
  })

  test('loads the alert in a tab that does not answer, and else in a new one', async () => {
    const silent = makeTab('/devices', false)
    tabs = [silent]
    await click('open')
    expect(silent.navigate).toHaveBeenCalledExactlyOnceWith('/alerts/alr_1')
    tabs = []
    await click('open')
    expect(openWindow).toHaveBeenCalledExactlyOnceWith('/alerts/alr_1')
  })

  test('stores the subscription that replaces one which the browser ended', async () => {
    replies.set('/api/push/key', () => Response.json({ publicKey: 'BKey' }))
    replies.set('/api/Auth/Refresh', () => Response.json({ token: 'token' }))
    replies.set('/api/me/pushSubscriptions', () => Response.json({}, { status: 201 }))
    await dispatch('pushsubscriptionchange')
    expect(subscribe).toHaveBeenCalledExactlyOnceWith({
      userVisibleOnly: true,
      applicationServerKey: 'BKey',
    })
    expect(calls.at(-1)).toBe('POST /api/me/pushSubscriptions')
  })

  test('leaves that to the console while nobody is signed in', async () => {
    replies.set('/api/push/key', () => Response.json({ publicKey: 'BKey' }))
    replies.set('/api/Auth/Refresh', () => Response.json({}, { status: 401 }))
    await expect(dispatch('pushsubscriptionchange')).resolves.toEqual([undefined])
    expect(calls).not.toContain('POST /api/me/pushSubscriptions')
  })

  const open = (request: object, preloadResponse?: Promise<Response>) =>
    dispatch('fetch', { request, preloadResponse }) as Promise<Response[]>

  test('shows the offline page for a page that cannot be loaded, and for nothing else', async () => {
    const [page] = await open({ mode: 'navigate', method: 'GET' })
    expect(page?.status).toBe(503)
    expect(await page?.text()).toContain('No connection')
    expect(page?.headers.get('Content-Security-Policy')).toMatch(
      /^default-src 'none'; script-src 'nonce-[\w-]+'; style-src 'nonce-/,
    )
    expect(await open({ mode: 'cors', method: 'GET' })).toEqual([])
    expect(await open({ mode: 'navigate', method: 'POST' })).toEqual([])
  })

  test('gives a page as it is loaded', async () => {
    const loaded = new Response('page')
    const request = { mode: 'navigate', method: 'GET' }
    expect(await open(request, Promise.resolve(loaded))).toEqual([loaded])
    expect(calls).toEqual([])
  })
})
