import { callForResponse } from '../api/client.ts'

/* The browsers of the user that notifications are sent to. */

export interface PushBrowser {
  id: string
  /** The host of the push service that the browser uses. */
  endpoint: string
  userAgent: string
  creation: string
  /** Made by this session. */
  current: boolean
}

const read = async <Reply>(operation: string, options = {}): Promise<Reply> =>
  (await (await callForResponse(operation, options)).json()) as Reply

/** The public key that browsers accept notifications of. */
export const readPushKey = async (): Promise<string> =>
  (await read<{ publicKey: string }>('GET /api/push/key')).publicKey

export const readBrowsers = async (signal?: AbortSignal): Promise<PushBrowser[]> =>
  (await read<{ pushSubscriptions: PushBrowser[] }>('GET /api/me/pushSubscriptions', { signal }))
    .pushSubscriptions

/** Once for each browser: stored again, it is that of the present session. */
export const storeBrowser = async (subscription: PushSubscription): Promise<PushBrowser> => {
  const body = subscription.toJSON()
  const operation = 'POST /api/me/pushSubscriptions'
  return (await read<{ pushSubscription: PushBrowser }>(operation, { body })).pushSubscription
}

export const removeBrowser = (id: string): Promise<unknown> =>
  read('DELETE /api/me/pushSubscriptions/{id}', { params: { id } })
