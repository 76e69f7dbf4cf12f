import { session } from '../session/session.ts'
import { readBrowsers, readPushKey, removeBrowser, storeBrowser } from './api.ts'
import { isOfOther, nextStep, readStored, type Viewer, writeStored } from './stored.ts'

/* Notifications in this browser. */

/** An active one; null without https, and where a browser has no service workers. */
export const registerWorker = async (): Promise<ServiceWorkerRegistration | null> =>
  (await navigator.serviceWorker?.register('/sw.js')) ? navigator.serviceWorker.ready : null

const findRegistration = async (): Promise<ServiceWorkerRegistration | undefined> =>
  navigator.serviceWorker?.getRegistration('/')

const findSubscription = async (): Promise<PushSubscription | null> =>
  (await (await findRegistration())?.pushManager?.getSubscription()) ?? null

export const canNotify = (): boolean =>
  'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis

/** In base64url, as the service gives it. */
const encodeKey = (key: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(key)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const subscribe = async (publicKey: string): Promise<PushSubscription> => {
  const { pushManager } = (await registerWorker()) ?? (await navigator.serviceWorker.ready)
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
}

const findViewer = (): Viewer | null => {
  const me = session.me.peek()
  return me && { accountId: me.account.id, userId: me.user?.id ?? null }
}

const store = async (subscription: PushSubscription): Promise<void> => {
  const { accountId, userId = null } = findViewer() ?? {}
  if (!accountId || !userId) return
  const { id } = await storeBrowser(subscription)
  writeStored({ accountId, userId, id, endpoint: subscription.endpoint })
}

/** Ends the browser's subscription. The service deletes it at the next push, or by `turnOff`. */
export const endSubscription = async (): Promise<void> => {
  const registration = await findRegistration()
  // A failure leaves what is stored, and the next visit tries again.
  await (await registration?.pushManager?.getSubscription())?.unsubscribe()
  writeStored(null)
  // Whoever comes next must not acknowledge as this user.
  for (const shown of (await registration?.getNotifications()) ?? []) shown.close()
}

/** The id of this browser's subscription, if the signed-in user made it. */
export const ownSubscriptionId = async (): Promise<string | null> => {
  const stored = readStored()
  const isOwn = stored !== null && stored.userId === session.me.peek()?.user?.id
  return isOwn && (await findSubscription())?.endpoint === stored.endpoint ? stored.id : null
}

/** Asks for permission. False if it is not given. */
export const turnOn = async (): Promise<boolean> => {
  if ((await Notification.requestPermission()) !== 'granted') return false
  const publicKey = await readPushKey()
  // One of another user, or of an earlier key.
  await endSubscription()
  await store(await subscribe(publicKey))
  return true
}

export const turnOff = async (id: string): Promise<void> => {
  await removeBrowser(id)
  if (id === (await ownSubscriptionId())) await endSubscription()
}

/**
 * Brings the browser and the service together again, in each visit and when another user signs in.
 * Ends the subscription of an earlier user, whose session may have expired here.
 */
export const keepSubscription = async (): Promise<void> => {
  const stored = readStored()
  const viewer = findViewer()
  if (!stored || !viewer) return
  if (isOfOther(stored, viewer)) return endSubscription()
  if (viewer.userId === null) return
  const [subscription, publicKey, listed] = await Promise.all([
    findSubscription(),
    readPushKey(),
    readBrowsers(),
  ])
  // Calls wait for a sign-in, which may be another user's; that has its own run.
  if (findViewer()?.userId !== viewer.userId) return
  const key = subscription?.options.applicationServerKey
  const hasPresentKey = key != null && encodeKey(key) === publicKey
  const endpoint = subscription?.endpoint ?? null
  const step = nextStep({ stored, endpoint, hasPresentKey, listed })
  if (step === 'clear') writeStored(null)
  if (step === 'end') await endSubscription()
  if (step === 'store' && subscription) await store(subscription)
  if (step === 'renew') {
    await subscription?.unsubscribe()
    await store(await subscribe(publicKey))
    // A push service may give the same address again.
    if (readStored()?.id !== stored.id) await removeBrowser(stored.id).catch(() => undefined)
  }
}
