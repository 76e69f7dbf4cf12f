import type { Provider } from './provider.ts'

/** Sends nothing: messages stay where `GET /api/account/messages` shows them, as they would have gone out. */
export const none: Provider = {
  name: 'outbox',
  send: async () => ({ kind: 'accepted', providerId: null }),
}
