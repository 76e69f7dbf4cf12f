import type { Database } from '../db/open.ts'
import { allows } from '../domain/scope.ts'
import { CLOSE, type Closing } from '../domain/stream.ts'
import { readLog } from '../events/store.ts'
import { principalOf } from '../http/auth.ts'
import type { Standing } from '../http/standing.ts'
import type { Claims } from '../http/token.ts'
import { acknowledge, asksForLocations, dueAt, hasRoom, type Seat, type Stretch, take, textOnce } from './seat.ts'

const PAGE = 500
/** So many pages are read at a time: one stream that is far behind does not keep the feed from all else it has to do. */
const MOST_PAGES = 20

/** The account's open streams. Each seat is kept with its socket, so that both come back from hibernation together. */
export class Streams {
  readonly #seats = new Map<WebSocket, Seat>()

  constructor(sockets: WebSocket[]) {
    for (const socket of sockets) {
      const seat = socket.deserializeAttachment() as Seat | null
      if (seat && socket.readyState === WebSocket.OPEN) this.#seats.set(socket, seat)
    }
  }

  get size(): number {
    return this.#seats.size
  }

  get wantLocations(): boolean {
    return [...this.#seats.values()].some(({ filter }) => asksForLocations(filter))
  }

  get keyIds(): string[] {
    return [...new Set([...this.#seats.values()].map(({ claims }) => claims.keyId))]
  }

  /** When the first of them must be looked at. */
  get due(): number | null {
    let first = Number.POSITIVE_INFINITY
    for (const seat of this.#seats.values()) first = Math.min(first, dueAt(seat))
    return first === Number.POSITIVE_INFINITY ? null : first
  }

  seat(socket: WebSocket, seat: Seat): void {
    this.#seats.set(socket, seat)
    socket.serializeAttachment(seat)
  }

  /**
   * Reads the log for everyone until nobody who may have more is behind, or for as long as the rest can wait. `behind`: someone still
   * is; `revoked`: a key was, maybe one of theirs.
   */
  async serve(db: Database, accountId: string, upTo: number): Promise<{ behind: boolean; revoked: boolean }> {
    let head = upTo
    let revoked = false
    let pages = 0
    for (let positions = this.#positions(head); positions.length > 0; positions = this.#positions(head)) {
      for (const from of positions) {
        if (pages++ === MOST_PAGES) return { behind: true, revoked }
        const page = await readLog(db, accountId, from, PAGE)
        head = page.head
        const to = page.more ? (page.events.at(-1)?.sequence ?? from) : page.head
        this.#hand({ from, to, events: page.events }, Date.now())
        revoked ||= page.events.some(({ type }) => type === 'key.revoked')
      }
    }
    return { behind: false, revoked }
  }

  /** True where the reader has room again for what it was not sent yet. */
  acknowledge(socket: WebSocket, sequence: number, now: number): boolean {
    const seat = this.#seats.get(socket)
    if (!seat) return false
    const after = acknowledge(seat, sequence, now)
    if (!after) {
      this.close(socket, 'badMessage')
      return false
    }
    this.seat(socket, after)
    return !hasRoom(seat) && hasRoom(after)
  }

  /** A fresh token of the same account: the stream goes on with it, if it is still there. */
  renew(socket: WebSocket, claims: Claims, groupId: string | null): boolean {
    const seat = this.#seats.get(socket)
    if (!seat) return false
    this.seat(socket, { ...seat, claims, groupId })
    return true
  }

  /** Closes what has come to its end: tokens that ran out, acknowledgements that did not come. */
  expire(now: number): void {
    for (const [socket, seat] of this.#seats) {
      if (dueAt(seat) > now) continue
      this.close(socket, seat.claims.exp * 1000 <= now ? 'unauthorized' : 'unacknowledged')
    }
  }

  /** Holds every stream against how its key stands now. */
  recheck(standings: Map<string, Standing>, now: number): void {
    for (const [socket, seat] of this.#seats) {
      const principal = principalOf(seat.claims, standings.get(seat.claims.keyId) ?? null, now)
      if (!principal) this.close(socket, 'unauthorized')
      else if (!allows(principal.scopes, 'read')) this.close(socket, 'forbidden')
      else if (principal.groupId !== seat.groupId) this.seat(socket, { ...seat, groupId: principal.groupId })
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
    for (const socket of [...this.#seats.keys()]) this.close(socket, why)
  }

  has(socket: WebSocket): boolean {
    return this.#seats.has(socket)
  }

  leave(socket: WebSocket): void {
    this.#seats.delete(socket)
  }

  /** Where those who may have more and are behind stand: the furthest on first, so that one far back delays nobody. */
  #positions(head: number): number[] {
    let low = Number.POSITIVE_INFINITY
    let high = -1
    for (const seat of this.#seats.values()) {
      if (!hasRoom(seat) || seat.sent >= head) continue
      low = Math.min(low, seat.sent)
      high = Math.max(high, seat.sent)
    }
    return high === -1 ? [] : low === high ? [low] : [high, low]
  }

  /** Those who stand alike are sent the very same texts, made once. */
  #hand(stretch: Stretch, now: number): void {
    const textOf = textOnce()
    const alike = new Map<string, ReturnType<typeof take>>()
    for (const [socket, seat] of this.#seats) {
      if (!hasRoom(seat) || seat.sent < stretch.from || seat.sent >= stretch.to) continue
      const key = JSON.stringify([seat.filter, seat.groupId, seat.sent, seat.owed, seat.owedSize, seat.largest])
      const taken = alike.get(key) ?? take(seat, stretch, textOf, now)
      alike.set(key, taken)
      try {
        for (const message of taken.messages) socket.send(message)
        const { sent, owed, owedSize, largest } = taken.seat
        // They stand alike in what is to come, not in what they were sent last.
        const last = taken.messages.length > 0 ? taken.seat.last : seat.last
        this.seat(socket, { ...seat, sent, last, owed, owedSize, largest, owedSince: seat.owedSince ?? taken.seat.owedSince })
      } catch {
        this.leave(socket)
      }
    }
  }
}
