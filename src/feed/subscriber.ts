import type { Claims } from '../auth/token.ts'
import { type EventFilter, isWanted, passes } from '../domain/event.ts'
import { ACKNOWLEDGE_WITHIN, WINDOW, WINDOW_SIZE } from '../domain/stream.ts'
import { presentEvent } from '../events/present.ts'
import type { LoggedEvent } from '../events/store.ts'

/** One reader of the stream. It goes with its socket through hibernation, so it is small and plain. */
export interface Subscriber {
  claims: Claims
  groupId: string | null
  filter: EventFilter
  /** The log has been read for it up to here. */
  readUpTo: number
  /** The last event that it was sent. */
  lastSent: number
  /** The last event that it has acknowledged. */
  acked: number
  /** How many it has not acknowledged, or more: numbers that it skips are not known one by one. */
  unacked: number
  /** How much that is in characters, or more, and the largest of them since it owed nothing. */
  unackedSize: number
  largest: number
  /** Since when it owes an acknowledgement. */
  unackedSince: number | null
}

/** One that has just come in: it owes nothing, and has been sent everything up to `sent`. */
export const newSubscriber = (
  claims: Claims,
  groupId: string | null,
  filter: EventFilter,
  sent: number,
): Subscriber => ({
  claims,
  groupId,
  filter,
  readUpTo: sent,
  lastSent: sent,
  acked: sent,
  unacked: 0,
  unackedSize: 0,
  largest: 0,
  unackedSince: null,
})

/** A stretch of the log that was read at once: everything after `from` up to `to`. */
export interface LogRange {
  from: number
  to: number
  events: LoggedEvent[]
}

const MAX_EVENTS_PER_MESSAGE = 100

export const wantsLocations = ({ types }: EventFilter): boolean =>
  types.length === 0 || isWanted(types, 'location.reported')

/** When it must be looked at: its token ends, or its acknowledgement is late. */
export const nextDeadline = ({ claims, unackedSince }: Subscriber): number =>
  Math.min(
    claims.exp * 1000,
    unackedSince === null ? Number.POSITIVE_INFINITY : unackedSince + ACKNOWLEDGE_WITHIN,
  )

export const hasCapacity = ({
  unacked,
  unackedSize,
}: Pick<Subscriber, 'unacked' | 'unackedSize'>): boolean =>
  unacked < WINDOW && unackedSize < WINDOW_SIZE

/** What of a stretch goes to a reader: the messages, and how it stands once they are sent. */
export const selectEvents = (
  subscriber: Subscriber,
  stretch: LogRange,
  textOf: (event: LoggedEvent) => string,
  now: number,
): { messages: string[]; subscriber: Subscriber } => {
  const wanted = stretch.events.filter(
    (event) =>
      event.sequence > subscriber.readUpTo && passes(subscriber.filter, subscriber.groupId, event),
  )
  const chosen: string[] = []
  let { unacked, unackedSize, largest } = subscriber
  for (const event of wanted) {
    if (!hasCapacity({ unacked, unackedSize })) break
    const text = textOf(event)
    chosen.push(text)
    unacked++
    unackedSize += text.length
    largest = Math.max(largest, text.length)
  }
  const last = wanted[chosen.length - 1]?.sequence
  const messages: string[] = []
  for (let at = 0; at < chosen.length; at += MAX_EVENTS_PER_MESSAGE)
    messages.push(`{"type":"events","events":[${chosen.slice(at, at + MAX_EVENTS_PER_MESSAGE)}]}`)
  return {
    messages,
    subscriber: {
      ...subscriber,
      readUpTo: chosen.length < wanted.length ? (last ?? subscriber.readUpTo) : stretch.to,
      lastSent: last ?? subscriber.lastSent,
      unacked,
      unackedSize,
      largest,
      unackedSince: subscriber.unackedSince ?? (chosen.length > 0 ? now : null),
    },
  }
}

/** A step forward starts the clock anew; what was not sent cannot be acknowledged. */
export const acknowledge = (
  subscriber: Subscriber,
  sequence: number,
  now: number,
): Subscriber | null => {
  const { lastSent, acked, unacked, unackedSize, largest } = subscriber
  if (sequence > lastSent) return null
  if (sequence === lastSent)
    return {
      ...subscriber,
      acked: sequence,
      unacked: 0,
      unackedSize: 0,
      largest: 0,
      unackedSince: null,
    }
  if (sequence <= acked) return subscriber
  const left = Math.max(1, Math.min(unacked - 1, lastSent - sequence))
  return {
    ...subscriber,
    acked: sequence,
    unacked: left,
    unackedSize: Math.min(unackedSize, left * largest),
    unackedSince: now,
  }
}

/** The text of an event, made once however many hear of it. */
export const memoizeEventText = (): ((event: LoggedEvent) => string) => {
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
