import { type EventFilter, isWanted, passes } from '../domain/event.ts'
import { ACKNOWLEDGE_WITHIN, WINDOW, WINDOW_SIZE } from '../domain/stream.ts'
import { presentEvent } from '../events/present.ts'
import type { LoggedEvent } from '../events/store.ts'
import type { Claims } from '../http/token.ts'

/** One reader of the stream. It goes with its socket through hibernation, so it is small and plain. */
export interface Seat {
  claims: Claims
  groupId: string | null
  filter: EventFilter
  /** The log has been read for it up to here. */
  sent: number
  /** The last event that it was sent. */
  last: number
  /** The last event that it has acknowledged. */
  acked: number
  /** How many it has not acknowledged, or more: numbers that it skips are not known one by one. */
  owed: number
  /** How much that is in characters, or more, and the largest of them since it owed nothing. */
  owedSize: number
  largest: number
  /** Since when it owes an acknowledgement. */
  owedSince: number | null
}

/** One that has just come in: it owes nothing, and has been sent everything up to `sent`. */
export const newSeat = (claims: Claims, groupId: string | null, filter: EventFilter, sent: number): Seat => ({
  claims,
  groupId,
  filter,
  sent,
  last: sent,
  acked: sent,
  owed: 0,
  owedSize: 0,
  largest: 0,
  owedSince: null,
})

/** A stretch of the log that was read at once: everything after `from` up to `to`. */
export interface Stretch {
  from: number
  to: number
  events: LoggedEvent[]
}

const MOST_IN_MESSAGE = 100

export const asksForLocations = ({ types }: EventFilter): boolean => types.length === 0 || isWanted(types, 'location.reported')

/** When it must be looked at: its token ends, or its acknowledgement is late. */
export const dueAt = ({ claims, owedSince }: Seat): number =>
  Math.min(claims.exp * 1000, owedSince === null ? Number.POSITIVE_INFINITY : owedSince + ACKNOWLEDGE_WITHIN)

export const hasRoom = ({ owed, owedSize }: Pick<Seat, 'owed' | 'owedSize'>): boolean => owed < WINDOW && owedSize < WINDOW_SIZE

/** What of a stretch goes to a reader: the messages, and how it stands once they are sent. */
export const take = (
  seat: Seat,
  stretch: Stretch,
  textOf: (event: LoggedEvent) => string,
  now: number,
): { messages: string[]; seat: Seat } => {
  const wanted = stretch.events.filter((event) => event.sequence > seat.sent && passes(seat.filter, seat.groupId, event))
  const chosen: string[] = []
  let { owed, owedSize, largest } = seat
  for (const event of wanted) {
    if (!hasRoom({ owed, owedSize })) break
    const text = textOf(event)
    chosen.push(text)
    owed++
    owedSize += text.length
    largest = Math.max(largest, text.length)
  }
  const last = wanted[chosen.length - 1]?.sequence
  const messages: string[] = []
  for (let at = 0; at < chosen.length; at += MOST_IN_MESSAGE)
    messages.push(`{"type":"events","events":[${chosen.slice(at, at + MOST_IN_MESSAGE)}]}`)
  return {
    messages,
    seat: {
      ...seat,
      sent: chosen.length < wanted.length ? (last ?? seat.sent) : stretch.to,
      last: last ?? seat.last,
      owed,
      owedSize,
      largest,
      owedSince: seat.owedSince ?? (chosen.length > 0 ? now : null),
    },
  }
}

/** A step forward starts the clock anew; what was not sent cannot be acknowledged. */
export const acknowledge = (seat: Seat, sequence: number, now: number): Seat | null => {
  const { last, acked, owed, owedSize, largest } = seat
  if (sequence > last) return null
  if (sequence === last) return { ...seat, acked: sequence, owed: 0, owedSize: 0, largest: 0, owedSince: null }
  if (sequence <= acked) return seat
  const left = Math.max(1, Math.min(owed - 1, last - sequence))
  return { ...seat, acked: sequence, owed: left, owedSize: Math.min(owedSize, left * largest), owedSince: now }
}

/** The text of an event, made once however many hear of it. */
export const textOnce = (): ((event: LoggedEvent) => string) => {
  const made = new Map<number, string>()
  return (event) => {
    let text = made.get(event.sequence)
    if (text === undefined) {
      text = JSON.stringify(presentEvent(event))
      made.set(event.sequence, text)
    }
    return text
  }
}
