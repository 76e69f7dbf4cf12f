import { sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { accounts, devices, locations } from '../../db/schema.ts'
import { readFirst, runBatch, type Statement, statement } from '../../db/statement.ts'
import { keptSince } from '../../domain/account/account.ts'
import { currentDay, hasEnded } from '../../domain/account/license.ts'
import type { SourceItem } from '../../domain/account/source.ts'
import { fold } from '../../domain/text/fold.ts'
import type { Day } from '../../domain/time/day.ts'
import { pokeIfSubscribed } from '../../feed/stub.ts'
import type { Context } from '../../http/context.ts'
import { originOf } from '../../ingest/handOver.ts'
import { cancelAlerts } from '../cancels.ts'
import { messageStatements } from '../conversation.ts'
import { releaseAgreeing, storeReports } from '../ingest.ts'
import { judgeReports } from '../quarantine/judge.ts'
import { quarantineStatements } from '../quarantine/quarantineInsert.ts'
import { toRaise } from '../raises.ts'
import { type HeldReport, releaseHeld } from './held.ts'
import type { Holder } from './unclaimed.ts'

/* Moves reports that waited to be claimed to the device that has their identifier now. */

interface Claimant {
  key: number
  id: string
  ends: Day | null
  last_contact: number | null
  day: Day
  time_zone: string
  retention_days: number
}

/** The device that has the identifier, with what of its account decides; null without one. */
export const findClaimant = (
  db: Database,
  accountId: string,
  identifier: string,
): Promise<Claimant | null> =>
  readFirst(
    statement<Claimant>(
      db,
      sql`SELECT ${devices.key}, ${devices.id}, ${devices.ends}, ${devices.lastContact},
          ${accounts.day}, ${accounts.timeZone}, ${accounts.retentionDays}
        FROM ${devices} CROSS JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
        WHERE ${devices.accountId} = ${accountId} AND ${devices.identifierKey} = ${fold(identifier)}`,
    ),
  )

/** An expired device takes nothing: the reports wait until it is active. */
export const isExpired = ({ ends, day, time_zone: timeZone }: Claimant, now: number): boolean =>
  hasEnded(ends, currentDay({ day, timeZone }, now))

type HeldOf<Item> = Omit<HeldReport, 'item'> & { item: Item }

const heldOf = <Kind extends SourceItem['kind']>(held: HeldReport[], kind: Kind) =>
  held.filter(
    (report): report is HeldOf<Extract<SourceItem, { kind: Kind }>> => report.item.kind === kind,
  )

/** The reports keep the times at which they arrived. Must be the last statements of their batch. */
const restoreArrivals = (
  db: Database,
  { key, last_contact: lastContact }: Claimant,
  held: HeldReport[],
  now: number,
): Statement[] => {
  const arrivals = heldOf(held, 'location').map(({ item, receivedAt }) => [
    item.location.dateTime,
    receivedAt,
  ])
  const contact = Math.max(lastContact ?? 0, ...held.map(({ receivedAt }) => receivedAt))
  // The LIMIT makes SQLite look up each location: otherwise it reads the whole track.
  const sent = sql`(SELECT value ->> 0 AS time, value ->> 1 AS received_at
    FROM json_each(${JSON.stringify(arrivals)}) LIMIT -1) sent`
  return [
    statement(
      db,
      sql`UPDATE ${locations} SET received_at = sent.received_at FROM ${sent}
        WHERE ${locations.deviceKey} = ${key} AND ${locations.time} = sent.time
          AND ${locations.receivedAt} = ${now}`,
    ),
    statement(
      db,
      sql`UPDATE ${devices} SET last_contact = ${contact}
        WHERE ${devices.key} = ${key} AND ${devices.lastContact} = ${now}`,
    ),
  ]
}

/** Commands go by the source of the reports, unless the device has reported by another. */
const noteSource = (db: Database, { key }: Claimant, { sourceId }: Holder): Statement =>
  statement(
    db,
    sql`UPDATE ${devices} SET source_id = ${sourceId}
      WHERE ${devices.key} = ${key} AND ${devices.sourceId} IS NULL`,
  )

const raisesBy = (
  c: Context,
  { id, retention_days: retentionDays }: Claimant,
  held: HeldReport[],
  now: number,
) => {
  const alerts = heldOf(held, 'alert')
  if (alerts.length === 0) return null
  const context = { origin: originOf(c), now, keptSince: keptSince(now, retentionDays) }
  return (emergency: string | null) =>
    Promise.all(
      alerts.map(({ item, receivedAt }) =>
        toRaise(item, { id }, emergency, { ...context, receivedAt }),
      ),
    )
}

/**
 * Stores a page of reports at their device and deletes them in the same batch. Cancellations are
 * decisions of the ledger: they follow, and are deleted once it has decided.
 */
export const importPage = async (
  c: Context,
  holder: Holder,
  claimant: Claimant,
  held: HeldReport[],
): Promise<void> => {
  const [first] = held
  if (!first) return
  const db = c.get('db')
  const now = Date.now()
  const { identifier } = first.item
  const { key: deviceKey, id } = claimant
  const device = { id, key: deviceKey }
  const fixes = heldOf(held, 'location').map(({ number, item, receivedAt }) => ({
    number,
    location: item.location,
    receivedAt,
  }))
  const [judged] = await judgeReports(db, holder.accountId, [{ deviceId: id, fixes }])
  const { accepted, quarantined } = judged ?? { accepted: [], quarantined: [] }
  const messages = heldOf(held, 'message').map((report) => ({ ...report, device }))
  const stored = [
    ...(await quarantineStatements(db, holder.accountId, quarantined)),
    ...(await messageStatements(db, holder.accountId, messages)),
  ]
  const since = keptSince(now, claimant.retention_days)
  const isAccepted = new Set(accepted)
  // Those that are too old to be stored are not looked for in the track.
  const times = new Map(
    fixes
      .filter(({ location }) => isAccepted.has(location) && location.dateTime >= since)
      .map(({ number, location }) => [number, location.dateTime]),
  )
  const isCancel = ({ item }: HeldReport) => item.kind === 'cancel'
  const moved = held
    .filter((report) => !isCancel(report))
    .map(({ number }) => ({ number, time: times.get(number) ?? null }))
  const named = { report: 0, ends: claimant.ends, source_id: null, ...device }
  await storeReports(
    c,
    [
      {
        group: { identifier, device: named },
        locations: accepted,
      },
    ],
    {
      raisesBy: raisesBy(c, claimant, held, now),
      isJudged: false,
      now,
      alsoRun: (isStored) => [
        ...stored,
        noteSource(db, claimant, holder),
        ...releaseHeld(db, holder, { identifier, deviceKey, reports: moved }, isStored),
        ...restoreArrivals(db, claimant, held, now),
      ],
    },
  )
  await releaseAgreeing(c, quarantined)
  const cancels = held.filter(isCancel)
  const lastArrival = Math.max(0, ...cancels.map(({ receivedAt }) => receivedAt))
  await cancelAlerts(c, [{ items: cancels.map(({ item }) => item), device: named }], lastArrival)
  const reports = cancels.map(({ number }) => ({ number, time: null }))
  if (reports.length > 0)
    await runBatch(db, releaseHeld(db, holder, { identifier, deviceKey, reports }))
  if (messages.length > 0) c.executionCtx.waitUntil(pokeIfSubscribed(c.env, c.get('principal')))
}
