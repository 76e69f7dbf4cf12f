import type { Alert, AlertUpdate, Place, Position } from './alert.ts'

/** Where a place comes from: the alert itself, one that joined it, or the device's last location. */
export const PLACE_SOURCES = ['alert', 'update', 'location'] as const

export interface NewestPlace extends Place {
  time: number
  source: (typeof PLACE_SOURCES)[number]
  /** The place in words, where there are any. */
  words?: string | null | undefined
}

type Positioned = Pick<Alert, keyof Place | 'positionTime' | 'dateTime' | 'place'>

/** The newest place that is known of an alert; of two of one time, the alert's own. */
export const newestPlaceOf = (
  { latitude, longitude, positionTime, dateTime, place: words }: Positioned,
  updates: readonly AlertUpdate[],
  lastLocation: Position | null,
): NewestPlace | null => {
  const known: (Partial<Record<keyof Place, number | null>> & Omit<NewestPlace, keyof Place>)[] = [
    { latitude, longitude, time: positionTime ?? dateTime, source: 'alert', words },
    ...updates.map(({ dateTime: time, place: words, ...place }) => ({
      ...place,
      words,
      time,
      source: 'update' as const,
    })),
    ...(lastLocation ? [{ ...lastLocation, source: 'location' as const }] : []),
  ]
  let newest: NewestPlace | null = null
  for (const { latitude, longitude, time, source, words = null } of known)
    if (latitude != null && longitude != null && (!newest || time > newest.time))
      newest = { latitude, longitude, time, source, words }
  return newest
}

/** How the device moved at its newest place, where that is known. */
export const motionAt = (
  { source }: NewestPlace,
  ofAlert: Partial<Position>,
  lastLocation: Partial<Position> | null,
) => {
  const { speed, course, accuracy } =
    (source === 'alert' ? ofAlert : source === 'location' ? lastLocation : null) ?? {}
  return { speed, course, accuracy }
}
