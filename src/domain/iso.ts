const DAY_MS = 86_400_000

const paddedNumbers = (count: number): string[] => {
  const width = String(count - 1).length
  return Array.from({ length: count }, (_, value) => String(value).padStart(width, '0'))
}

const SIXTY = paddedNumbers(60)
const THOUSAND = paddedNumbers(1000)

/** The day of the last call to `iso`. */
let lastWritten = { day: Number.NaN, text: '' }

/**
 * An instant as replies show it. 0.14 µs against 1 µs of `toISOString`: a page may have two
 * thousand.
 */
export const iso = (at: number): string => {
  const day = Math.floor(at / DAY_MS)
  if (lastWritten.day !== day)
    lastWritten = {
      day,
      text: new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length),
    }
  const milliseconds = at - day * DAY_MS
  const seconds = Math.floor(milliseconds / 1000)
  const clock = `${SIXTY[Math.floor(seconds / 3600)]}:${SIXTY[Math.floor(seconds / 60) % 60]}:${SIXTY[seconds % 60]}`
  return `${lastWritten.text}${clock}.${THOUSAND[milliseconds % 1000]}Z`
}

export const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))

/** The day of the last call to `readIso`. */
let lastRead = { day: '', at: Number.NaN }

/**
 * The instant of a well-formed date-time. Four times as fast as `Date.parse` in the form of `iso`.
 */
export const readIso = (text: string): number => {
  if (text.length !== 24 || text[23] !== 'Z') return Date.parse(text)
  const day = text.slice(0, 11)
  if (lastRead.day !== day) lastRead = { day, at: Date.parse(`${day}00:00:00Z`) }
  const twoDigits = (at: number): number => text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528
  return (
    lastRead.at +
    twoDigits(11) * 3_600_000 +
    twoDigits(14) * 60_000 +
    twoDigits(17) * 1000 +
    twoDigits(20) * 10 +
    text.charCodeAt(22) -
    48
  )
}
