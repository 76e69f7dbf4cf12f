import { Hono } from 'hono'
import { hashSecret } from '../auth/secret.ts'
import { openCell } from '../db/open.ts'
import { cellOfLink, LINK_PATH } from '../domain/link.ts'
import { cellNumbers } from '../env.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { PAGE_HEADERS, presentLinkedAlert, presentNoAlert } from './present.ts'
import { findLinkedAlert, type LinkedAlert } from './store.ts'

/** A text that cannot be a link costs no query. */
const findAlert = async (c: Context, link: string): Promise<LinkedAlert | null> => {
  const cell = cellOfLink(link)
  if (cell === null || !cellNumbers(c.env).includes(cell)) return null
  return findLinkedAlert(openCell(c.env, cell), await hashSecret(link), Date.now())
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
    const { accountId, alertId, recipient } = alert
    await ledgerOf(c.env, accountId).acknowledge(alertId, recipient)
    return replyPage(c, await findAlert(c, link))
  })
