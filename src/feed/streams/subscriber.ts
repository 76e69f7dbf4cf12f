import type { Claims } from '../../auth/token.ts'
import { type EventFilter, isWanted, passes } from '../../domain/event/event.ts'
import { ACK_TIMEOUT_MS, MAX_UNACKED_BYTES, MAX_UNACKED_EVENTS } from '../../domain/event/stream.ts'
import { presentEvent } from '../../events/present.ts'
import type { LoggedEvent } from '../../events/store.ts'
import type { Progress } from './ack.ts'

/** The state of one stream. It is attached to its socket through hibernation, so it stays small. */
export interface Subscriber {
  /** Makes the acks of this stream differ from those of all others. */
  id: string
  claims: Claims
  groupId: string | null
  filter: EventFilter
  /** The last event that was read from the log for it, whether the filter passed it or not. */
  readUpTo: number
  sent: Progress
  acked: Progress
  /** Since when an acknowledgement is due. */
  unackedSince: number | null
}

/** A subscriber that has read everything up to `sequence`. */
export const newSubscriber = (
  claims: Claims,
  groupId: string | null,
  filter: EventFilter,
  sequence: number,
): Subscriber => ({
  id: crypto.randomUUID(),
  claims,
  groupId,
  filter,
  readUpTo: sequence,
  sent: { events: 0, bytes: 0 },
  acked: { events: 0, bytes: 0 },
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

/** What has been sent to a subscriber and is not acknowledged yet. */
export const unackedOf = ({ sent, acked }: Pick<Subscriber, 'sent' | 'acked'>): Progress => ({
  events: sent.events - acked.events,
  bytes: sent.bytes - acked.bytes,
})

/**
 * How many unacknowledged bytes a subscriber may have while `freeBytes` are left for all streams:
 * at most half of them, so that a few slow streams leave something to the others. Halved in steps,
 * so that many subscribers have the same limit and share their selections.
 */
export const maxUnackedBytes = (freeBytes: number): number => {
  if (freeBytes <= 0) return 0
  let maxBytes = MAX_UNACKED_BYTES
  while (maxBytes > freeBytes / 2) maxBytes /= 2
  return maxBytes
}

const isBelow = ({ events, bytes }: Progress, maxBytes: number): boolean =>
  events < MAX_UNACKED_EVENTS && bytes < maxBytes

export const hasCapacity = (subscriber: Subscriber, maxBytes: number): boolean =>
  isBelow(unackedOf(subscriber), maxBytes)

export interface EventText {
  text: string
  bytes: number
}

/** The events that go to a subscriber. */
export interface Selection {
  /** The events of each message, separated by commas, and how much they are. */
  messages: (EventText & Progress)[]
  /** The subscriber's position once they are sent. */
  readUpTo: number
}

export interface SelectionRequest {
  range: LogRange
  textOf: (event: LoggedEvent) => EventText
  maxBytes: number
}

/** The events of a range that the subscriber wants, as many as it has capacity for. */
export const selectEvents = (
  subscriber: Subscriber,
  { range, textOf, maxBytes }: SelectionRequest,
): Selection => {
  const wanted = range.events.filter(
    (event) =>
      event.sequence > subscriber.readUpTo && passes(subscriber.filter, subscriber.groupId, event),
  )
  const texts: EventText[] = []
  const unacked = unackedOf(subscriber)
  for (const event of wanted) {
    if (!isBelow(unacked, maxBytes)) break
    const made = textOf(event)
    texts.push(made)
    unacked.events++
    unacked.bytes += made.bytes
  }
  const messages: Selection['messages'] = []
  for (let at = 0; at < texts.length; at += MAX_EVENTS_PER_MESSAGE) {
    const part = texts.slice(at, at + MAX_EVENTS_PER_MESSAGE)
    const bytes = part.reduce((sum, one) => sum + one.bytes, 0)
    messages.push({ text: part.map(({ text }) => text).join(), events: part.length, bytes })
  }
  const last = wanted[texts.length - 1]?.sequence ?? subscriber.readUpTo
  return { messages, readUpTo: texts.length < wanted.length ? last : range.to }
}

/** The subscriber once a selection is sent, and its progress with each message. */
export const advance = (
  subscriber: Subscriber,
  { messages, readUpTo }: Selection,
  now: number,
): { progress: Progress[]; subscriber: Subscriber } => {
  let { sent } = subscriber
  const progress = messages.map(({ events, bytes }) => {
    sent = { events: sent.events + events, bytes: sent.bytes + bytes }
    return sent
  })
  const unackedSince = subscriber.unackedSince ?? (messages.length > 0 ? now : null)
  return { progress, subscriber: { ...subscriber, readUpTo, sent, unackedSince } }
}

/**
 * Acknowledges all messages up to this progress and restarts the timeout. A progress that is not
 * newer than the last changes nothing.
 */
export const acknowledge = (subscriber: Subscriber, acked: Progress, now: number): Subscriber => {
  if (acked.events <= subscriber.acked.events) return subscriber
  const isComplete = acked.events === subscriber.sent.events
  return { ...subscriber, acked, unackedSince: isComplete ? null : now }
}

/** Serializes each event once, however many subscribers it goes to. */
export const memoizeEventText = (): ((event: LoggedEvent) => EventText) => {
  const texts = new Map<number, EventText>()
  const encoder = new TextEncoder()
  return (event) => {
    const known = texts.get(event.sequence)
    if (known) return known
    const text = JSON.stringify(presentEvent(event))
    const made = { text, bytes: encoder.encode(text).byteLength }
    texts.set(event.sequence, made)
    return made
  }
}
