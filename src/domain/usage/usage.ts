import type { Channel } from '../message/alert.ts'
import { addDays, type Day, dayStart, daysBetween, localDay } from '../time/day.ts'
import { type DaySpan, daysOf } from './licenseDays.ts'

/* What an account has used, for its invoice. */

/** YYYY-MM. */
export type Month = string

export const monthOf = (day: Day): Month => day.slice(0, 7)

export const MONTH = /^[1-9]\d{3}-(0[1-9]|1[0-2])$/

export const nextMonth = (month: Month): Month => monthOf(addDays(`${month}-01`, 31))

export const daysOfMonth = (month: Month): DaySpan => ({
  from: `${month}-01`,
  to: addDays(`${nextMonth(month)}-01`, -1),
})

/** Where days end last. An account has the months that were not over there when it was opened. */
const LAST_ZONE = 'Etc/GMT+12'

export const firstMonth = (creation: number): Month => monthOf(localDay(creation, LAST_ZONE))

/** When a month is over in every time zone. */
export const endOfMonth = (month: Month): number => dayStart(`${nextMonth(month)}-01`, LAST_ZONE)

export const monthsOf = ({ from, to }: DaySpan): Month[] => [
  ...new Set(daysOf({ from, to }).map(monthOf)),
]

/** Counted in the ledger, in the decision itself. Everything else isolates count by themselves. */
export const EXACT_MEMBERS = ['licenseDays', 'messages'] as const
export type ExactMember = (typeof EXACT_MEMBERS)[number]

/** Messages that a provider has accepted on a day. */
export interface MessageUsage {
  day: Day
  channel: Channel
  provider: string
  messages: number
  /** Of SMS; of other channels as many as messages. */
  segments: number
}

/** The usage of consecutive days. The lists have a number for each of them. */
export interface UsageDays {
  from: Day
  timeZone: string
  /** The most that were in use at the same time. */
  licenses: number[]
  locations: number[]
  requests: number[]
  /** At the end of the day. */
  storageBytes: number[]
  messages: MessageUsage[]
  exact: ExactMember[]
}

/** What the cell has counted on a day. */
export interface CountedDay {
  day: Day
  locations: number
  requests: number
  storageBytes: number
}

/** A number for each day of a span. A day without a row has the storage of the day before. */
export const spreadCounts = (
  rows: readonly CountedDay[],
  span: DaySpan,
): Pick<UsageDays, 'locations' | 'requests' | 'storageBytes'> => {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  const earlier = rows.filter(({ day }) => day < span.from)
  let stored = earlier.reduce((last, row) => (row.day > last.day ? row : last), {
    day: '',
    storageBytes: 0,
  }).storageBytes
  const found = daysOf(span).map((day) => {
    const row = byDay.get(day)
    stored = row?.storageBytes ?? stored
    return { locations: row?.locations ?? 0, requests: row?.requests ?? 0, storageBytes: stored }
  })
  return {
    locations: found.map(({ locations }) => locations),
    requests: found.map(({ requests }) => requests),
    storageBytes: found.map(({ storageBytes }) => storageBytes),
  }
}

type ProviderUsage = Omit<MessageUsage, 'day'>

export interface UsageTotals {
  licenseDays: number
  locations: number
  messages: { email: number; sms: number; smsSegments: number; push: number; voice: number }
  providers: ProviderUsage[]
  /** The mean of the days. */
  storageBytes: number
  requests: number
  exact: ExactMember[]
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0)

const sumByProvider = (messages: MessageUsage[]): ProviderUsage[] => {
  const groups = Map.groupBy(messages, ({ channel, provider }) => `${channel} ${provider}`)
  return [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, [first, ...more]]) => {
      if (!first) return []
      const { day, ...usage } = first
      usage.messages += sum(more.map(({ messages }) => messages))
      usage.segments += sum(more.map(({ segments }) => segments))
      return [usage]
    })
}

/** Adds up the days of a span that the parts have. */
export const sumUsage = (parts: readonly UsageDays[], { from, to }: DaySpan): UsageTotals => {
  const pick = (member: 'licenses' | 'locations' | 'requests' | 'storageBytes') =>
    parts.flatMap((part) => {
      const skipped = Math.max(0, daysBetween(part.from, from))
      return part[member].slice(skipped, Math.max(0, daysBetween(part.from, to) + 1))
    })
  const sent = parts
    .flatMap(({ messages }) => messages)
    .filter(({ day }) => day >= from && day <= to)
  const providers = sumByProvider(sent)
  const countOf = (wanted: Channel, member: 'messages' | 'segments' = 'messages') =>
    sum(providers.filter(({ channel }) => channel === wanted).map((usage) => usage[member]))
  const stored = pick('storageBytes')
  return {
    licenseDays: sum(pick('licenses')),
    locations: sum(pick('locations')),
    messages: {
      email: countOf('Email'),
      sms: countOf('SMS'),
      smsSegments: countOf('SMS', 'segments'),
      push: countOf('Push'),
      voice: countOf('Voice'),
    },
    providers,
    storageBytes: stored.length === 0 ? 0 : Math.round(sum(stored) / stored.length),
    requests: sum(pick('requests')),
    exact: EXACT_MEMBERS.filter((member) => parts.every(({ exact }) => exact.includes(member))),
  }
}

/** A month is closed when it has been over for so long, so that late counts are in it. */
const CLOSED_AFTER_DAYS = 2
const DAY_MS = 86_400_000

/** The last month that is over for two days in every time zone. */
export const lastClosedMonth = (now: number): Month => {
  const day = new Date(now - (CLOSED_AFTER_DAYS + 0.5) * DAY_MS).toISOString().slice(0, 10)
  return monthOf(addDays(`${monthOf(day)}-01`, -1))
}
