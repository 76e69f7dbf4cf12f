import { type Perigee, PerigeeError } from '../src/index.ts'
import { COUNTS, type Counts, noCounts } from '../src/reportSummary.ts'
import { EXIT, Failure } from './failure.ts'
import type { Point } from './formats/track.ts'
import { explainProblem } from './session.ts'

/** What the service takes in one call. */
const MAX_LOCATIONS = 1000
const MAX_BYTES = 1_000_000

/** As few calls as possible, each within what the service takes. */
export function* batchesOf(points: readonly Point[]): Generator<Point[]> {
  let batch: Point[] = []
  let bytes = 0
  for (const point of points) {
    const size = Buffer.byteLength(JSON.stringify(point.location)) + 1
    if (batch.length === MAX_LOCATIONS || (batch.length > 0 && bytes + size > MAX_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(point)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

/** Names the places of the file in place of the positions in the call. */
const explainBatch = (error: unknown, batch: Point[]): unknown => {
  if (!(error instanceof PerigeeError) || error.status !== 400) return error
  const details = error.errors.map(({ pointer, detail }) => {
    const [, index, member] = /^\/locations\/(\d+)\/?(.*)$/.exec(pointer) ?? []
    const place = index === undefined ? pointer : batch[Number(index)]?.place
    return `  ${place}: ${member ?? ''} ${detail}`
  })
  return new Failure(explainProblem(error).message, EXIT.failed, details)
}

export interface Sending {
  points: readonly Point[]
  signal: AbortSignal
  onProgress: (sent: number, counts: Counts) => void
}

/** Sends locations that name their devices. Sending them again changes nothing. */
export const sendLocations = async (
  perigee: Perigee,
  { points, signal, onProgress }: Sending,
): Promise<Counts> => {
  const counts = noCounts()
  let sent = 0
  for (const batch of batchesOf(points)) {
    signal.throwIfAborted()
    const locations = batch.map(({ location }) => location)
    const reply = await perigee
      .post('/api/locations', { body: { locations: locations as never }, signal })
      .catch((error) => {
        throw explainBatch(error, batch)
      })
    for (const name of COUNTS) counts[name] += reply[name]
    sent += batch.length
    onProgress(sent, counts)
  }
  return counts
}

const WORDS: Record<keyof Counts, string> = {
  accepted: 'stored',
  duplicates: 'stored already',
  conflicts: 'refused: the device has another location at the same time',
  tooOld: 'refused: older than the account keeps locations',
  unknown: 'refused: there is no such device',
  refused: 'refused: the device has expired',
}

export const describeCounts = (counts: Counts): string[] =>
  COUNTS.filter((name) => counts[name] > 0 || name === 'accepted').map(
    (name) => `${counts[name].toLocaleString('en')} ${WORDS[name]}`,
  )

/** Whether the service has everything that was sent. */
export const isComplete = ({ conflicts, tooOld, unknown, refused }: Counts): boolean =>
  conflicts + tooOld + unknown + refused === 0
