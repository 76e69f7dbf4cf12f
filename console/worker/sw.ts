import { type NotificationData, notificationOf, outcomeOf, readPayload } from './notification.ts'
import { offlinePage } from './offlinePage.ts'
import { type Tab, worker } from './scope.ts'

/* The service worker: shows pushes, acknowledges from them, and says when there is no connection. */

const RECEIPT_RETRIES_MS = [0, 2000, 10_000]
/** A tab of the console answers at once; other pages of the service never do. */
const TAB_ANSWER_MS = 1000
/** Pages of the service that are not the console. */
const OTHER_PAGES = /^\/(a|c|api|docs|problems)(\/|$)/

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Whether the service took it. */
const post = async (path: string): Promise<boolean> => {
  try {
    return (await fetch(path, { method: 'POST', redirect: 'error', cache: 'no-store' })).ok
  } catch {
    return false
  }
}

/** Without a receipt the service assumes that nobody was reached, and notifies others. */
const sendReceipt = async (path: string): Promise<void> => {
  for (const delay of RECEIPT_RETRIES_MS) {
    if (delay > 0) await wait(delay)
    if (await post(path)) return
  }
}

const showPush = async (sent: string): Promise<void> => {
  const payload = readPayload(sent)
  const { title, options } = notificationOf(payload)
  await worker.registration.showNotification(title, options)
  if (payload?.receipt) await sendReceipt(payload.receipt)
}

const acknowledge = async ({ title, data }: Notification): Promise<void> => {
  const { link } = data as NotificationData
  const outcome = outcomeOf({ title, data }, link !== null && (await post(link)))
  await worker.registration.showNotification(outcome.title, outcome.options)
}

/** The console changes its page itself, so that input of the page is not lost without a question. */
const askToOpen = (tab: Tab, path: string): Promise<boolean> => {
  const { port1, port2 } = new MessageChannel()
  const answer = new Promise<boolean>((resolve) => {
    port1.onmessage = () => resolve(true)
  })
  tab.postMessage({ open: path }, [port2])
  const answered = Promise.race([answer, wait(TAB_ANSWER_MS).then(() => false)])
  return answered.finally(() => port1.close())
}

const openPath = async (path: string): Promise<void> => {
  const tabs = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const pathOf = ({ url }: Tab): string => new URL(url).pathname
  const ofConsole = tabs.filter((tab) => !OTHER_PAGES.test(pathOf(tab)))
  const tab = ofConsole.find((one) => pathOf(one) === path) ?? ofConsole[0]
  try {
    if (!tab) throw new Error('No tab is open.')
    await tab.focus()
    if (!(await askToOpen(tab, path))) await tab.navigate(path)
  } catch {
    await worker.clients.openWindow(path)
  }
}

const json = async (path: string, init: RequestInit = {}): Promise<Record<string, string>> => {
  const reply = await fetch(path, { ...init, cache: 'no-store' })
  if (!reply.ok) throw new Error(`${path}: ${reply.status}`)
  return (await reply.json()) as Record<string, string>
}

/** The browser has ended its subscription. The session's cookie is enough to store another one. */
const subscribeAgain = async (): Promise<void> => {
  const { publicKey = '' } = await json('/api/push/key')
  const options = { userVisibleOnly: true, applicationServerKey: publicKey }
  const subscription = await worker.registration.pushManager.subscribe(options)
  const { token } = await json('/api/Auth/Refresh', { method: 'POST' })
  await json('/api/me/pushSubscriptions', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify(subscription),
  })
}

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()))

worker.addEventListener('activate', (event) =>
  event.waitUntil(
    Promise.all([worker.clients.claim(), worker.registration.navigationPreload?.enable()]),
  ),
)

worker.addEventListener('push', (event) => event.waitUntil(showPush(event.data?.text() ?? '')))

worker.addEventListener('notificationclick', (event) => {
  const { action, notification } = event
  const { alertId } = notification.data as NotificationData
  notification.close()
  event.waitUntil(
    action === 'acknowledge'
      ? acknowledge(notification)
      : openPath(alertId ? `/alerts/${encodeURIComponent(alertId)}` : '/'),
  )
})

worker.addEventListener('pushsubscriptionchange', (event) =>
  // Signed out, or no connection: the console subscribes at the next visit.
  event.waitUntil(subscribeAgain().catch(() => undefined)),
)

/** Only pages, and only when they cannot be loaded: nothing is cached. */
worker.addEventListener('fetch', (event) => {
  const { request, preloadResponse } = event
  if (request.mode !== 'navigate' || request.method !== 'GET') return
  const load = async () => (await preloadResponse) ?? fetch(request)
  event.respondWith(load().catch(offlinePage))
})
