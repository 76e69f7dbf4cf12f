import { and, lte } from 'drizzle-orm'
import { isHere } from '../../db/movedCell.ts'
import type { Database } from '../../db/open.ts'
import { unclaimed } from '../../db/schema.ts'
import type { Env } from '../../env.ts'
import { logFailure } from '../../log.ts'
import { systemContext } from '../../serviceContext.ts'
import { importReports } from './claim.ts'
import { setClaimedAt } from './reports.ts'

/* Moves reports whose identifier a device has by now: a claim was interrupted, or none was made. */

/** Identifiers that a device has now, though their reports still wait: the longest waiting first. */
const findClaimed = (db: Database, now: number, limit: number) => {
  const { sourceId, accountId, identifier, importDueAt } = unclaimed
  return db
    .select({ sourceId, accountId, identifier })
    .from(unclaimed)
    .where(and(lte(importDueAt, now), isHere(accountId)))
    .orderBy(importDueAt)
    .limit(limit)
}

/** What cannot be moved, because the device is expired or a budget used up, is tried again then. */
const RETRY_MS = 10 * 60_000
const MAX_IDENTIFIERS = 10

interface Resume {
  env: Env
  cell: number
  db: Database
  now: number
  /** Asked before each identifier. */
  mayGoOn: () => boolean
}

/** Moves reports of a few identifiers of this cell. One that fails holds up no other. */
export const resumeImports = async ({ env, cell, db, now, mayGoOn }: Resume): Promise<void> => {
  for (const { identifier, ...holder } of await findClaimed(db, now, MAX_IDENTIFIERS)) {
    if (!mayGoOn()) return
    const { accountId, sourceId } = holder
    const actor = { type: 'source', id: sourceId, name: null } as const
    const context = systemContext({ env, db, cell, accountId, name: 'sweep', now, actor })
    const { pending } = await importReports(context, holder, identifier).catch((error) => {
      logFailure('import-failed', error, { account: accountId, requestId: 'sweep' })
      return { pending: 1 }
    })
    if (pending > 0) await setClaimedAt(db, holder, identifier, now + RETRY_MS)
  }
}
