import { findInCells } from '../db/movedCell.ts'
import { type Database, openDirectory } from '../db/open.ts'
import { runBatch } from '../db/statement.ts'
import { extraCostOfWork, FIRST_PAGE_MS, workOfLocations } from '../domain/account/requestCost.ts'
import { BoundedCache } from '../domain/cache/boundedCache.ts'
import { cellOfLink, SHARE_LENGTH } from '../domain/message/link.ts'
import { isOpen } from '../domain/share/share.ts'
import { sha256 } from '../domain/text/sha256.ts'
import { cellNumbers } from '../env.ts'
import { awaitCostlyTurn, endCostlyTurn } from '../http/admission/loadShedding.ts'
import { sharesOf } from '../http/admission/pacing.ts'
import { comparePassword } from '../http/admission/passwordWork.ts'
import {
  addSharedRead,
  countSharedRead,
  countSharePassword,
  networkOfCaller,
} from '../http/admission/rateLimit.ts'
import type { Context } from '../http/context.ts'
import { hashLink } from '../ids.ts'
import { countersOfShare, giveBackAttempt, takeAttempt } from '../sessions/attempts.ts'
import { SharedReads } from './sharedReads.ts'
import { addViews, findOpened, type OpenedShare, readView, type SharedView } from './viewStore.ts'

/* Shares that an isolate has opened. Many viewers at the same time cost a few queries. */

/** How long a change or the end of a share may take to be seen. */
const FRESH_MS = 5000
const MAX_CACHED_POINTS = 50_000

export interface FoundShare {
  share: OpenedShare
  hash: string
  db: Database
  readAt: number
}
export interface OpenShare extends FoundShare {
  view: SharedView
}

const pointsOf = ({ view }: OpenShare): number =>
  view.devices.reduce((sum, { track }) => sum + track.length + 1, 1)
const found = new BoundedCache<FoundShare>(5000)
const opened = new BoundedCache<OpenShare>(MAX_CACHED_POINTS, pointsOf)

/** Other isolates see a change when their copy is no longer fresh. */
export const evictShare = (id: string): void => {
  found.deleteWhere(({ share }) => share.id === id)
  opened.deleteWhere(({ share }) => share.id === id)
}

/** Characters of the texts that are sent of opened shares: a track of 10,000 points has a million. */
const MAX_CACHED_CHARACTERS = 8_000_000
/** They keep no view: its points have a bound of their own. */
const texts = new BoundedCache<{ view: WeakRef<SharedView>; text: string }>(
  MAX_CACHED_CHARACTERS,
  ({ text }) => text.length,
)

/** What `format` makes of an opened share, once for all viewers who see the same. */
export const formatOnce = ({ hash, view }: OpenShare, name: string, format: () => string) => {
  const key = `${hash} ${name}`
  const known = texts.get(key)
  if (known?.view.deref() === view) return known.text
  const text = format()
  texts.set(key, { view: new WeakRef(view), text })
  return text
}

const finding = new SharedReads<string, FoundShare | null>()
const reading = new SharedReads<FoundShare, OpenShare>()

const keeperOf = (c: Context) => (promise: Promise<unknown>) => c.executionCtx.waitUntil(promise)

/** Null for everything that is wrong. A text that cannot be an address costs no query. */
export const findShare = async (c: Context, secret: string): Promise<FoundShare | null> => {
  const cell = cellOfLink(secret, SHARE_LENGTH)
  if (cell === null || !cellNumbers(c.env).includes(cell)) return null
  const now = Date.now()
  const hash = await hashLink(secret)
  const known = found.get(hash)
  if (known && known.readAt > now - FRESH_MS) return isOpen(known.share.record, now) ? known : null
  const find = async () => {
    const located = await findInCells(c.env, cell, (db) => findOpened(db, hash, now))
    if (!located) {
      found.delete(hash)
      return null
    }
    const fresh = { share: located.found, hash, db: located.db, readAt: now }
    found.set(hash, fresh)
    return fresh
  }
  return finding.run(hash, find, keeperOf(c))
}

/** Reads what the share shows, when it is the turn of the account's shares, and counts what it read. */
const readInTurn = async (c: Context, one: FoundShare): Promise<OpenShare> => {
  const { accountId } = one.share
  countSharedRead(c, accountId)
  await awaitCostlyTurn(c.req.raw, sharesOf(accountId), FIRST_PAGE_MS)
  try {
    const known = opened.get(one.hash)
    // Another request has read it in the meantime.
    if (known?.share === one.share) return known
    const view = await readView(one.db, one.share, Date.now())
    const fresh = { ...one, view }
    opened.set(one.hash, fresh)
    addSharedRead(c, accountId, extraCostOfWork(workOfLocations(pointsOf(fresh))) - 1)
    return fresh
  } finally {
    endCostlyTurn(c.req.raw)
  }
}

/** What the share shows. For viewers who may see it: this costs more than finding it. */
export const openShare = async (c: Context, one: FoundShare): Promise<OpenShare> => {
  const known = opened.get(one.hash)
  // A share that was found again may have changed.
  if (known?.share === one.share) return known
  return reading.run(one, () => readInTurn(c, one), keeperOf(c))
}

/**
 * Passwords that were right, by a hash of them and of what is stored: a viewer that polls sends it
 * each time, and needs no attempt while others guess.
 */
const PASSWORD_MS = 24 * 3_600_000
const passwords = new BoundedCache<number>(1000)
const MAX_CREDENTIALS = 2048
/** Until when a network has to wait with its next attempt at a share; it costs no query. */
const waits = new BoundedCache<number>(1000)

const passwordIn = (header: string | undefined): string | null => {
  const encoded = /^Basic ([A-Za-z0-9+/]+=*)$/i.exec(header ?? '')?.[1]
  if (encoded === undefined || encoded.length > MAX_CREDENTIALS) return null
  try {
    const text = new TextDecoder().decode(Uint8Array.fromBase64(encoded))
    const colon = text.indexOf(':')
    return colon < 0 ? null : text.slice(colon + 1)
  } catch {
    return null
  }
}

/** Whether the viewer may see it: `wait` until the given time after too many attempts. */
export const checkPassword = async (
  c: Context,
  { share, hash }: FoundShare,
): Promise<'right' | 'wrong' | { waitUntil: number }> => {
  if (share.password === null) return 'right'
  const given = passwordIn(c.req.header('Authorization'))
  if (given === null) return 'wrong'
  const now = Date.now()
  const key = (await sha256(`${share.password} ${given}`)).toHex()
  if ((passwords.get(key) ?? 0) > now - PASSWORD_MS) return 'right'
  const network = networkOfCaller(c)
  const waiting = `${hash} ${network}`
  const waitUntil = waits.get(waiting) ?? 0
  if (waitUntil > now) return { waitUntil }
  await countSharePassword(c, now)
  const directory = openDirectory(c.env)
  const taken = await takeAttempt(directory, await countersOfShare(hash, network), now)
  if (typeof taken === 'number') {
    waits.set(waiting, taken)
    return { waitUntil: taken }
  }
  if (!(await comparePassword(c, given, share.password))) return 'wrong'
  passwords.set(key, now)
  await runBatch(directory, { counted: giveBackAttempt(directory, taken) })
  return 'right'
}

interface Count {
  views: number
  viewedAt: number
  nextWrite: number
  /** When a write was last put off; an isolate may end before it. */
  scheduledAt: number | null
}

const WRITE_EVERY_MS = 10_000
const MAX_SCHEDULED_MS = 60_000
const counts = new BoundedCache<Count>(5000)

const writeCount = async ({ share, db }: FoundShare, count: Count): Promise<void> => {
  const waitMs = count.nextWrite - Date.now()
  if (waitMs > 0) await scheduler.wait(waitMs)
  const { views, viewedAt } = count
  Object.assign(count, { views: 0, scheduledAt: null, nextWrite: Date.now() + WRITE_EVERY_MS })
  await addViews(db, share, { views, viewedAt })
}

/** Counts a view, or with 0 only when the share was viewed. An isolate writes once in ten seconds. */
export const countView = (c: Context, viewed: FoundShare, views: 0 | 1): void => {
  const { id } = viewed.share
  const now = Date.now()
  const count = counts.get(id) ?? { views: 0, viewedAt: 0, nextWrite: 0, scheduledAt: null }
  counts.set(id, count)
  count.views += views
  count.viewedAt = now
  if (count.scheduledAt !== null && count.scheduledAt > now - MAX_SCHEDULED_MS) return
  count.scheduledAt = now
  c.executionCtx.waitUntil(writeCount(viewed, count).catch(() => {}))
}
