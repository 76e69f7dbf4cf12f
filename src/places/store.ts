import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import type { Viewer } from '../db/queries/visibility.ts'
import { select } from '../db/query.ts'
import { zones } from '../db/schema.ts'
import { compile, type Placeholders, runBatch } from '../db/statement.ts'
import { BoundedCache } from '../domain/cache/boundedCache.ts'
import { describePlace, type NamedZone } from '../domain/geo/describePlace.ts'
import { NO_TOWNS, parseTowns, type Towns } from '../domain/geo/towns.ts'
import { compiledBytes, compileShape } from '../domain/geo/zoneGeometry.ts'
import type { Place } from '../domain/message/alert.ts'
import { ZONE_COLUMNS } from '../zones/store.ts'

/* What a place is described by. Alerts carry the words, so nothing here may delay or fail them. */

const MAX_WAIT_MS = 300
const MAX_CACHE_BYTES = 8_000_000
const ZONE_BYTES = 500
/** Compiling so many takes some milliseconds; then other requests have their turn. */
const SLICE_BYTES = 150_000
const TOWNS_URL = 'https://assets.invalid/places/towns.txt'

/** Of this isolate. A promise is not kept: it would belong to the request that has made it. */
let knownTowns: Towns | null = null

const loadTowns = async (assets: Fetcher): Promise<Towns> => {
  if (knownTowns) return knownTowns
  const reply = await assets.fetch(TOWNS_URL)
  knownTowns = parseTowns(await reply.text())
  return knownTowns
}

interface AccountZones {
  version: string
  zones: NamedZone[]
  bytes: number
}

/** By account, as this isolate has compiled them. */
const zoneCache = new BoundedCache<AccountZones>(MAX_CACHE_BYTES, ({ bytes }) => bytes)

type OfAccount = Placeholders<{ accountId: string }>

/** Another one after each change of a zone. */
const versionOf = (p: OfAccount) => sql<string>`(SELECT count(*) || ' ' || total(version) || ' '
  || ifnull(max(last_modified), 0) FROM ${zones} WHERE account_id = ${p.accountId})`

const selectVersion = compile((p: OfAccount) => select({ version: versionOf(p) }, sql``))

/** None if they are those of the known version. */
const selectChanged = compile((p: Placeholders<{ accountId: string; known: string }>) =>
  select(
    ZONE_COLUMNS,
    sql`FROM ${zones} WHERE ${zones.accountId} = ${p.accountId} AND ${versionOf(p)} <> ${p.known}
      ORDER BY ${zones.id}`,
  ),
)

const loadZones = async (db: Database, accountId: string): Promise<NamedZone[]> => {
  const known = zoneCache.get(accountId)
  const { versions, rows } = await runBatch(db, {
    versions: selectVersion(db, { accountId }),
    rows: selectChanged(db, { accountId, known: known?.version ?? '' }),
  })
  const version = versions.results[0]?.version ?? ''
  if (known?.version === version) return known.zones
  const compiled: NamedZone[] = []
  let bytes = ZONE_BYTES
  let sliceEnd = SLICE_BYTES
  for (const { name, shape } of rows.results) {
    const zone = { name, shape: compileShape(shape) }
    compiled.push(zone)
    bytes += ZONE_BYTES + compiledBytes(zone.shape)
    if (bytes < sliceEnd) continue
    sliceEnd = bytes + SLICE_BYTES
    await scheduler.wait(1)
  }
  zoneCache.set(accountId, { version, zones: compiled, bytes })
  return compiled
}

const inTime = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
  Promise.race([work.catch(() => otherwise), scheduler.wait(MAX_WAIT_MS).then(() => otherwise)])

const wordsOrNull = (...of: Parameters<typeof describePlace>): string | null => {
  try {
    return describePlace(...of)
  } catch {
    return null
  }
}

/** Adds the words to a place, where there are any. */
export type DescribePlace = <P extends Place>(
  place: P | null,
) => (P & { words: string | null }) | null

/**
 * What describes places of the account. Never fails, and waits no longer than an emergency may. Zones
 * are closed to those who are confined to a group, and what they ask about is described by towns.
 */
export const loadDescriber = async (
  assets: Fetcher,
  db: Database,
  { accountId, groupId }: Viewer,
): Promise<DescribePlace> => {
  const [towns, ofAccount] = await Promise.all([
    inTime(loadTowns(assets), NO_TOWNS),
    groupId === null ? inTime(loadZones(db, accountId), []) : [],
  ])
  return (place) => place && { ...place, words: wordsOrNull(place, ofAccount, towns) }
}
