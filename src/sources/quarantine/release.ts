import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { PACKED_COLUMNS, type PackedLocation } from '../../db/queries/locations.ts'
import { insertHits } from '../../db/queries/pendingRaises.ts'
import { accounts, devices, locations, quarantine } from '../../db/schema.ts'
import {
  commaSeparated,
  literal,
  names,
  readAll,
  runBatch,
  statement,
  valuesOf,
} from '../../db/statement.ts'
import { type Day, localDay } from '../../domain/time/day.ts'
import type { Context } from '../../http/context.ts'
import { Problem } from '../../http/contract/problem.ts'
import { assumedStates, handOverLater, originOf } from '../../ingest/handOver.ts'
import { type AssumedState, INITIAL_STATE, MAX_RACES } from '../../ingest/report.ts'
import { takeTurn } from '../../ingest/reportTurn.ts'
import { forgetDevice } from '../../rules/evaluate/judgeTrack.ts'
import { type JudgedReport, judgeByRules } from '../../rules/evaluate/reportRules.ts'
import type { DeviceToJudge } from './quarantineInsert.ts'

/* Moves locations from the quarantine to the track, where rules judge them like any other. */

export interface Released {
  released: string[]
  /** Their `dateTime` is taken by another location: they stay. */
  conflicts: string[]
}

type ReleasedDevice = Pick<DeviceToJudge, 'key' | 'id'>

const isAskedOf = ({ key }: ReleasedDevice, ids: string[]): SQL =>
  sql`${quarantine.deviceKey} = ${key} AND ${quarantine.id} IN ${valuesOf(ids)}`

interface WaitingRow {
  packed: string
  ends: Day | null
  day: Day
}

/** What the rules find in the fixes; null when they find nothing, or the device has expired. */
const judge = async (
  c: Context,
  device: ReleasedDevice,
  ids: string[],
  { rulesVersion, timeZone, isRetry }: AssumedState & { isRetry: boolean },
): Promise<{ judged: JudgedReport | null } | { rulesVersion: string | null }> => {
  const db = c.get('db')
  if (rulesVersion === null) return { judged: null }
  const rows = await readAll(
    statement<WaitingRow>(
      db,
      sql`SELECT ${quarantine.packed}, ${devices.ends}, ${accounts.day}
        FROM ${quarantine} JOIN ${devices} ON ${devices.key} = ${quarantine.deviceKey}
        JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
        WHERE ${isAskedOf(device, ids)}`,
    ),
  )
  const now = Date.now()
  const today = localDay(now, timeZone)
  const active = rows.filter(({ ends, day }) => ends === null || (ends > day && ends > today))
  if (active.length === 0) return { judged: null }
  return judgeByRules(db, {
    device: { accountId: c.get('principal').accountId, groupId: null, deviceId: device.id },
    rows: active.map(({ packed }) => JSON.parse(packed) as PackedLocation),
    rulesVersion,
    timeZone,
    origin: originOf(c),
    now,
    isRetry,
  })
}

/** True while rules and track are those that the fixes were judged by. */
const isAsJudged = (
  { key }: ReleasedDevice,
  accountId: string,
  { rulesVersion, timeZone }: AssumedState,
  judged: JudgedReport | null,
): SQL => {
  const isSame = judged
    ? sql`${accounts.timeZone} = ${timeZone} AND ${accounts.retentionDays} = ${judged.retentionDays}
      AND NOT EXISTS (SELECT 1 FROM json_each(${judged.window}) part WHERE part.value ->> 2 <> (
        SELECT count(*) FROM ${locations} WHERE ${locations.deviceKey} = ${key}
          AND ${locations.time} BETWEEN part.value ->> 0 AND part.value ->> 1))`
    : sql`true`
  return sql`EXISTS (SELECT 1 FROM ${accounts} WHERE ${accounts.id} = ${accountId}
    AND ${accounts.rulesVersion} IS ${rulesVersion} AND ${isSame})`
}

interface ReleaseState {
  time_zone: string
  rules_version: string | null
}

const move = async (
  db: Database,
  device: ReleasedDevice,
  ids: string[],
  given: { accountId: string; assumed: AssumedState; judged: JudgedReport | null },
) => {
  const { accountId, assumed, judged } = given
  const isAsked = isAskedOf(device, ids)
  const selectAsked = () =>
    statement<{ id: string }>(db, sql`SELECT ${quarantine.id} FROM ${quarantine} WHERE ${isAsked}`)
  const results = await runBatch(db, [
    selectAsked(),
    statement(
      db,
      sql`INSERT INTO ${locations}
          (${names(locations.deviceKey, locations.receivedAt, ...PACKED_COLUMNS)})
        SELECT ${quarantine.deviceKey}, ${quarantine.receivedAt},
          ${commaSeparated(PACKED_COLUMNS.map((_, at) => sql`${quarantine.packed} ->> ${literal(at)}`))}
        FROM ${quarantine}
        WHERE ${isAsked} AND ${isAsJudged(device, accountId, assumed, judged)}
        ON CONFLICT DO NOTHING`,
    ),
    ...insertHits(db, { accountId, now: Date.now() }, judged?.hits ?? []),
    // Of those that are stored now, with the same place and the time of their arrival.
    statement(
      db,
      sql`DELETE FROM ${quarantine} WHERE ${isAsked} AND EXISTS (SELECT 1 FROM ${locations}
        WHERE ${locations.deviceKey} = ${quarantine.deviceKey}
          AND ${locations.time} = ${quarantine.time}
          AND ${locations.receivedAt} = ${quarantine.receivedAt}
          AND ${locations.latitude} = ${quarantine.packed} ->> 1
          AND ${locations.longitude} = ${quarantine.packed} ->> 2)`,
    ),
    selectAsked(),
    statement<ReleaseState>(
      db,
      sql`SELECT ${accounts.timeZone}, ${accounts.rulesVersion} FROM ${accounts}
        WHERE ${accounts.id} = ${accountId}`,
    ),
  ])
  return {
    asked: results[0].results.map(({ id }) => id),
    inserted: results[1].meta.changes,
    left: ((results.at(-2)?.results ?? []) as { id: string }[]).map(({ id }) => id),
    state: results.at(-1)?.results[0] as ReleaseState | undefined,
  }
}

const releaseJudged = async (
  c: Context,
  device: ReleasedDevice,
  ids: string[],
): Promise<Released> => {
  const { accountId } = c.get('principal')
  let assumed = assumedStates.get(accountId) ?? INITIAL_STATE
  for (let tries = 0; tries < MAX_RACES; tries++) {
    const judging = await judge(c, device, ids, { ...assumed, isRetry: tries > 0 })
    if ('rulesVersion' in judging) {
      assumed = { ...assumed, rulesVersion: judging.rulesVersion }
      continue
    }
    // Without anything new nothing is raised, so the track may change.
    const judged = judging.judged?.newTimes.length ? judging.judged : null
    const moved = await move(c.get('db'), device, ids, { accountId, assumed, judged })
    const { state, asked } = moved
    if (!state) return { released: [], conflicts: [] }
    const { time_zone: timeZone, rules_version: rulesVersion } = state
    const isAsAssumed =
      rulesVersion === assumed.rulesVersion && (!judged || timeZone === assumed.timeZone)
    assumed = { ...assumed, timeZone, rulesVersion }
    if (isAsAssumed && !(judged && moved.inserted === 0)) {
      forgetDevice(device.id)
      handOverLater(c, judged?.hits ?? [])
      const left = new Set(moved.left)
      return { released: asked.filter((id) => !left.has(id)), conflicts: moved.left }
    }
    forgetDevice(device.id)
  }
  throw new Problem('unavailable')
}

/** Moves fixes to the track, with the time at which they arrived. */
export const releaseFixes = (
  c: Context,
  device: ReleasedDevice,
  ids: string[],
): Promise<Released> => takeTurn([device.id], () => releaseJudged(c, device, ids))
