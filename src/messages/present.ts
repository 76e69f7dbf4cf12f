import { presentDelivery } from '../alerts/present.ts'
import { iso } from '../domain/iso.ts'
import type { ListedMessage } from './store.ts'

export const presentMessage = (message: ListedMessage) => {
  const { alertId, deviceId, subject, text, provider, attempts, changed } = message
  return {
    ...presentDelivery(message),
    alertId,
    deviceId,
    subject,
    text,
    provider,
    attempts,
    lastModified: iso(changed),
  }
}
