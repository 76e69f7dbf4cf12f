import { Hono } from 'hono'
import { isRecipient } from '../db/recipients.ts'
import { isUrgent } from '../domain/alert.ts'
import { allows } from '../domain/scope.ts'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/operation.ts'
import { readCursor } from '../http/page.ts'
import { Problem, requireOk } from '../http/problem.ts'
import { reply, replyPage } from '../http/reply.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { none } from '../notify/none.ts'
import * as contract from './contract.ts'
import { presentMessage } from './present.ts'
import { findMessage, listMessages } from './store.ts'

export const messages = new Hono<AppEnv>()
  .get('/', operation(contract.listMessages), async (c) => {
    const { limit, cursor, ...filters } = c.req.valid('query')
    const [after] = (await readCursor(c, cursor)) ?? []
    const isAdmin = allows(c.get('principal').scopes, 'admin')
    const page = await listMessages(c.get('db'), c.get('principal'), {
      ...filters,
      // Account notices are about webhooks and users, which only `admin` may see.
      includesNotices: isAdmin,
      after: after === undefined ? undefined : String(after),
      limit,
    })
    // Where nothing is sent, the list is the only way to a link.
    const listed = page.messages.map((message) =>
      presentMessage(message, isAdmin && message.provider === none.name),
    )
    return replyPage(c, contract.listMessages, { messages: listed }, page.next)
  })
  .post('/:messageId/retry', operation(contract.retryMessage), async (c) => {
    const principal = c.get('principal')
    const { accountId } = principal
    const stored = await findMessage(c.get('db'), principal, c.req.param('messageId'))
    if (!stored) throw new Problem('message-not-found')
    const { id, deviceId, channel, to, subject, text, alertName, status } = stored
    // The user may have been deleted since, or no longer see the device.
    const address = { accountId, deviceId, channel, to }
    const isStillRecipient = await isRecipient(c.get('db'), address, Date.now())
    if (!isStillRecipient) throw new Problem('recipient-gone')
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
    requireOk(await ledgerOf(c.env, accountId).resend(again, round))
    const queued = {
      ...stored,
      status: 'queued' as const,
      reason: null,
      resetAt: null,
      provider: null,
      attempts: 0,
      changed: Date.now(),
    }
    return reply(c, contract.retryMessage, { success: true, message: presentMessage(queued) })
  })
