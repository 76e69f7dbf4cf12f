import { sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { devices, locations } from '../../db/schema.ts'
import { readAll, runBatch, statement, valuesOf } from '../../db/statement.ts'
import type { SourceItem } from '../../domain/account/source.ts'
import { fold } from '../../domain/text/fold.ts'

/* A replay is no sign of life: what it stores keeps the time at which its payload arrived. */

export interface ArrivedItem {
  item: SourceItem
  receivedAt: number
}

interface Contact {
  key: number
  identifier_key: string
  last_contact: number | null
}

const readContacts = async (
  db: Database,
  accountId: string,
  arrived: ArrivedItem[],
): Promise<Map<string, Contact>> => {
  const identifiers = [...new Set(arrived.map(({ item }) => fold(item.identifier)))]
  const rows = await readAll(
    statement<Contact>(
      db,
      sql`SELECT ${devices.key}, ${devices.identifierKey}, ${devices.lastContact} FROM ${devices}
        WHERE ${devices.accountId} = ${accountId}
          AND ${devices.identifierKey} IN ${valuesOf(identifiers)}`,
    ),
  )
  return new Map(rows.map((row) => [row.identifier_key, row]))
}

const restore = async (
  db: Database,
  now: number,
  times: [key: number, time: number, receivedAt: number][],
  contacts: Map<number, number>,
): Promise<void> => {
  // The LIMIT makes SQLite look up each location: otherwise it may read whole tracks.
  const stored = sql`(SELECT value ->> 0 AS key, value ->> 1 AS time, value ->> 2 AS received_at
    FROM json_each(${JSON.stringify(times)}) LIMIT -1) sent`
  const reported = sql`(SELECT value ->> 0 AS key, value ->> 1 AS contact
    FROM json_each(${JSON.stringify([...contacts])}) LIMIT -1) sent`
  await runBatch(db, [
    statement(
      db,
      sql`UPDATE ${locations} SET received_at = sent.received_at FROM ${stored}
        WHERE ${locations.deviceKey} = sent.key AND ${locations.time} = sent.time
          AND ${locations.receivedAt} = ${now}`,
    ),
    statement(
      db,
      sql`UPDATE ${devices} SET last_contact = sent.contact FROM ${reported}
        WHERE ${devices.key} = sent.key AND ${devices.lastContact} = ${now}`,
    ),
  ])
}

const restoreArrivals = async (
  db: Database,
  { accountId, arrived, now }: Replay,
  before: Map<string, Contact>,
): Promise<void> => {
  // Read again: devices may have been created for the items.
  const found = await readContacts(db, accountId, arrived)
  const contacts = new Map<number, number>()
  const times: [number, number, number][] = []
  for (const { item, receivedAt } of arrived) {
    const identifier = fold(item.identifier)
    const device = found.get(identifier)
    if (!device) continue
    const known = contacts.get(device.key) ?? before.get(identifier)?.last_contact ?? 0
    contacts.set(device.key, Math.max(known, receivedAt))
    if (item.kind === 'location') times.push([device.key, item.location.dateTime, receivedAt])
  }
  await restore(db, now, times, contacts)
}

interface Replay {
  accountId: string
  arrived: ArrivedItem[]
  /** When `store` stores them. */
  now: number
}

/** Runs `store` and sets the times of arrival, also when only a part was stored. */
export const keepArrivals = async (
  db: Database,
  replay: Replay,
  store: () => Promise<void>,
): Promise<void> => {
  const before = await readContacts(db, replay.accountId, replay.arrived)
  try {
    await store()
  } finally {
    await restoreArrivals(db, replay, before)
  }
}
