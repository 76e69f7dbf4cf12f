import { presentDelivery } from '../alerts/present.ts'
import { iso } from '../domain/iso.ts'
import type { ListedMessage } from './store.ts'

/** The secret of a password link: what follows the `#`. */
const LINK_SECRET = /(https?:\/\/\S+#)[\w.-]{40,}/g

/** `showsLinks` for those who may use the links of others: otherwise their secrets are left out. */
export const presentMessage = (message: ListedMessage, showsLinks = false) => {
  const { alertId, deviceId, subject, provider, attempts, changed } = message
  const text = showsLinks ? message.text : message.text.replaceAll(LINK_SECRET, '$1…')
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
