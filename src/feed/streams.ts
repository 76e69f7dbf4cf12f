import type { KeyStatus } from '../auth/keyStatus.ts'
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
  type Subscriber,
  selectEvents,
  wantsLocations,
} from './subscriber.ts'

const PAGE = 500
/** So many pages are read at a time: one stream that is far behind does not keep the feed from all else it has to do. */
const MAX_PAGES = 20

/** The account's open streams. Each subscriber is kept with its socket, so that both come back from hibernation together. */
export class Streams {
  readonly #subscribers = new Map<WebSocket, Subscriber>()

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

  get wantLocations(): boolean {
    return [...this.#subscribers.values()].some(({ filter }) => wantsLocations(filter))
  }

  get keyIds(): string[] {
    return [...new Set([...this.#subscribers.values()].map(({ claims }) => claims.keyId))]
  }

  /** When the first of them must be looked at. */
  get due(): number | null {
    let first = Number.POSITIVE_INFINITY
    for (const subscriber of this.#subscribers.values())
      first = Math.min(first, nextDeadline(subscriber))
    return first === Number.POSITIVE_INFINITY ? null : first
  }

  save(socket: WebSocket, subscriber: Subscriber): void {
    this.#subscribers.set(socket, subscriber)
    socket.serializeAttachment(subscriber)
  }

  /**
   * Reads the log for everyone until nobody who may have more is behind, or for as long as the rest can wait. `behind`: someone still
   * is; `revoked`: a key was, maybe one of theirs.
   */
  async serve(
    db: Database,
    accountId: string,
    upTo: number,
  ): Promise<{ behind: boolean; revoked: boolean }> {
    let head = upTo
    let revoked = false
    let pages = 0
    for (
      let positions = this.#positions(head);
      positions.length > 0;
      positions = this.#positions(head)
    ) {
      for (const from of positions) {
        if (pages++ === MAX_PAGES) return { behind: true, revoked }
        const page = await readLog(db, accountId, from, PAGE)
        head = page.head
        const to = page.hasMore ? (page.events.at(-1)?.sequence ?? from) : page.head
        this.#hand({ from, to, events: page.events }, Date.now())
        revoked ||= page.events.some(({ type }) => type === 'key.revoked')
      }
    }
    return { behind: false, revoked }
  }

  /** True where the reader has room again for what it was not sent yet. */
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

  /** A fresh token of the same account: the stream goes on with it, if it is still there. */
  renew(socket: WebSocket, claims: Claims, groupId: string | null): boolean {
    const subscriber = this.#subscribers.get(socket)
    if (!subscriber) return false
    this.save(socket, { ...subscriber, claims, groupId })
    return true
  }

  /** Closes what has come to its end: tokens that ran out, acknowledgements that did not come. */
  expire(now: number): void {
    for (const [socket, subscriber] of this.#subscribers) {
      if (nextDeadline(subscriber) > now) continue
      this.close(socket, subscriber.claims.exp * 1000 <= now ? 'unauthorized' : 'unacknowledged')
    }
  }

  /** Holds every stream against how its key stands now. */
  recheck(standings: Map<string, KeyStatus>, now: number): void {
    for (const [socket, subscriber] of this.#subscribers) {
      const principal = principalOf(
        subscriber.claims,
        standings.get(subscriber.claims.keyId) ?? null,
        now,
      )
      if (!principal) this.close(socket, 'unauthorized')
      else if (!allows(principal.scopes, 'read')) this.close(socket, 'forbidden')
      else if (principal.groupId !== subscriber.groupId)
        this.save(socket, { ...subscriber, groupId: principal.groupId })
    }
  }

  close(socket: WebSocket, why: Closing): void {
    this.leave(socket)
    try {
      socket.close(CLOSE[why].code, CLOSE[why].reason)
    } catch {
      // It was closed from the other side already.
    }
  }

  closeAll(why: Closing): void {
    for (const socket of [...this.#subscribers.keys()]) this.close(socket, why)
  }

  has(socket: WebSocket): boolean {
    return this.#subscribers.has(socket)
  }

  leave(socket: WebSocket): void {
    this.#subscribers.delete(socket)
  }

  /** Where those who may have more and are behind stand: the furthest on first, so that one far back delays nobody. */
  #positions(head: number): number[] {
    let low = Number.POSITIVE_INFINITY
    let high = -1
    for (const subscriber of this.#subscribers.values()) {
      if (!hasCapacity(subscriber) || subscriber.readUpTo >= head) continue
      low = Math.min(low, subscriber.readUpTo)
      high = Math.max(high, subscriber.readUpTo)
    }
    return high === -1 ? [] : low === high ? [low] : [high, low]
  }

  /** Those who stand alike are sent the very same texts, made once. */
  #hand(stretch: LogRange, now: number): void {
    const textOf = memoizeEventText()
    const alike = new Map<string, ReturnType<typeof selectEvents>>()
    for (const [socket, subscriber] of this.#subscribers) {
      if (
        !hasCapacity(subscriber) ||
        subscriber.readUpTo < stretch.from ||
        subscriber.readUpTo >= stretch.to
      )
        continue
      const key = JSON.stringify([
        subscriber.filter,
        subscriber.groupId,
        subscriber.readUpTo,
        subscriber.unacked,
        subscriber.unackedSize,
        subscriber.largest,
      ])
      const taken = alike.get(key) ?? selectEvents(subscriber, stretch, textOf, now)
      alike.set(key, taken)
      try {
        for (const message of taken.messages) socket.send(message)
        const { readUpTo, unacked, unackedSize, largest } = taken.subscriber
        // They stand alike in what is to come, not in what they were sent last.
        const lastSent = taken.messages.length > 0 ? taken.subscriber.lastSent : subscriber.lastSent
        this.save(socket, {
          ...subscriber,
          readUpTo,
          lastSent,
          unacked,
          unackedSize,
          largest,
          unackedSince: subscriber.unackedSince ?? taken.subscriber.unackedSince,
        })
      } catch {
        this.leave(socket)
      }
    }
  }
}
