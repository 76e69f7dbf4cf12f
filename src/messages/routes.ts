import { Hono } from 'hono'
import { presentDelivery } from '../alerts/present.ts'
import { isRecipient } from '../db/recipients.ts'
import { isUrgent } from '../domain/alert.ts'
import { allows } from '../domain/scope.ts'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/operation.ts'
import { readCursor, replyPage } from '../http/page.ts'
import { Problem } from '../http/problem.ts'
import { iso } from '../http/wire.ts'
import { ledgerOf } from '../ledger/stub.ts'
import * as contract from './contract.ts'
import { findMessage, type ListedMessage, listMessages } from './store.ts'

const present = (message: ListedMessage) => {
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

export const messages = new Hono<AppEnv>()
  .get('/', operation(contract.listMessages), async (c) => {
    const { limit, cursor, status, channel, deviceId, alertId } = c.req.valid('query')
    const [after] = (await readCursor(c, cursor)) ?? []
    // They tell of webhooks, which are shown to nobody else either.
    const ofAccount = allows(c.get('principal').scopes, 'admin')
    const listing = {
      status,
      channel,
      deviceId,
      alertId,
      ofAccount,
      after: after === undefined ? undefined : String(after),
      limit,
    }
    const page = await listMessages(c.get('db'), c.get('principal'), listing)
    return replyPage(c, 'messages', page.messages.map(present), page.next)
  })
  .post('/:messageId/retry', operation(contract.retryMessage), async (c) => {
    const principal = c.get('principal')
    const kept = await findMessage(c.get('db'), principal, c.req.param('messageId'))
    if (!kept) throw new Problem('not-found')
    const { id, deviceId, channel, to, subject, text, alertName, status } = kept
    // Whoever was to be told then may have left since, or see the device no longer.
    const told = await isRecipient(
      c.get('db'),
      { accountId: principal.accountId, deviceId, channel, to },
      Date.now(),
    )
    if (!told) throw new Problem('recipient-gone')
    const round = (await c.get('newId')('try')).slice('try_'.length)
    const again = {
      id,
      deviceId,
      channel,
      to,
      subject,
      text,
      urgent: isUrgent(alertName),
      failed: status === 'failed' || status === 'suppressed',
    }
    const outcome = await ledgerOf(c.env, principal.accountId).resend(again, round)
    if (!outcome.ok) {
      throw new Problem(
        outcome.refusal,
        'resetAt' in outcome ? { members: { resetAt: iso(outcome.resetAt) } } : {},
      )
    }
    const queued = {
      ...kept,
      status: 'queued' as const,
      reason: null,
      resetAt: null,
      provider: null,
      attempts: 0,
      changed: Date.now(),
    }
    return c.json({ success: true as const, message: present(queued) })
  })
