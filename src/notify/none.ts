import type { Provider } from './provider.ts'

/** Sends nothing: `GET /api/account/messages` shows what would have gone out. */
export const none: Provider = {
  name: 'outbox',
  send: async () => ({ kind: 'accepted', providerId: null }),
  givesReceipts: () => false,
}

/** For messages of sandboxes, whatever providers the service has. */
export const sandbox: Provider = { ...none, name: 'sandbox' }

/** Whether this provider sends nothing, so that the list of messages is the only way to a link. */
export const sendsNothing = (provider: string | null): boolean =>
  provider === none.name || provider === sandbox.name
