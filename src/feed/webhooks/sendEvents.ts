import type { Webhook } from '../../domain/event/webhook.ts'
import { presentEvent } from '../../events/present.ts'
import type { LoggedEvent } from '../../events/store.ts'
import { isOutput, sendOutput } from '../outputs/sendOutput.ts'
import { isSandboxFeed } from '../sandbox.ts'
import { type AttemptResult, callReceiver } from './attempt.ts'
import { readActiveSecrets } from './secrets.ts'
import { signatureHeaders } from './signature.ts'
import type { FeedContext } from './webhookWorker.ts'

/* Calls of receivers. */

/** The body of a call in our own format. */
export const bodyOf = async (context: FeedContext, events: object[]): Promise<string> =>
  JSON.stringify({ events, ...((await isSandboxFeed(context)) && { sandbox: true }) })

/** Signs a body and calls the webhook's receiver with it. */
export const sendDelivery = async (
  { env, storage }: FeedContext,
  webhook: Webhook,
  deliveryId: string,
  body: string,
): Promise<AttemptResult> => {
  const now = Date.now()
  const secrets = readActiveSecrets(storage.sql, webhook.id, now)
  const headers = await signatureHeaders(secrets, deliveryId, body, now)
  return callReceiver(env, webhook.url, headers, body)
}

/** Calls the receiver with events in the webhook's format. */
export const sendEvents = async (
  context: FeedContext,
  webhook: Webhook,
  deliveryId: string,
  events: LoggedEvent[],
): Promise<AttemptResult> => {
  if (isOutput(webhook)) return sendOutput(context, webhook, deliveryId, events)
  const body = await bodyOf(context, events.map(presentEvent))
  return sendDelivery(context, webhook, deliveryId, body)
}
