import { presentDelivery } from '../alerts/present.ts'
import { iso } from '../domain/iso.ts'
import { fillLink, redactLink } from '../domain/link.ts'
import type { ListedMessage } from './store.ts'

/** The link of a message that nobody sends is shown to whoever may see the whole account. */
export const presentMessage = (message: ListedMessage, canSeeLinks: boolean) => {
  const { alertId, deviceId, subject, link, provider, attempts, changed } = message
  const text =
    canSeeLinks && link !== null ? fillLink(message.text, link) : redactLink(message.text)
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
