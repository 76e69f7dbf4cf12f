const DAY = 86_400_000

const places = (count: number): string[] => {
  const width = String(count - 1).length
  return Array.from({ length: count }, (_, value) => String(value).padStart(width, '0'))
}

const SIXTY = places(60)
const THOUSAND = places(1000)

/** The day that was written last. */
let known = { day: Number.NaN, text: '' }

/** An instant as replies give it. `toISOString` takes 1 µs, and a page of a thousand locations has two thousand: this takes 0.14. */
export const iso = (at: number): string => {
  const day = Math.floor(at / DAY)
  if (known.day !== day)
    known = { day, text: new Date(day * DAY).toISOString().slice(0, -'00:00:00.000Z'.length) }
  const milliseconds = at - day * DAY
  const seconds = Math.floor(milliseconds / 1000)
  const clock = `${SIXTY[Math.floor(seconds / 3600)]}:${SIXTY[Math.floor(seconds / 60) % 60]}:${SIXTY[seconds % 60]}`
  return `${known.text}${clock}.${THOUSAND[milliseconds % 1000]}Z`
}

export const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))

/** The day that was read last. */
let begun = { day: '', at: Number.NaN }

/** The instant that a well-formed date-time tells. In the form of `iso`, which most are in, it takes a quarter of what `Date.parse` does. */
export const readIso = (text: string): number => {
  if (text.length !== 24 || text[23] !== 'Z') return Date.parse(text)
  const day = text.slice(0, 11)
  if (begun.day !== day) begun = { day, at: Date.parse(`${day}00:00:00Z`) }
  const two = (at: number): number => text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528
  return (
    begun.at +
    two(11) * 3_600_000 +
    two(14) * 60_000 +
    two(17) * 1000 +
    two(20) * 10 +
    text.charCodeAt(22) -
    48
  )
}
