import { call } from '../api/client.ts'
import type { PushSubscription as PushBrowser } from '../api/types.ts'

/* The browsers of the user that notifications are sent to. */

export type { PushBrowser }

/** The public key that browsers accept notifications of. */
export const readPushKey = async (): Promise<string> => (await call('GET /api/push/key')).publicKey

export const readBrowsers = async (signal?: AbortSignal): Promise<PushBrowser[]> =>
  (await call('GET /api/me/pushSubscriptions', { signal })).pushSubscriptions

/** Once for each browser: stored again, it is that of the present session. */
export const storeBrowser = async (subscription: PushSubscription): Promise<PushBrowser> => {
  const { endpoint = '', expirationTime = null, keys } = subscription.toJSON()
  const { p256dh = '', auth = '' } = keys ?? {}
  const body = { endpoint, expirationTime, keys: { p256dh, auth } }
  return (await call('POST /api/me/pushSubscriptions', { body })).pushSubscription
}

export const removeBrowser = (subscriptionId: string): Promise<unknown> =>
  call('DELETE /api/me/pushSubscriptions/{subscriptionId}', { params: { subscriptionId } })
