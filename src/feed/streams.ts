import { readKeyStatuses } from '../auth/keyStatus.ts'
import { principalOf } from '../auth/principal.ts'
import type { Claims } from '../auth/token.ts'
import type { Database } from '../db/open.ts'
import { allows } from '../domain/scope.ts'
import { CLOSE, type Closing } from '../domain/stream.ts'
import { readLog } from '../events/store.ts'
import {
  acknowledge,
  hasCapacity,
  type LogRange,
  memoizeEventText,
  nextDeadline,
  type Selection,
  type Subscriber,
  selectEvents,
  wantsLocations,
} from './subscriber.ts'

const PAGE_EVENTS = 500
/** A stream that is far behind does not keep the feed from its other work for longer than this. */
const MAX_PAGES_PER_POLL = 20
const KEY_RECHECK_INTERVAL_MS = 10_000

/** Equal for subscribers that are sent the same events. */
const selectionKey = (subscriber: Subscriber): string => {
  const { filter, groupId, readUpTo, unacked, unackedChars, longestChars } = subscriber
  return JSON.stringify([filter, groupId, readUpTo, unacked, unackedChars, longestChars])
}

/** The selection may have been made for another subscriber, so the rest stays as it was. */
const withSelection = (before: Subscriber, { messages, subscriber }: Selection): Subscriber => {
  const { readUpTo, lastSent, unacked, unackedChars, longestChars, unackedSince } = subscriber
  return {
    ...before,
    readUpTo,
    lastSent: messages.length > 0 ? lastSent : before.lastSent,
    unacked,
    unackedChars,
    longestChars,
    unackedSince: before.unackedSince ?? unackedSince,
  }
}

/** The account's open streams. A subscriber is attached to its socket and survives hibernation. */
export class Streams {
  readonly #subscribers = new Map<WebSocket, Subscriber>()
  #keysCheckedAt = 0

  constructor(sockets: WebSocket[]) {
    for (const socket of sockets) {
      const subscriber = socket.deserializeAttachment() as Subscriber | null
      if (subscriber && socket.readyState === WebSocket.OPEN)
        this.#subscribers.set(socket, subscriber)
    }
  }

  get size(): number {
    return this.#subscribers.size
  }

  get hasLocationStreams(): boolean {
    return [...this.#subscribers.values()].some(({ filter }) => wantsLocations(filter))
  }

  /** The earliest deadline of all streams. */
  get nextDeadline(): number | null {
    let earliest = Number.POSITIVE_INFINITY
    for (const subscriber of this.#subscribers.values())
      earliest = Math.min(earliest, nextDeadline(subscriber))
    return earliest === Number.POSITIVE_INFINITY ? null : earliest
  }

  has(socket: WebSocket): boolean {
    return this.#subscribers.has(socket)
  }

  save(socket: WebSocket, subscriber: Subscriber): void {
    this.#subscribers.set(socket, subscriber)
    socket.serializeAttachment(subscriber)
  }

  remove(socket: WebSocket): void {
    this.#subscribers.delete(socket)
  }

  close(socket: WebSocket, why: Closing): void {
    this.remove(socket)
    try {
      socket.close(CLOSE[why].code, CLOSE[why].reason)
    } catch {
      // The client has closed it already.
    }
  }

  closeAll(why: Closing): void {
    for (const socket of [...this.#subscribers.keys()]) this.close(socket, why)
  }

  /** Closes streams whose token has expired or whose acknowledgement is late. */
  closeExpired(now: number): void {
    for (const [socket, subscriber] of this.#subscribers) {
      if (nextDeadline(subscriber) > now) continue
      this.close(socket, subscriber.claims.exp * 1000 <= now ? 'unauthorized' : 'unacknowledged')
    }
  }

  /** True when the subscriber was full and can be sent events again. */
  acknowledge(socket: WebSocket, sequence: number, now: number): boolean {
    const subscriber = this.#subscribers.get(socket)
    if (!subscriber) return false
    const after = acknowledge(subscriber, sequence, now)
    if (!after) {
      this.close(socket, 'badMessage')
      return false
    }
    this.save(socket, after)
    return !hasCapacity(subscriber) && hasCapacity(after)
  }

  /** Continues a stream with a new token. False when the stream is closed already. */
  replaceClaims(socket: WebSocket, claims: Claims, groupId: string | null): boolean {
    const subscriber = this.#subscribers.get(socket)
    if (!subscriber) return false
    this.save(socket, { ...subscriber, claims, groupId })
    return true
  }

  /** Closes or confines streams whose keys have changed. Reads the keys at most every 10 s. */
  async recheckKeys(db: Database, now: number, isForced = false): Promise<void> {
    const isRecent = now - this.#keysCheckedAt < KEY_RECHECK_INTERVAL_MS
    if (this.size === 0 || (isRecent && !isForced)) return
    const keyIds = new Set([...this.#subscribers.values()].map(({ claims }) => claims.keyId))
    const statuses = await readKeyStatuses(db, [...keyIds])
    for (const [socket, subscriber] of this.#subscribers) {
      const { claims, groupId } = subscriber
      // A stream that was opened during the read had its key checked then.
      if (!keyIds.has(claims.keyId)) continue
      const principal = principalOf(claims, statuses.get(claims.keyId) ?? null, now)
      if (!principal) this.close(socket, 'unauthorized')
      else if (!allows(principal.scopes, 'read')) this.close(socket, 'forbidden')
      else if (principal.groupId !== groupId)
        this.save(socket, { ...subscriber, groupId: principal.groupId })
    }
    this.#keysCheckedAt = now
  }

  /** Sends the events up to `upTo` and newer ones. True when some streams are still behind. */
  async sendNewEvents(db: Database, accountId: string, upTo: number): Promise<boolean> {
    let head = upTo
    let hasRevokedKey = false
    let pages = 0
    let positions = this.#readPositions(head)
    while (positions.length > 0 && pages < MAX_PAGES_PER_POLL) {
      for (const from of positions.slice(0, MAX_PAGES_PER_POLL - pages)) {
        const page = await readLog(db, accountId, from, PAGE_EVENTS)
        head = page.head
        const to = page.hasMore ? (page.events.at(-1)?.sequence ?? from) : page.head
        this.#sendRange({ from, to, events: page.events }, Date.now())
        hasRevokedKey ||= page.events.some(({ type }) => type === 'key.revoked')
        pages++
      }
      positions = this.#readPositions(head)
    }
    if (hasRevokedKey) await this.recheckKeys(db, Date.now(), true)
    return positions.length > 0
  }

  /** Where to read on: the position furthest ahead first, so that a slow stream delays no other. */
  #readPositions(head: number): number[] {
    let lowest = Number.POSITIVE_INFINITY
    let highest = -1
    for (const subscriber of this.#subscribers.values()) {
      if (!hasCapacity(subscriber) || subscriber.readUpTo >= head) continue
      lowest = Math.min(lowest, subscriber.readUpTo)
      highest = Math.max(highest, subscriber.readUpTo)
    }
    return highest === -1 ? [] : lowest === highest ? [lowest] : [highest, lowest]
  }

  /** Subscribers in the same state share one selection and its texts. */
  #sendRange(range: LogRange, now: number): void {
    const textOf = memoizeEventText()
    const selections = new Map<string, Selection>()
    for (const [socket, subscriber] of this.#subscribers) {
      const { readUpTo } = subscriber
      if (!hasCapacity(subscriber) || readUpTo < range.from || readUpTo >= range.to) continue
      const key = selectionKey(subscriber)
      const selection = selections.get(key) ?? selectEvents(subscriber, range, textOf, now)
      selections.set(key, selection)
      try {
        for (const message of selection.messages) socket.send(message)
        this.save(socket, withSelection(subscriber, selection))
      } catch {
        this.remove(socket)
      }
    }
  }
}
