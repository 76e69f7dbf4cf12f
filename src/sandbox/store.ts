import { and, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { isHere } from '../db/movedCell.ts'
import type { Database } from '../db/open.ts'
import { accounts, devices, directory, locations, sweepPositions } from '../db/schema.ts'
import { readAll, statement, valuesOf } from '../db/statement.ts'
import { BoundedCache } from '../domain/cache/boundedCache.ts'
import { SANDBOX_FLEET } from '../domain/sandbox/fleet.ts'
import { MAX_SANDBOXES } from '../domain/sandbox/sandbox.ts'

/** A sandbox, and when its simulated devices last reported: null for never. */
export interface SimulatedAccount {
  id: string
  number: number
  creation: number
  lastTimes: Map<string, number | null>
}

/** Some accounts by id, or the next ones after the position of a part of the sweep, in turn. */
type Wanted = { ids: string[] } | { part: string; limit: number }

interface Row {
  id: string
  number: number
  creation: number
  identifier: string | null
  lastAt: number | null
}

const positionOf = (part: string): SQL => sql`ifnull((SELECT ${sweepPositions.position}
  FROM ${sweepPositions} WHERE ${sweepPositions.part} = ${part}), 0)`

const conditionOf = (wanted: Wanted): SQL =>
  'ids' in wanted
    ? sql`${accounts.id} IN ${valuesOf(wanted.ids)}`
    : sql`${accounts.deletedAt} IS NULL
        AND ${accounts.status} IN ('active', 'notice') AND ${isHere(accounts.id)}
        ORDER BY ${accounts.number} <= ${positionOf(wanted.part)}, ${accounts.number}
        LIMIT ${wanted.limit}`

/** Sandboxes with those of their simulated devices that exist and have not expired. */
export const readSimulated = async (db: Database, wanted: Wanted): Promise<SimulatedAccount[]> => {
  const identifiers = SANDBOX_FLEET.map(({ identifier }) => identifier)
  const found = sql`SELECT ${accounts.id}, ${accounts.number}, ${accounts.creation}, ${accounts.day}
    FROM ${accounts} WHERE ${accounts.sandbox} IS NOT NULL AND ${conditionOf(wanted)}`
  const rows = await readAll(
    statement<Row>(
      db,
      sql`SELECT found.id, found.number, found.creation, ${devices.identifierKey} AS identifier,
          (SELECT max(${locations.time}) FROM ${locations}
            WHERE ${locations.deviceKey} = ${devices.key}) AS lastAt
        FROM (${found}) found LEFT JOIN ${devices} ON ${devices.accountId} = found.id
          AND ${devices.identifierKey} IN ${valuesOf(identifiers)}
          AND (${devices.ends} IS NULL OR ${devices.ends} > found.day)`,
    ),
  )
  const byId = new Map<string, SimulatedAccount>()
  for (const { id, number, creation, identifier, lastAt } of rows) {
    const account = byId.get(id) ?? { id, number, creation, lastTimes: new Map() }
    if (identifier !== null) account.lastTimes.set(identifier, lastAt)
    byId.set(id, account)
  }
  return [...byId.values()]
}

/** Null if the cell has no such account: it may be moving. */
export const isSandbox = async (db: Database, accountId: string): Promise<boolean | null> => {
  const account = db.select({ sandbox: accounts.sandbox }).from(accounts)
  const found = await account.where(eq(accounts.id, accountId)).get()
  return found ? found.sandbox !== null : null
}

/** Whether accounts are sandboxes: no account becomes or stops being one. */
const known = new BoundedCache<boolean>(10_000)

export const isKnownSandbox = async (db: Database, accountId: string): Promise<boolean> => {
  const is = known.get(accountId) ?? (await isSandbox(db, accountId))
  if (is !== null) known.set(accountId, is)
  return is ?? false
}

/** The sandboxes that an account has opened, by the directory. */
export const findSandboxes = (directoryDb: Database, accountId: string) =>
  directoryDb
    .select({ id: directory.accountId, cell: directory.cell })
    .from(directory)
    .where(eq(directory.sandboxOf, accountId))
    .limit(MAX_SANDBOXES)

export type OwnSandbox = Pick<
  typeof accounts.$inferSelect,
  'id' | 'userName' | 'name' | 'creation' | 'sandboxErasesAt'
>

export const readSandboxes = (db: Database, ids: string[]): Promise<OwnSandbox[]> => {
  const { id, userName, name, creation, sandboxErasesAt } = accounts
  return db
    .select({ id, userName, name, creation, sandboxErasesAt })
    .from(accounts)
    .where(and(inArray(id, valuesOf(ids)), isNull(accounts.deletedAt)))
}
