import type { Channel } from '../domain/alert.ts'
import { cutTo } from '../domain/gsm7.ts'
import type { DisabledReason } from '../domain/webhook.ts'
import { composeLinkEmail, type LinkContent } from './linkText.ts'
import type { MessageText } from './messageText.ts'

/* The text of notices, which are about the account itself. */

interface WebhookDisabled {
  kind: 'webhook-disabled'
  webhookId: string
  url: string
  reason: DisabledReason
}

/** What a notice is about. */
export type NoticeContent = WebhookDisabled | LinkContent

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

const composeEmail: Compose = (content, timeZone) =>
  content.kind === 'webhook-disabled'
    ? composeWebhookEmail(content)
    : composeLinkEmail(content, timeZone)

const composeSms: Compose = (content) => {
  if (content.kind !== 'webhook-disabled') throw new Error('password links are sent by e-mail only')
  return composeWebhookSms(content)
}

type Compose = (content: NoticeContent, timeZone: string) => MessageText

/** Composes a notice for a recipient's channel, with times in the recipient's zone. */
export const composeNotice: Record<Channel, Compose> = { Email: composeEmail, SMS: composeSms }
