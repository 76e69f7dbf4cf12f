import type { Channel } from '../domain/alert.ts'
import { cutTo } from '../domain/gsm7.ts'
import type { DisabledReason } from '../domain/webhook.ts'
import type { MessageText } from './messageText.ts'

/* The text of notices, which are about the account itself. */

interface WebhookDisabled {
  kind: 'webhook-disabled'
  webhookId: string
  url: string
  reason: DisabledReason
}

/** What a notice is about. */
export type NoticeContent = WebhookDisabled

const CAUSE: Record<DisabledReason, string> = {
  gone: 'its receiver answered 410 Gone',
  failing: 'its receiver has failed for five days',
}

const composeEmail = ({ webhookId, url, reason }: NoticeContent): MessageText => {
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
const composeSms = ({ webhookId, url, reason }: NoticeContent): MessageText => {
  const host = cutTo(new URL(url).host, MAX_SMS_HOST_LENGTH, ({ length }) => length)
  return {
    subject: '',
    text: `Webhook ${webhookId} to ${host} was disabled, because ${CAUSE[reason]}.`,
  }
}

type Compose = (content: NoticeContent, timeZone: string) => MessageText

/** Composes a notice for a recipient's channel, with times in the recipient's zone. */
export const composeNotice: Record<Channel, Compose> = { Email: composeEmail, SMS: composeSms }
