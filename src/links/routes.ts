import { Hono } from 'hono'
import { findInCells } from '../db/movedCell.ts'
import { cellOfLink, LINK_PATH } from '../domain/message/link.ts'
import { cellNumbers } from '../env.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { writerAs } from '../http/writer.ts'
import { hashLink } from '../ids.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { loadDescriber } from '../places/store.ts'
import { PAGE_HEADERS, presentLinkedAlert, presentNoAlert } from './present.ts'
import { findLinkedAlert, type LinkedAlert } from './store.ts'

/** A text that cannot be a link costs no query. */
const findAlert = async (c: Context, link: string): Promise<LinkedAlert | null> => {
  const cell = cellOfLink(link)
  if (cell === null || !cellNumbers(c.env).includes(cell)) return null
  const hash = await hashLink(link)
  const located = await findInCells(c.env, cell, (db) => findLinkedAlert(db, hash, Date.now()))
  if (!located) return null
  const { found: alert, db } = located
  if (!alert.newest || alert.newest.words) return alert
  const { accountId } = alert
  const describe = await loadDescriber(c.env.ASSETS, db, { accountId, groupId: null })
  return { ...alert, newest: describe(alert.newest) }
}

const replyPage = (c: Context, alert: LinkedAlert | null) =>
  alert
    ? c.html(presentLinkedAlert(alert), 200, PAGE_HEADERS)
    : c.html(presentNoAlert(), 404, PAGE_HEADERS)

/** The pages behind the links in messages. A GET changes nothing: mail scanners follow links. */
export const links = new Hono<AppEnv>()
  .get(LINK_PATH, (c) => replyPage(c, null))
  .get(`${LINK_PATH}:link`, async (c) => replyPage(c, await findAlert(c, c.req.param('link'))))
  .post(`${LINK_PATH}:link`, async (c) => {
    const link = c.req.param('link')
    const alert = await findAlert(c, link)
    if (!alert) return replyPage(c, null)
    const { accountId, alertId, deviceId, recipient: by, known } = alert
    const step = { action: 'acknowledge', alertId, deviceId, by, known } as const
    const writer = writerAs(c, { type: 'user', id: by, name: alert.recipientName })
    const outcome = await ledgerOf(c.env, accountId).takeAlertStep(step, writer)
    if (!outcome.ok) return replyPage(c, null)
    // The cell has the name of whoever acknowledged it; if it lags behind, this one did.
    const found = (await findAlert(c, link)) ?? alert
    const { acknowledgedAt } = outcome.state
    const acknowledged = { acknowledgedAt, acknowledgedBy: alert.recipientName }
    return replyPage(c, found.acknowledgedAt === null ? { ...found, ...acknowledged } : found)
  })
