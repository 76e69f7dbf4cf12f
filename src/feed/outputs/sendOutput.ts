import { openCell } from '../../db/open.ts'
import type { Webhook } from '../../domain/event/webhook.ts'
import { authorizationOf, formatRecords, type HttpFormat } from '../../domain/output/formats.ts'
import {
  isSingle,
  markSandbox,
  type OutputFormat,
  type OutputRecord,
  type OutputRequest,
  webhookOfLane,
} from '../../domain/output/output.ts'
import type { LoggedEvent } from '../../events/store.ts'
import { isSandboxFeed } from '../sandbox.ts'
import { type AttemptResult, callReceiver } from '../webhooks/attempt.ts'
import { readActiveSecrets } from '../webhooks/secrets.ts'
import { signatureHeaders } from '../webhooks/signature.ts'
import type { FeedContext } from '../webhooks/webhookWorker.ts'
import { markProgress } from './progress.ts'
import { publishRecords } from './publish.ts'
import { recordsOf } from './records.ts'
import { readToken } from './tokens.ts'

/* Deliveries in the formats of other systems. */

const NOTHING_TO_SEND: AttemptResult = {
  responseCode: null,
  failure: null,
  durationMs: 0,
  answer: null,
}
/** After it no request of a delivery begins: a slot must become free. The next delivery goes on. */
const MAX_DELIVERY_MS = 5_000

type Output = Webhook & { format: Exclude<OutputFormat, 'json'> }

/** Sends the requests one after another, up to the first failure. */
const sendRequests = async (
  { env, storage }: FeedContext,
  webhook: Webhook & { format: HttpFormat },
  deliveryId: string,
  records: OutputRecord[],
): Promise<AttemptResult> => {
  const { format, settings, url } = webhook
  const { sql } = storage
  const webhookId = webhookOfLane(webhook.id)
  const startedAt = Date.now()
  const call = async ({ contentType, body }: OutputRequest, now: number) => {
    const headers = {
      'Content-Type': contentType,
      ...(await signatureHeaders(readActiveSecrets(sql, webhookId, now), deliveryId, body, now)),
      ...authorizationOf(format, readToken(sql, webhook)),
    }
    return callReceiver(env, url, headers, body)
  }
  const rest = [...records]
  let before = NOTHING_TO_SEND
  while (rest.length > 0) {
    const count = isSingle(format) ? 1 : rest.length
    const now = Date.now()
    const isLate = now - startedAt > MAX_DELIVERY_MS
    let result: AttemptResult = isLate ? { ...before, failure: 'timeout' } : before
    for (const request of isLate ? [] : formatRecords(format, rest.slice(0, count), settings))
      result = await call(request, now)
    result = { ...result, durationMs: Date.now() - startedAt }
    if (result.failure !== null) return markProgress(result, before, { of: records, rest })
    rest.splice(0, count)
    before = result
  }
  return before
}

export const sendRecords = async (
  context: FeedContext,
  webhook: Output,
  deliveryId: string,
  given: OutputRecord[],
): Promise<AttemptResult> => {
  const { env, storage } = context
  const { format, settings, url } = webhook
  const isSandbox = await isSandboxFeed(context)
  // Reports of vessels go to authorities, which must not get simulated ones.
  if (format === 'naf' && isSandbox)
    return { ...NOTHING_TO_SEND, answer: 'Not sent: the account is a sandbox.' }
  const records = isSandbox ? given.map(markSandbox) : given
  if (format !== 'mqtt') return sendRequests(context, { ...webhook, format }, deliveryId, records)
  if (records.length === 0) return NOTHING_TO_SEND
  const password = readToken(storage.sql, webhook)
  return publishRecords(env, { url, settings, password, records })
}

export const isOutput = (webhook: Webhook): webhook is Output => webhook.format !== 'json'

/** The events of a delivery, as the format of the webhook has them. */
export const sendOutput = async (
  context: FeedContext,
  webhook: Output,
  deliveryId: string,
  events: LoggedEvent[],
): Promise<AttemptResult> => {
  const { env, owner } = context
  const records = await recordsOf(openCell(env, owner.cell), owner.accountId, events)
  return sendRecords(context, webhook, deliveryId, records)
}
