import { Hono } from 'hono'
import { isRecipient } from '../db/queries/recipients.ts'
import { allows } from '../domain/account/scope.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { replyList } from '../http/paging/list.ts'
import { reply } from '../http/reply/reply.ts'
import { writerOf } from '../http/writer.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { sendsNothing } from '../notify/none.ts'
import * as contract from './contract.ts'
import { presentMessage } from './present.ts'
import { findMessage, type ListedMessage, listMessages } from './store.ts'

/**
 * Only `admin` sees notices, which are about webhooks and users or go to people outside the account,
 * and the links of messages that nobody sends.
 */
const isAdmin = (c: Context): boolean => allows(c.get('principal').scopes, 'admin')

/** Where nothing is sent, the list is the only way to a link. */
const showsLinks = (c: Context, { provider }: ListedMessage): boolean =>
  isAdmin(c) && sendsNothing(provider)

export const messages = new Hono<AppEnv>()
  .get('/', operation(contract.listMessages), (c) => {
    const { limit: _, cursor, ...filters } = c.req.valid('query')
    return replyList(c, contract.listMessages, c.req.valid('query'), {
      readPage: ([after], limit) =>
        listMessages(c.get('db'), c.get('principal'), {
          ...filters,
          includesNotices: isAdmin(c),
          after: after === undefined ? undefined : String(after),
          limit,
        }),
      toBody: (rows) => ({
        messages: rows.map((message) => presentMessage(message, showsLinks(c, message))),
      }),
    })
  })
  .post('/:messageId/retry', operation(contract.retryMessage), async (c) => {
    const principal = c.get('principal')
    const { accountId } = principal
    const stored = await findMessage(c.get('db'), principal, c.req.param('messageId'), isAdmin(c))
    if (!stored) throw new Problem('message-not-found')
    const { id, deviceId, kind, channel, to, subject, text, isEmergency, status } = stored
    // The user may have been deleted since, or no longer see the device.
    const address = { accountId, deviceId, channel, to, isOfNotice: kind !== 'alert' }
    const isStillRecipient = await isRecipient(c.get('db'), address, Date.now())
    if (!isStillRecipient) throw new Problem('recipient-gone')
    const round = (await c.get('newId')('try')).slice('try_'.length)
    const again = {
      id,
      deviceId,
      kind,
      channel,
      to,
      subject,
      text,
      urgent: isEmergency,
      failed: status === 'failed' || status === 'suppressed',
    }
    requireOk(await ledgerOf(c.env, accountId).resendMessage(again, round, writerOf(c)))
    const queued = {
      ...stored,
      status: 'queued' as const,
      reason: null,
      resetAt: null,
      provider: null,
      link: null,
      attempts: 0,
      changed: Date.now(),
    }
    return reply(c, contract.retryMessage, {
      success: true,
      message: presentMessage(queued, isAdmin(c)),
    })
  })
