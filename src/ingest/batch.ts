import type { Database } from '../db/open.ts'
import {
  type PackedLocation,
  packLocation,
  rowOfPacked,
  unpackFound,
  unpackLocation,
} from '../db/queries/locations.ts'
import { nameOf } from '../db/queries/namedDevices.ts'
import { runBatch, type Statement } from '../db/statement.ts'
import type { PendingRaise } from '../domain/message/pendingRaise.ts'
import { type Day, localDay } from '../domain/time/day.ts'
import type { StoredLocation } from '../domain/track/location.ts'
import type { AssumedState, Batch } from './arrival.ts'
import type { Evaluation } from './evaluate.ts'
import { isBatchCurrent } from './guard.ts'
import {
  type DeviceRow,
  SELECT_STATE,
  type StateOfOne,
  type StateRow,
  selectDevices,
} from './state.ts'
import { insertHits, insertRaises, OF_MANY, OF_ONE, writeStays } from './statements.ts'
import type { Values } from './values.ts'

/* The one batch that stores arrivals, with all that follows from them. */

/** The locations that the INSERT is given. */
interface Sent {
  /** Of each device. */
  rows: PackedLocation[][]
  json: string
}

export interface Packed {
  /** Of each device. */
  rows: PackedLocation[][]
  /** Of all devices. */
  count: number
  /** Whether all are of one device that has just reported. */
  isOne: boolean
  /** What is stored when nothing is left out. */
  all: Sent
  refs: string
  /** The earliest time. */
  oldest: number
}

/** Of many devices, each says which it is of and, unless it has just arrived, when it arrived. */
const toSent = (
  { devices, now }: Batch,
  { rows, isOne }: Pick<Packed, 'rows' | 'isOne'>,
  isLeftOut?: (row: PackedLocation) => boolean,
): Sent => {
  const kept = isLeftOut ? rows.map((own) => own.filter((row) => !isLeftOut(row))) : rows
  if (isOne) return { rows: kept, json: JSON.stringify(kept[0]) }
  const packed = rows.flatMap((own, part) =>
    own.flatMap((row, at) => {
      if (isLeftOut?.(row)) return []
      const receivedAt = devices[part]?.arrivals[at]?.receivedAt ?? now
      return [receivedAt === now ? [...row, part] : [...row, part, receivedAt]]
    }),
  )
  return { rows: kept, json: JSON.stringify(packed) }
}

export const packBatch = (batch: Batch): Packed => {
  const { devices, now, checksCredibility } = batch
  const rows = devices.map(({ arrivals }) => arrivals.map(({ location }) => packLocation(location)))
  const isOne =
    !checksCredibility &&
    devices.length === 1 &&
    devices.every(
      ({ deviceId, arrivals, contact }) =>
        deviceId !== null &&
        contact === now &&
        arrivals.every(({ receivedAt }) => receivedAt === now),
    )
  let oldest = now
  for (const own of rows) for (const row of own) oldest = Math.min(oldest, row[0] as number)
  const refs = devices.map((device) => [...nameOf(device), device.eventId, device.contact])
  return {
    rows,
    count: rows.reduce((count, { length }) => count + length, 0),
    isOne,
    all: toSent(batch, { rows, isOne }),
    refs: JSON.stringify(refs),
    oldest,
  }
}

/** What one attempt to store a batch assumes. */
export interface Attempt {
  assumed: AssumedState
  raises: PendingRaise[]
  /** Null when nothing has to be evaluated. */
  evaluation: Evaluation | null
}

/** A batch after it has run. Unless it is current, it has written nothing but `lastContact`. */
export interface Written {
  sent: PackedLocation[][]
  values: Values
  /** Undefined when the account is gone. */
  state: StateRow | undefined
  /** False when the state is not as assumed, and the batch must run again. */
  isCurrent: boolean
  devices: DeviceRow[]
  /** What is stored at the time of a report's only location; null also for other batches. */
  stored: StoredLocation | null
  /** How many locations are new. */
  accepted: number
}

/** With the longest texts, so many are well below what D1 binds as one value. */
const MAX_HITS_PER_STATEMENT = 100

const hitStatements = (db: Database, values: Values, hits: PendingRaise[]): Statement[] =>
  Array.from({ length: Math.ceil(hits.length / MAX_HITS_PER_STATEMENT) }, (_, index) => {
    const at = index * MAX_HITS_PER_STATEMENT
    const some = hits.slice(at, at + MAX_HITS_PER_STATEMENT)
    return insertHits(db, { ...values, hits: JSON.stringify(some) })
  })

/** The location of a device's report, if it has only one. */
const findOnly = ({ rows: [own = [], ...others] }: Sent): PackedLocation | undefined =>
  own.length === 1 && others.length === 0 ? own[0] : undefined

const valuesOf = (batch: Batch, packed: Packed, attempt: Attempt, sent: Sent): Values => {
  const { viewer, now } = batch
  const { assumed, raises, evaluation } = attempt
  const { accountId, groupId } = viewer
  return {
    accountId,
    groupId,
    deviceId: packed.isOne ? (batch.devices[0]?.deviceId ?? null) : null,
    now,
    timeZone: assumed.timeZone,
    today: localDay(now, assumed.timeZone),
    hasSubscribers: assumed.hasSubscribers ? 1 : 0,
    mayRaise: batch.raisesBy ? 1 : 0,
    emergency: assumed.emergency,
    rulesVersion: assumed.rulesVersion,
    expected: evaluation?.expected ?? null,
    found: evaluation?.found ?? 0,
    tracks: evaluation?.tracks ?? null,
    stays: evaluation?.stays ?? null,
    maxCounted: evaluation?.maxCounted ?? 0,
    nextStays: evaluation?.nextStays ?? '[]',
    retentionDays: evaluation?.retentionDays ?? null,
    refs: packed.refs,
    rows: sent.json,
    oldest: packed.oldest,
    time: (findOnly(sent)?.[0] as number | undefined) ?? null,
    anyTimeZone: packed.isOne && !evaluation && !batch.raisesBy ? 1 : 0,
    raises: JSON.stringify(raises),
    hits: '[]',
  }
}

/** The same as the guard of the statements that write. */
const isAsAssumed = (values: Values, state: StateRow & { ends?: Day | null }): boolean => {
  const hasNoEnd = values.anyTimeZone === 1 && (state.ends ?? null) === null
  return (
    (hasNoEnd || state.timeZone === values.timeZone) &&
    state.rulesVersion === values.rulesVersion &&
    state.hasSubscribers === (values.hasSubscribers === 1) &&
    (values.mayRaise === 0 || state.emergency === values.emergency) &&
    state.isAsEvaluated
  )
}

/** The state is from before the INSERT. */
const storedAt = (
  { time, now }: Values,
  sent: Sent,
  state: StateOfOne,
  isNew: boolean,
): StoredLocation | null => {
  const only = findOnly(sent)
  if (time === null || state.time !== null) return unpackFound(state)
  return isNew && only ? unpackLocation(rowOfPacked(only, now)) : null
}

/**
 * Runs the batch. Everything that depends on what is new stands before the INSERT, which has the same
 * conditions: behind it, what is new looks like the rest.
 */
export const writeBatch = async (
  db: Database,
  batch: Batch,
  packed: Packed,
  attempt: Attempt,
): Promise<Written> => {
  const { raises, evaluation, assumed } = attempt
  const { isOne } = packed
  const isProbed = evaluation !== null && !evaluation.isAnyNew
  const incredible = evaluation?.incredible
  const sent = incredible?.size ? toSent(batch, packed, (row) => incredible.has(row)) : packed.all
  const values = valuesOf(batch, packed, attempt, sent)
  const { updateLastContact, ...variants } = isOne ? OF_ONE : OF_MANY
  const { insertLocations, appendEvents } = variants[evaluation ? 'evaluated' : 'unevaluated']
  const run = await runBatch(db, {
    state: SELECT_STATE[isOne ? 'ofOne' : 'ofMany'][isProbed ? 'probed' : 'plain'](db, values),
    devices: isOne ? undefined : selectDevices(db, values),
    hits: hitStatements(db, values, evaluation?.hits ?? []),
    events: assumed.hasSubscribers ? appendEvents(db, values) : undefined,
    raises: raises.length > 0 ? insertRaises(db, values) : undefined,
    quarantine: evaluation?.quarantine?.(isBatchCurrent(values)),
    locations: insertLocations(db, values),
    stays: evaluation?.nextStays ? writeStays(db, values) : undefined,
    lastContact: updateLastContact(db, values),
  })
  const [state] = run.state.results as StateOfOne[]
  const accepted = run.locations.meta.changes
  const ofOne = state && isOne && state.key !== null ? [state as DeviceRow] : []
  return {
    sent: sent.rows,
    values,
    state,
    isCurrent: state !== undefined && isAsAssumed(values, state),
    devices: run.devices?.results ?? ofOne,
    stored: isOne && state ? storedAt(values, sent, state, accepted > 0) : null,
    accepted,
  }
}
