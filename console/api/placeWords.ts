import { useEffect, useState } from 'preact/hooks'
import { call } from './client.ts'

/* Where positions are, in words: "4.2 km NE of Porto". */

export interface Coordinates {
  latitude: number
  longitude: number
}

/** About 100 m, as exact as the words are. */
const DIGITS = 3
const MAX_KNOWN = 500
/** Zones are moved and renamed. */
const MAX_AGE_MS = 600_000
/** Whoever goes through a list of devices asks for the last one alone. */
const PAUSE_MS = 400

const known = new Map<string, { at: number; words: Promise<string | null> }>()

const keyOf = ({ latitude, longitude }: Coordinates): string =>
  `${latitude.toFixed(DIGITS)},${longitude.toFixed(DIGITS)}`

const freshWords = (key: string): Promise<string | null> | null => {
  const found = known.get(key)
  return found && Date.now() - found.at < MAX_AGE_MS ? found.words : null
}

/** The words for a position, which are asked for once. Null where there are none, or no answer. */
export const readPlaceWords = (position: Coordinates): Promise<string | null> => {
  const key = keyOf(position)
  const fresh = freshWords(key)
  if (fresh) return fresh
  const [latitude, longitude] = key.split(',')
  const words = call('GET /api/place', { query: { latitude, longitude } }).then(
    ({ place }) => place,
    () => {
      known.delete(key)
      return null
    },
  )
  known.delete(key)
  known.set(key, { at: Date.now(), words })
  const [oldest] = known.keys()
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
  return words
}

/**
 * The words for the position of something. While it moves, those of before stay until the new ones
 * are known.
 */
export const usePlaceWords = (id: string, position: Coordinates | null): string | null => {
  const [shown, setShown] = useState<{ id: string; words: string | null }>({ id, words: null })
  const key = position && keyOf(position)
  useEffect(() => {
    let isLeft = false
    const show = async () => {
      const words = position && (await readPlaceWords(position))
      if (!isLeft) setShown({ id, words })
    }
    const timer = setTimeout(show, key && !freshWords(key) ? PAUSE_MS : 0)
    return () => {
      isLeft = true
      clearTimeout(timer)
    }
  }, [id, key])
  return shown.id === id ? shown.words : null
}
