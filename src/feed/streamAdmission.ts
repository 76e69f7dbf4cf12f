import { readPrincipal } from '../auth/principal.ts'
import { openCell } from '../db/open.ts'
import { iso } from '../domain/iso.ts'
import { allows } from '../domain/scope.ts'
import type { Closing } from '../domain/stream.ts'
import type { Env } from '../env.ts'
import { logFailure } from '../log.ts'
import { ensureFeedState } from './feedState.ts'
import { acquireLease, renewLease } from './listenerLease.ts'
import type { Streams } from './streams.ts'
import type { StreamRequest } from './stub.ts'
import { newSubscriber, wantsLocations } from './subscriber.ts'

const MAX_STREAMS = 5000

/** Streams on their way in, and the marks of those that are: one does not undo the other. */
export class StreamAdmission {
  readonly #state: DurableObjectState
  readonly #env: Env
  readonly #streams: Streams
  #arriving = 0
  #keeping: Promise<void> = Promise.resolve()

  constructor(state: DurableObjectState, env: Env, streams: Streams) {
    this.#state = state
    this.#env = env
    this.#streams = streams
  }

  /** Null for one that has its subscriber, else why it has none. */
  async admit(request: StreamRequest, socket: WebSocket): Promise<Closing | null> {
    this.#arriving++
    try {
      return await this.#subscribe(request, socket)
    } catch (error) {
      logFailure('stream-failed', error)
      return 'unavailable'
    } finally {
      this.#arriving--
    }
  }

  /** While someone is on the way in, the marks stay as they are. */
  async renewLease(db: D1Database, now: number): Promise<void> {
    if (this.#arriving > 0) return
    const kept = renewLease(this.#state.storage.sql, db, this.#streams, now)
    this.#keeping = kept.catch(() => {})
    await kept
  }

  /**
   * Its place in the log is taken once the cell knows that it is there: nothing happens unheard in between. Its key is read after
   * that, so that the end of the key is either known here or in the log from there on.
   */
  async #subscribe(request: StreamRequest, socket: WebSocket): Promise<Closing | null> {
    if (this.#streams.size + this.#arriving > MAX_STREAMS) return 'tooMany'
    await this.#keeping
    const { claims, filter, after } = request
    const { sql } = this.#state.storage
    const now = Date.now()
    const known = ensureFeedState(sql, request, now)
    const db = openCell(this.#env, known.cell)
    const opening = {
      size: this.#streams.size + 1,
      wantLocations: this.#streams.wantLocations || wantsLocations(filter),
    }
    const { head, oldest } = await acquireLease(sql, db.$client, known, opening, now)
    if (after !== null && after > head) return 'badMessage'
    const principal = await readPrincipal(db, claims, now)
    if (!principal) return 'unauthorized'
    if (!allows(principal.scopes, 'read')) return 'forbidden'
    const sent = after ?? head
    this.#state.acceptWebSocket(socket)
    this.#streams.save(socket, newSubscriber(claims, principal.groupId, filter, sent))
    const expires = iso(claims.exp * 1000)
    socket.send(
      JSON.stringify({
        type: 'ready',
        sequence: sent,
        lastSequence: head,
        oldestSequence: oldest,
        expires,
      }),
    )
    return null
  }
}
