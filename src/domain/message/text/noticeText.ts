import type { DisabledReason } from '../../event/webhook.ts'
import { cutTo } from '../gsm7.ts'
import { composeLinkEmail, type LinkContent } from './linkText.ts'
import { type MessageText, toName } from './messageText.ts'

/* The text of notices, which are about the account itself. */

interface WebhookDisabled {
  kind: 'webhook-disabled'
  webhookId: string
  url: string
  reason: DisabledReason
}

interface UnclaimedSos {
  kind: 'unclaimed-sos'
  sourceName: string
  identifier: string
  dateTime: number
  latitude: number | null
  longitude: number | null
}

/** What a notice is about. */
export type NoticeContent = WebhookDisabled | UnclaimedSos | LinkContent

const CAUSE: Record<DisabledReason, string> = {
  gone: 'its receiver answered 410 Gone',
  failing: 'its receiver has failed for five days',
}

const composeWebhookEmail = ({ webhookId, url, reason }: WebhookDisabled): MessageText => {
  const { host, pathname } = new URL(url)
  return {
    subject: `Webhook disabled: ${host}`,
    text: `The webhook ${webhookId} to ${host}${pathname} was disabled, because ${CAUSE[reason]}.

Events are kept for 30 days: GET /api/events lists the ones it has missed. To receive events again, \
repair the receiver and set "enabled" to true.`,
  }
}

const MAX_SMS_HOST_LENGTH = 50

/** One segment: a host has only characters of GSM-7. */
const composeWebhookSms = ({ webhookId, url, reason }: WebhookDisabled): MessageText => {
  const host = cutTo(new URL(url).host, MAX_SMS_HOST_LENGTH, ({ length }) => length)
  return {
    subject: '',
    text: `Webhook ${webhookId} to ${host} was disabled, because ${CAUSE[reason]}.`,
  }
}

const placeOf = ({ latitude, longitude }: UnclaimedSos): string =>
  latitude === null ? 'Its position is not known.' : `Its position: ${latitude}, ${longitude}.`

const timeOf = ({ dateTime }: UnclaimedSos, timeZone: string): string =>
  new Date(dateTime).toLocaleString('en-GB', { timeZone, timeZoneName: 'short' })

/** Whoever sends the push chooses the identifier. */
const nameOf = ({ identifier }: UnclaimedSos): string => toName(identifier, 64)

const composeSosEmail = (content: UnclaimedSos, timeZone: string): MessageText => ({
  subject: `SOS of an unknown device: ${nameOf(content)}`,
  text: `The device ${nameOf(content)} sent an SOS at ${timeOf(content, timeZone)} by the source \
${toName(content.sourceName, 100)}. No device of the account has this identifier, so nobody else is told.

${placeOf(content)}

Claim the identifier, so that its reports and alerts are stored: POST /api/sources/…/unclaimed.`,
})

const composeSosSms = (content: UnclaimedSos): MessageText => ({
  subject: '',
  text: `SOS of the unknown device ${nameOf(content)}. ${placeOf(content)}`,
})

/** Times are in the recipient's zone. */
type Compose = (content: NoticeContent, timeZone: string) => MessageText

export const composeNoticeEmail: Compose = (content, timeZone) => {
  if (content.kind === 'webhook-disabled') return composeWebhookEmail(content)
  if (content.kind === 'unclaimed-sos') return composeSosEmail(content, timeZone)
  return composeLinkEmail(content, timeZone)
}

export const composeNoticeSms: Compose = (content) => {
  if (content.kind === 'webhook-disabled') return composeWebhookSms(content)
  if (content.kind === 'unclaimed-sos') return composeSosSms(content)
  throw new Error('password links are sent by e-mail only')
}
