import type { Claims } from '../auth/token.ts'
import { type EventFilter, isWanted, passes } from '../domain/event.ts'
import { ACK_TIMEOUT_MS, MAX_UNACKED_CHARS, MAX_UNACKED_EVENTS } from '../domain/stream.ts'
import { presentEvent } from '../events/present.ts'
import type { LoggedEvent } from '../events/store.ts'

/** The state of one stream. It is attached to its socket through hibernation, so it stays small. */
export interface Subscriber {
  claims: Claims
  groupId: string | null
  filter: EventFilter
  /** The last event that was read from the log for it, whether the filter passed it or not. */
  readUpTo: number
  /** The last event that it was sent. */
  lastSent: number
  /** The last event that it has acknowledged. */
  acked: number
  /** Upper bound of unacknowledged events: numbers that the filter dropped cannot be counted. */
  unacked: number
  /** Upper bound of the characters of these events. */
  unackedChars: number
  /** The longest event since everything was acknowledged. */
  longestChars: number
  /** Since when an acknowledgement is due. */
  unackedSince: number | null
}

/** A subscriber that has acknowledged everything up to `sequence`. */
export const newSubscriber = (
  claims: Claims,
  groupId: string | null,
  filter: EventFilter,
  sequence: number,
): Subscriber => ({
  claims,
  groupId,
  filter,
  readUpTo: sequence,
  lastSent: sequence,
  acked: sequence,
  unacked: 0,
  unackedChars: 0,
  longestChars: 0,
  unackedSince: null,
})

/** All events of the log after `from` up to and including `to`. */
export interface LogRange {
  from: number
  to: number
  events: LoggedEvent[]
}

const MAX_EVENTS_PER_MESSAGE = 100

export const wantsLocations = ({ types }: EventFilter): boolean =>
  types.length === 0 || isWanted(types, 'location.reported')

/** When the stream must be closed unless a token or an acknowledgement comes. */
export const nextDeadline = ({ claims, unackedSince }: Subscriber): number =>
  Math.min(
    claims.exp * 1000,
    unackedSince === null ? Number.POSITIVE_INFINITY : unackedSince + ACK_TIMEOUT_MS,
  )

export const hasCapacity = ({
  unacked,
  unackedChars,
}: Pick<Subscriber, 'unacked' | 'unackedChars'>): boolean =>
  unacked < MAX_UNACKED_EVENTS && unackedChars < MAX_UNACKED_CHARS

export interface Selection {
  messages: string[]
  /** The subscriber once the messages are sent. */
  subscriber: Subscriber
}

/** The events of a range that the subscriber wants, as many as it has capacity for. */
export const selectEvents = (
  subscriber: Subscriber,
  range: LogRange,
  textOf: (event: LoggedEvent) => string,
  now: number,
): Selection => {
  const wanted = range.events.filter(
    (event) =>
      event.sequence > subscriber.readUpTo && passes(subscriber.filter, subscriber.groupId, event),
  )
  const texts: string[] = []
  let { unacked, unackedChars, longestChars } = subscriber
  for (const event of wanted) {
    if (!hasCapacity({ unacked, unackedChars })) break
    const text = textOf(event)
    texts.push(text)
    unacked++
    unackedChars += text.length
    longestChars = Math.max(longestChars, text.length)
  }
  const last = wanted[texts.length - 1]?.sequence
  const messages: string[] = []
  for (let at = 0; at < texts.length; at += MAX_EVENTS_PER_MESSAGE)
    messages.push(`{"type":"events","events":[${texts.slice(at, at + MAX_EVENTS_PER_MESSAGE)}]}`)
  return {
    messages,
    subscriber: {
      ...subscriber,
      readUpTo: texts.length < wanted.length ? (last ?? subscriber.readUpTo) : range.to,
      lastSent: last ?? subscriber.lastSent,
      unacked,
      unackedChars,
      longestChars,
      unackedSince: subscriber.unackedSince ?? (texts.length > 0 ? now : null),
    },
  }
}

/** Null for an event that was not sent yet. Acknowledging a newer event restarts the timeout. */
export const acknowledge = (
  subscriber: Subscriber,
  sequence: number,
  now: number,
): Subscriber | null => {
  const { lastSent, acked, unacked, unackedChars, longestChars } = subscriber
  if (sequence > lastSent) return null
  if (sequence === lastSent)
    return {
      ...subscriber,
      acked: sequence,
      unacked: 0,
      unackedChars: 0,
      longestChars: 0,
      unackedSince: null,
    }
  if (sequence <= acked) return subscriber
  const remaining = Math.max(1, Math.min(unacked - 1, lastSent - sequence))
  return {
    ...subscriber,
    acked: sequence,
    unacked: remaining,
    unackedChars: Math.min(unackedChars, remaining * longestChars),
    unackedSince: now,
  }
}

/** Serializes each event once, however many subscribers it goes to. */
export const memoizeEventText = (): ((event: LoggedEvent) => string) => {
  const texts = new Map<number, string>()
  return (event) => {
    let text = texts.get(event.sequence)
    if (text === undefined) {
      text = JSON.stringify(presentEvent(event))
      texts.set(event.sequence, text)
    }
    return text
  }
}
