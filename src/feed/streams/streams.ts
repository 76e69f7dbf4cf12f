import { readKeyStatuses } from '../../auth/keyStatus.ts'
import { principalOf } from '../../auth/principal.ts'
import type { Claims } from '../../auth/token.ts'
import type { Database } from '../../db/open.ts'
import { allows } from '../../domain/account/scope.ts'
import { CLOSE, type Closing, MAX_TOTAL_UNACKED_BYTES } from '../../domain/event/stream.ts'
import type { Env } from '../../env.ts'
import { readLog } from '../../events/store.ts'
import { closeSocket } from '../../http/socket.ts'
import { makeAck, readAck } from './ack.ts'
import { InFlight } from './inFlight.ts'
import {
  acknowledge,
  advance,
  hasCapacity,
  type LogRange,
  maxUnackedBytes,
  memoizeEventText,
  nextDeadline,
  type Selection,
  type Subscriber,
  selectEvents,
  unackedOf,
  wantsLocations,
} from './subscriber.ts'

const PAGE_EVENTS = 500
/** A stream that is far behind does not keep the feed from its other work for longer than this. */
const MAX_PAGES_PER_POLL = 20
/** With a poll every 20 s, a revoked key closes its streams within 25 s. */
const KEY_RECHECK_INTERVAL_MS = 5_000

/** Equal for subscribers that are sent the same events. */
const selectionKey = (subscriber: Subscriber, maxBytes: number): string => {
  const { filter, groupId, readUpTo } = subscriber
  const { events, bytes } = unackedOf(subscriber)
  return JSON.stringify([filter, groupId, readUpTo, events, bytes, maxBytes])
}

/** The account's open streams. A subscriber is attached to its socket and survives hibernation. */
export class Streams {
  readonly #env: Env
  /** A subscriber is never changed in place: a change replaces it. */
  readonly #subscribers = new Map<WebSocket, Subscriber>()
  readonly #inFlight = new InFlight()
  /** Whether events wait until more is acknowledged. Not known before the first poll. */
  #isBehind = true
  #keysCheckedAt = 0

  constructor(env: Env, sockets: WebSocket[]) {
    this.#env = env
    for (const socket of sockets) {
      const subscriber = socket.deserializeAttachment() as Subscriber | null
      if (!subscriber) continue
      this.#inFlight.set(socket, unackedOf(subscriber).bytes)
      if (socket.readyState === WebSocket.OPEN) this.#subscribers.set(socket, subscriber)
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
    this.#inFlight.set(socket, unackedOf(subscriber).bytes)
    socket.serializeAttachment(subscriber)
  }

  /** Removes a stream whose connection has ended. True when events waited for its capacity. */
  remove(socket: WebSocket): boolean {
    this.#subscribers.delete(socket)
    this.#inFlight.delete(socket)
    return this.#isBehind
  }

  close(socket: WebSocket, why: Closing): void {
    this.#subscribers.delete(socket)
    closeSocket(socket, CLOSE[why])
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

  /**
   * Closes the stream if the ack was not sent on it. True when there is more capacity now, and
   * events waited for it.
   */
  async acknowledge(socket: WebSocket, ack: string, now: number): Promise<boolean> {
    const { id } = this.#subscribers.get(socket) ?? {}
    const progress = id === undefined ? null : await readAck(this.#env, id, ack)
    const subscriber = this.#subscribers.get(socket)
    if (!subscriber) return false
    if (!progress) {
      this.close(socket, 'badMessage')
      return false
    }
    const after = acknowledge(subscriber, progress, now)
    if (after === subscriber) return false
    this.save(socket, after)
    return this.#isBehind
  }

  /** Continues a stream with a new token. False when the stream is closed already. */
  replaceClaims(socket: WebSocket, claims: Claims, groupId: string | null): boolean {
    const subscriber = this.#subscribers.get(socket)
    if (!subscriber) return false
    this.save(socket, { ...subscriber, claims, groupId })
    return true
  }

  /** Closes or confines streams whose keys have changed. Reads the keys at most every 5 s. */
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
        await this.#sendRange({ from, to, events: page.events }, Date.now())
        hasRevokedKey ||= page.events.some(({ type }) => type === 'key.revoked')
        pages++
      }
      positions = this.#readPositions(head)
    }
    // Before the next await: an ack in between must find it.
    this.#isBehind = [...this.#subscribers.values()].some(({ readUpTo }) => readUpTo < head)
    if (hasRevokedKey) await this.recheckKeys(db, Date.now(), true)
    return positions.length > 0
  }

  /** Where to read on: the position furthest ahead first, so that a slow stream delays no other. */
  #readPositions(head: number): number[] {
    const maxBytes = this.#maxUnackedBytes()
    let lowest = Number.POSITIVE_INFINITY
    let highest = -1
    for (const subscriber of this.#subscribers.values()) {
      if (!hasCapacity(subscriber, maxBytes) || subscriber.readUpTo >= head) continue
      lowest = Math.min(lowest, subscriber.readUpTo)
      highest = Math.max(highest, subscriber.readUpTo)
    }
    return highest === -1 ? [] : lowest === highest ? [lowest] : [highest, lowest]
  }

  #maxUnackedBytes(): number {
    return maxUnackedBytes(MAX_TOTAL_UNACKED_BYTES - this.#inFlight.total)
  }

  /** Subscribers in the same state share one selection and its texts. */
  async #sendRange(range: LogRange, now: number): Promise<void> {
    const textOf = memoizeEventText()
    const selections = new Map<string, Selection>()
    for (const [socket, subscriber] of this.#subscribers) {
      const { readUpTo } = subscriber
      const maxBytes = this.#maxUnackedBytes()
      if (!hasCapacity(subscriber, maxBytes) || readUpTo < range.from || readUpTo >= range.to)
        continue
      const key = selectionKey(subscriber, maxBytes)
      const selection = selections.get(key) ?? selectEvents(subscriber, { range, textOf, maxBytes })
      selections.set(key, selection)
      await this.#send(socket, subscriber, selection, now)
    }
  }

  async #send(
    socket: WebSocket,
    subscriber: Subscriber,
    selection: Selection,
    now: number,
  ): Promise<void> {
    const { progress, subscriber: after } = advance(subscriber, selection, now)
    const acks = await Promise.all(progress.map((one) => makeAck(this.#env, subscriber.id, one)))
    // A subscriber that an ack or a token has replaced in between is sent the events later.
    if (this.#subscribers.get(socket) !== subscriber) return
    try {
      for (const [index, { text }] of selection.messages.entries())
        socket.send(`{"type":"events","ack":"${acks[index]}","events":[${text}]}`)
      this.save(socket, after)
    } catch {
      // The connection is gone; its close event follows.
      this.#subscribers.delete(socket)
    }
  }
}
