import { sql } from 'drizzle-orm'
import { type Database, withRetries } from '../db/open.ts'
import { devices, unclaimed } from '../db/schema.ts'
import { literal, readAll, statement } from '../db/statement.ts'
import { type Env, publicUrl } from '../env.ts'
import type { Context } from '../http/context.ts'
import { newId } from '../ids.ts'
import { importHeld } from './claim.ts'

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
    req: { url: publicUrl(env) ?? 'http://localhost' },
    executionCtx: { waitUntil: () => {} },
  } as unknown as Context
}

const MAX_IDENTIFIERS = 20

interface Waiting {
  source_id: string
  account_id: string
  identifier: string
}

/** Identifiers that a device has now, though their reports still wait. */
const findClaimed = (db: Database): Promise<Waiting[]> =>
  readAll(
    statement(
      db,
      sql`SELECT ${unclaimed.sourceId}, ${unclaimed.accountId}, ${unclaimed.identifier}
        FROM ${unclaimed} CROSS JOIN ${devices} ON ${devices.accountId} = ${unclaimed.accountId}
          AND ${devices.identifierKey} = ${unclaimed.identifierKey}
        LIMIT ${literal(MAX_IDENTIFIERS)}`,
    ),
  )

/** How many identifiers it moved in this cell, a few at a time. */
export const resumeImports = async (env: Env, cell: number, db: Database): Promise<number> => {
  const waiting = await findClaimed(db)
  for (const { source_id: sourceId, account_id: accountId, identifier } of waiting) {
    const c = backgroundContext({ env, db, cell, accountId, sourceId })
    await importHeld(c, { accountId, sourceId }, identifier)
  }
  return waiting.length
}
