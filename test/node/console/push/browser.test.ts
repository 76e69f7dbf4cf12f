import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { load, replaceModule, restoreModules } from '../support/load.ts'

interface Browser {
  turnOn: () => Promise<boolean>
  turnOff: (id: string) => Promise<void>
  ownSubscriptionId: () => Promise<string | null>
  keepSubscription: () => Promise<void>
}

interface Subscription {
  endpoint: string
  options: { applicationServerKey: ArrayBufferLike }
  unsubscribe: () => Promise<void>
}

const keyOf = (text: string): ArrayBufferLike => new TextEncoder().encode(text).buffer
const encoded = (text: string): string => Buffer.from(text).toString('base64url')

const kept = new Map<string, string>()
const steps: string[] = []
let permission = 'granted'
let publicKey = encoded('key 1')
let accountId = 'acc_1'
let userId: string | null = 'usr_1'
let shown = 0
let subscription: Subscription | null = null
let listed: { id: string; current: boolean }[] = []
let made = 0
let browser: Browser

const pushManager = {
  getSubscription: async () => subscription,
  subscribe: async ({ applicationServerKey: key }: { applicationServerKey: string }) => {
    steps.push(`subscribe ${Buffer.from(key, 'base64url')}`)
    subscription = {
      endpoint: `https://push.example/${++made}`,
      options: { applicationServerKey: keyOf(String(Buffer.from(key, 'base64url'))) },
      unsubscribe: async () => {
        steps.push('unsubscribe')
        subscription = null
      },
    }
    return subscription
  },
}

beforeEach(async () => {
  kept.clear()
  steps.length = 0
  permission = 'granted'
  publicKey = encoded('key 1')
  accountId = 'acc_1'
  userId = 'usr_1'
  shown = 0
  subscription = null
  listed = []
  made = 0
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  })
  vi.stubGlobal('Notification', { requestPermission: async () => permission })
  const notification = { close: () => shown-- }
  const getNotifications = async () => Array.from({ length: shown }, () => notification)
  const registration = { pushManager, getNotifications }
  vi.stubGlobal('navigator', {
    serviceWorker: {
      register: async () => registration,
      ready: Promise.resolve(registration),
      getRegistration: async () => registration,
    },
  })
  replaceModule('session/session.ts', {
    session: {
      me: { peek: () => ({ account: { id: accountId }, user: userId && { id: userId } }) },
    },
  })
  replaceModule('push/api.ts', {
    readPushKey: async () => publicKey,
    readBrowsers: async () => listed,
    storeBrowser: async ({ endpoint }: Subscription) => {
      const id = `psh_${endpoint.slice(-1)}`
      steps.push(`store ${id}`)
      listed = [...listed.filter((one) => one.id !== id), { id, current: true }]
      return { id }
    },
    removeBrowser: async (id: string) => {
      steps.push(`remove ${id}`)
      listed = listed.filter((one) => one.id !== id)
    },
  })
  browser = await load<Browser>('push/browser.ts')
})
afterEach(() => {
  vi.unstubAllGlobals()
  restoreModules('session/session.ts', 'push/api.ts')
})

test('turned on, this browser is subscribed and stored; turned off, neither', async () => {
  expect(await browser.turnOn()).toBe(true)
  expect(steps).toEqual(['subscribe key 1', 'store psh_1'])
  expect(await browser.ownSubscriptionId()).toBe('psh_1')
  await browser.turnOff('psh_1')
  expect(steps.slice(2)).toEqual(['remove psh_1', 'unsubscribe'])
  expect(kept.size).toBe(0)
  expect(await browser.ownSubscriptionId()).toBeNull()
})

test('without permission nothing is subscribed', async () => {
  permission = 'denied'
  expect(await browser.turnOn()).toBe(false)
  expect(steps).toEqual([])
})

test('another browser is removed without ending the subscription of this one', async () => {
  await browser.turnOn()
  await browser.turnOff('psh_9')
  expect(await browser.ownSubscriptionId()).toBe('psh_1')
})

test.each<[string, () => void]>([
  [
    'user',
    () => {
      userId = 'usr_2'
    },
  ],
  [
    'account, by a key without a user,',
    () => {
      accountId = 'acc_2'
      userId = null
    },
  ],
])('another %s that signs in ends the subscription of the user before', async (_, signIn) => {
  await browser.turnOn()
  shown = 2
  signIn()
  await browser.keepSubscription()
  expect(steps.slice(2)).toEqual(['unsubscribe'])
  expect([kept.size, shown]).toEqual([0, 0])
})

test('a key of the same account without a user leaves it as it is', async () => {
  await browser.turnOn()
  userId = null
  await browser.keepSubscription()
  expect(steps).toEqual(['subscribe key 1', 'store psh_1'])
  expect(kept.size).toBe(1)
})

test('one that could not be ended is ended at the next visit', async () => {
  await browser.turnOn()
  userId = 'usr_2'
  const end = subscription?.unsubscribe
  if (subscription) subscription.unsubscribe = () => Promise.reject(new Error('No connection.'))
  await expect(browser.keepSubscription()).rejects.toThrow('No connection.')
  if (subscription && end) subscription.unsubscribe = end
  await browser.keepSubscription()
  expect(steps.slice(2)).toEqual(['unsubscribe'])
})

test('a user who signs in while calls wait does not get the subscription of the one before', async () => {
  await browser.turnOn()
  listed = [{ id: 'psh_1', current: false }]
  const keeping = browser.keepSubscription()
  userId = 'usr_2'
  await keeping
  expect(steps).toEqual(['subscribe key 1', 'store psh_1'])
})

test('a visit changes nothing while all is well', async () => {
  await browser.turnOn()
  await browser.keepSubscription()
  expect(steps).toEqual(['subscribe key 1', 'store psh_1'])
})

test('a new key of the service is subscribed with at the next visit', async () => {
  await browser.turnOn()
  publicKey = encoded('key 2')
  await browser.keepSubscription()
  expect(steps.slice(2)).toEqual(['unsubscribe', 'subscribe key 2', 'store psh_2', 'remove psh_1'])
  expect(await browser.ownSubscriptionId()).toBe('psh_2')
})

test('a push service that gives the same address again does not lose it', async () => {
  await browser.turnOn()
  publicKey = encoded('key 2')
  made = 0
  await browser.keepSubscription()
  expect(steps.slice(2)).toEqual(['unsubscribe', 'subscribe key 2', 'store psh_1'])
})

test('one that was removed elsewhere ends here at the next visit', async () => {
  await browser.turnOn()
  listed = []
  await browser.keepSubscription()
  expect(steps.slice(2)).toEqual(['unsubscribe'])
  expect(kept.size).toBe(0)
})

test('after a new sign-in it is stored again, as that of the new session', async () => {
  await browser.turnOn()
  listed = [{ id: 'psh_1', current: false }]
  await browser.keepSubscription()
  expect(steps.slice(2)).toEqual(['store psh_1'])
})
