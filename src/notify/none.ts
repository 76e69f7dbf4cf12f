import type { Provider } from './provider.ts'

/** Sends nothing: `GET /api/account/messages` shows what would have gone out. */
export const none: Provider = {
  name: 'outbox',
  send: async () => ({ kind: 'accepted', providerId: null }),
  givesReceipts: () => false,
}
