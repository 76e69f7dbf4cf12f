const DAY_MS = 86_400_000

const MINUTE_MS = 60_000

const paddedNumbers = (count: number): string[] => {
  const width = String(count - 1).length
  return Array.from({ length: count }, (_, value) => String(value).padStart(width, '0'))
}

const SIXTY = paddedNumbers(60)
/** The three parts of a time of day, `09:30`, `:00.` and `000Z`: few parts are fast to join. */
const MINUTES = Array.from(
  { length: 1440 },
  (_, minute) => `${SIXTY[Math.floor(minute / 60)]}:${SIXTY[minute % 60]}`,
)
const SECONDS = SIXTY.map((second) => `:${second}.`)
const MILLISECONDS = paddedNumbers(1000).map((millisecond) => `${millisecond}Z`)

/** Days that `iso` wrote lately, each at its number modulo 64: a reply has times of several. */
const written = Array.from({ length: 64 }, () => ({ day: Number.NaN, text: '' }))

const dayText = (day: number): string => {
  const known = written[day & 63]
  if (known?.day === day) return known.text
  const text = new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length)
  written[day & 63] = { day, text }
  return text
}

/** An instant as replies show it. A fourth of the time of `toISOString`: a page may have thousands. */
export const iso = (at: number): string => {
  const day = Math.floor(at / DAY_MS)
  const time = at - day * DAY_MS
  const minute = Math.floor(time / MINUTE_MS)
  const rest = time - minute * MINUTE_MS
  const second = Math.floor(rest / 1000)
  return `${dayText(day)}${MINUTES[minute]}${SECONDS[second]}${MILLISECONDS[rest - second * 1000]}`
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
