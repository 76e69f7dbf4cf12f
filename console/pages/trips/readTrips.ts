import { call } from '../../api/client.ts'
import type { DaySummary, Location, Stop, Trip } from '../../api/types.ts'
import { type Interval, readTrack } from '../map/track/track.ts'

export interface Trips {
  trips: readonly Trip[]
  stops: readonly Stop[]
  days: readonly DaySummary[]
  track: readonly Location[]
}

export const readTrips = async (
  deviceId: string,
  { from, to }: Interval,
  signal: AbortSignal,
): Promise<Trips> => {
  const options = { params: { deviceId }, query: { from, to }, signal }
  const [{ trips }, { stops }, { days }, track] = await Promise.all([
    call('GET /api/devices/{deviceId}/trips', options),
    call('GET /api/devices/{deviceId}/stops', options),
    call('GET /api/devices/{deviceId}/summary', options),
    readTrack(deviceId, { from, to }, signal),
  ])
  return { trips, stops, days, track }
}

/** The positions of the track from one time to another, both included. */
export const partOf = (track: readonly Location[], { from, to }: Interval): readonly Location[] =>
  track.filter(({ dateTime }) => dateTime >= from && dateTime <= to)
