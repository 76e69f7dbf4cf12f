import { sql } from 'drizzle-orm'
import { type Database, withRetries } from '../../db/open.ts'
import { unclaimed } from '../../db/schema.ts'
import { literal, readAll, statement } from '../../db/statement.ts'
import { type Env, publicOrigin } from '../../env.ts'
import type { Context } from '../../http/context.ts'
import { newId } from '../../ids.ts'
import { logFailure } from '../../log.ts'
import { importHeld } from './claim.ts'
import { delayImport } from './held.ts'

/* Moves reports whose identifier a device has by now: a claim was interrupted, or none was made. */

interface Background {
  env: Env
  db: Database
  cell: number
  accountId: string
  sourceId: string
}

/** What storing needs of a request, for work that none has asked for. */
const backgroundContext = ({ env, db, cell, accountId, sourceId }: Background): Context => {
  const variables: Record<string, unknown> = {
    requestId: 'sweep',
    db: withRetries(db),
    newId,
    principal: {
      accountId,
      cell,
      keyId: sourceId,
      scopes: ['ingest'],
      userId: null,
      groupId: null,
      adminDevices: null,
    },
  }
  return {
    env,
    get: (name: string) => variables[name],
    req: { url: publicOrigin(env) ?? 'http://localhost' },
    executionCtx: { waitUntil: () => {} },
  } as unknown as Context
}

interface Waiting {
  source_id: string
  account_id: string
  identifier: string
}

/** Identifiers that a device has now, though their reports still wait: the longest waiting first. */
const findClaimed = (db: Database, now: number, limit: number): Promise<Waiting[]> =>
  readAll(
    statement(
      db,
      sql`SELECT ${unclaimed.sourceId}, ${unclaimed.accountId}, ${unclaimed.identifier}
        FROM ${unclaimed} WHERE ${unclaimed.claimedAt} <= ${now}
        ORDER BY ${unclaimed.claimedAt} LIMIT ${literal(limit)}`,
    ),
  )

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
  for (const waiting of await findClaimed(db, now, MAX_IDENTIFIERS)) {
    if (!mayGoOn()) return
    const { source_id: sourceId, account_id: accountId, identifier } = waiting
    const holder = { accountId, sourceId }
    const c = backgroundContext({ env, db, cell, accountId, sourceId })
    const { pending } = await importHeld(c, holder, identifier).catch((error) => {
      logFailure('import-failed', error, { account: accountId, requestId: 'sweep' })
      return { pending: 1 }
    })
    if (pending > 0) await delayImport(db, holder, identifier, now + RETRY_MS)
  }
}
