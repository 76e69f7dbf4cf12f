import type { Database } from '../db/open.ts'
import { packedBytes } from '../db/queries/locations.ts'
import { nameOf } from '../db/queries/namedDevices.ts'
import { keptSince } from '../domain/account/account.ts'
import { intakeOf } from '../http/admission/pacing.ts'
import { letRequestsIn, Slices } from '../http/admission/slices.ts'
import { takeTurn } from '../http/admission/turn.ts'
import { MAX_FURTHER_ROWS } from '../rules/evaluate/evaluateTracks.ts'
import { MAX_REPORT_PAIRS } from '../rules/evaluate/report.ts'
import type { ReportWork } from '../rules/evaluate/tracks.ts'
import type { AssumedState, Batch, Outcome } from './arrival.ts'
import { type Packed, packBatch, writeBatch } from './batch.ts'
import { evaluateArrivals } from './evaluate.ts'
import { findStatuses } from './outcome.ts'

/*
 * Stores arrivals, of one device or of many, in one round trip: a row for each location, and all that
 * follows from them. When what is assumed is wrong, nothing is stored and the batch runs again.
 */

/** How often the account's state may have changed. */
const MAX_RETRIES = 5
/** How often the race for a track may be lost. */
const MAX_RACES = 40
/** Numbers such as 1e20 are written out: a body of 1 MiB may grow beyond what D1 binds as one value. */
const MAX_PACKED_LENGTH = 1_900_000
const LONG_PACKED_LENGTH = 200_000

const isSame = (a: AssumedState, b: AssumedState): boolean =>
  a.timeZone === b.timeZone &&
  a.hasSubscribers === b.hasSubscribers &&
  a.rulesVersion === b.rulesVersion

/** What counting one location takes, in each statement with the guard. */
const GUARD_ROW_UNITS = 1

/** What the report may cost. Nothing delays one that carries an emergency. */
const workOf = ({ viewer, raisesBy, skipsLongWindows = false }: Batch): ReportWork => ({
  slices: new Slices(raisesBy ? undefined : intakeOf(viewer.accountId)),
  rowsLeft: MAX_FURTHER_ROWS,
  pairs: { left: MAX_REPORT_PAIRS },
  isUrgent: raisesBy !== null || skipsLongWindows,
})

const storePacked = async (
  db: Database,
  batch: Batch,
  packed: Packed,
  work: ReportWork,
): Promise<Outcome> => {
  const { now } = batch
  let { assumed } = batch
  let races = 0
  for (let attempts = 0; attempts <= MAX_RETRIES + races; attempts++) {
    const seen = { ...assumed, usesMemory: attempts === 0, work }
    const evaluation = await evaluateArrivals(db, batch, packed, seen)
    if (evaluation && 'rulesVersion' in evaluation) {
      assumed = { ...assumed, ...evaluation }
      continue
    }
    const raises = (await batch.raisesBy?.(assumed.emergency)) ?? []
    if (evaluation) {
      const { hits, guardRows, quarantine } = evaluation
      const guarded = [hits.length > 0, raises.length > 0, assumed.hasSubscribers, quarantine, true]
      await work.slices.spend(guarded.filter(Boolean).length * guardRows * GUARD_ROW_UNITS)
    }
    const written = await writeBatch(db, batch, packed, { assumed, raises, evaluation })
    const { state, accepted } = written
    if (!state) return { ok: false, refusal: 'account-not-found' }
    const { timeZone, hasSubscribers, emergency, rulesVersion } = state
    const actual = { timeZone, hasSubscribers, emergency, rulesVersion }
    // Nothing new though something was to be: the race for a track was lost.
    if (!written.isCurrent || (evaluation?.isAnyNew && accepted === 0)) {
      if (evaluation && isSame(assumed, actual)) races = Math.min(races + 1, MAX_RACES)
      assumed = actual
      evaluation?.evict()
      continue
    }
    evaluation?.remember()
    const since = keptSince(now, state.retentionDays)
    const visible = new Set(written.devices.map(({ id }) => id))
    return {
      ok: true,
      statuses: await findStatuses(db, packed, { ...written, state }, evaluation?.incredible),
      devices: written.devices,
      accepted,
      storedBytes: accepted && Math.round((accepted / packed.count) * packedBytes(packed.rows)),
      stored: written.stored,
      quarantined: evaluation?.quarantined ?? [],
      // As the statement that stores them does: none of a device that the caller cannot see.
      raises: raises.filter(
        ({ deviceId, alert }) => visible.has(deviceId) && alert.dateTime >= since,
      ),
      hits: evaluation?.hits ?? [],
      actual,
    }
  }
  return { ok: false, refusal: 'unavailable' }
}

export const storeArrivals = async (db: Database, batch: Batch): Promise<Outcome> => {
  const packed = packBatch(batch)
  const { length } = packed.all.json
  if (length > MAX_PACKED_LENGTH) return { ok: false, refusal: 'body-too-large' }
  // Packing and sending take milliseconds each: other requests get their turn between them.
  if (length > LONG_PACKED_LENGTH) await letRequestsIn()
  const work = workOf(batch)
  // Also what failed is counted: it would be sent again.
  const store = () =>
    storePacked(db, batch, packed, work).finally(() => batch.countWork?.(work.slices.spent))
  if (batch.assumed.rulesVersion === null && !batch.checksCredibility) return store()
  const { accountId } = batch.viewer
  const names = batch.devices.map(nameOf).map(([id, key]) => id ?? `${accountId} ${key}`)
  return takeTurn(names, store)
}
