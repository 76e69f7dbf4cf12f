import { presentSummary } from '../alerts/present.ts'
import { fillLink, redactLink } from '../domain/message/link.ts'
import { iso } from '../domain/time/iso.ts'
import type { ListedMessage } from './store.ts'

/** The secret of a password link: what follows the `#`. */
const PASSWORD_SECRET = /(https?:\/\/\S+#)[\w.-]{40,}/g

/** `showsLinks` for those who may use the links of others; otherwise their secrets are left out. */
export const presentMessage = (message: ListedMessage, showsLinks: boolean) => {
  const { alertId, commandId, deviceId, subject, link, provider, attempts, changed } = message
  const text = showsLinks
    ? fillLink(message.text, link)
    : redactLink(message.text).replaceAll(PASSWORD_SECRET, '$1…')
  return {
    ...presentSummary(message),
    alertId,
    commandId,
    deviceId,
    subject,
    text,
    provider,
    attempts,
    lastModified: iso(changed),
  }
}
