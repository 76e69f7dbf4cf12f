import { Hono } from 'hono'
import { findInCells } from '../db/movedCell.ts'
import { withWriter } from '../db/open.ts'
import { cellOfLink, LINK_VALID_MS } from '../domain/message/link.ts'
import { isRunning, WATCH_PATH } from '../domain/watch/watch.ts'
import { cellNumbers } from '../env.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { writerAs } from '../http/writer.ts'
import { PAGE_HEADERS } from '../links/present.ts'
import { presentLinkedWatch, presentNoWatch } from './linkPage.ts'
import { findByLink, type LinkedWatch, takeStep } from './progress.ts'

/** Anybody with the link can repeat a check-in, and each is an event. */
const REPEAT_MS = 10_000

const isRepeat = ({ state, lastCheckIn }: LinkedWatch, now: number): boolean =>
  state === 'active' && (lastCheckIn ?? 0) > now - REPEAT_MS

/** After its end a watch is shown only to those who may ask whether their check-in arrived. */
const isShown = (watch: LinkedWatch): boolean =>
  isRunning(watch) || (watch.lastCheckIn ?? 0) > Date.now() - LINK_VALID_MS

/** The watch and its cell. */
const findShown = async (c: Context, link: string) => {
  const cell = cellOfLink(link)
  // A text that cannot be a link costs no query.
  if (cell === null || !cellNumbers(c.env).includes(cell)) return null
  const located = await findInCells(c.env, cell, (db) => findByLink(db, link))
  return located && isShown(located.found) ? located : null
}

const findWatch = async (c: Context, link: string): Promise<LinkedWatch | null> =>
  (await findShown(c, link))?.found ?? null

const replyPage = (c: Context, watch: LinkedWatch | null, isDone = false) =>
  watch
    ? c.html(presentLinkedWatch(watch, { now: Date.now(), isDone }), 200, PAGE_HEADERS)
    : c.html(presentNoWatch(), 404, PAGE_HEADERS)

/** The pages of watches. A GET changes nothing: chat programs follow links to show a preview. */
export const watchLinks = new Hono<AppEnv>()
  .get(WATCH_PATH, (c) => replyPage(c, null))
  .get(`${WATCH_PATH}:link`, async (c) => replyPage(c, await findWatch(c, c.req.param('link'))))
  .post(`${WATCH_PATH}:link`, async (c) => {
    const link = c.req.param('link')
    const opened = await findShown(c, link)
    if (!opened) return replyPage(c, null)
    const { found: watch } = opened
    const now = Date.now()
    if (isRepeat(watch, now)) return replyPage(c, watch, true)
    const writer = writerAs(c, { type: 'system', id: 'check-in-link', name: null })
    const context = {
      cell: opened.cell,
      db: withWriter(opened.db, writer),
      env: c.env,
      waitUntil: (promise: Promise<unknown>) => c.executionCtx.waitUntil(promise),
    }
    const step = { action: 'checkIn', given: 'checkIn', at: now } as const
    const outcome = await takeStep(context, watch, step, now)
    if (outcome.ok) return replyPage(c, { ...watch, ...outcome.watch }, true)
    // It has ended: the page says so.
    return replyPage(c, await findWatch(c, link))
  })
