import { authenticate, readPrincipal } from '../../auth/principal.ts'
import { tryCountRequest } from '../../auth/requestLimit.ts'
import { type Database, openCell } from '../../db/open.ts'
import { allows } from '../../domain/account/scope.ts'
import type { Closing } from '../../domain/event/stream.ts'
import { iso } from '../../domain/time/iso.ts'
import type { Env } from '../../env.ts'
import { logFailure } from '../../log.ts'
import { ensureFeedState, readFeedState } from '../feedState.ts'
import { acquireLease, renewLease } from '../listenerLease.ts'
import { isSandboxFeed } from '../sandbox.ts'
import type { StreamRequest } from '../stub.ts'
import type { Streams } from './streams.ts'
import { newSubscriber, wantsLocations } from './subscriber.ts'

const MAX_STREAMS = 5000

/** Opens streams. Opening one and renewing the listener lease do not overwrite each other. */
export class StreamAdmission {
  readonly #state: DurableObjectState
  readonly #sql: SqlStorage
  readonly #env: Env
  readonly #streams: Streams
  /** Streams that are being opened. */
  #opening = 0
  #leaseRenewal: Promise<void> = Promise.resolve()

  constructor(state: DurableObjectState, env: Env, streams: Streams) {
    this.#state = state
    this.#sql = state.storage.sql
    this.#env = env
    this.#streams = streams
  }

  /** Null when the stream is open, else why it must be closed. */
  async admit(request: StreamRequest, socket: WebSocket): Promise<Closing | null> {
    this.#opening++
    try {
      return await this.#open(request, socket)
    } catch (error) {
      logFailure('stream-failed', error)
      return 'unavailable'
    } finally {
      this.#opening--
    }
  }

  /** The lease is not renewed while a stream opens: it would be shortened to what is open now. */
  async renewLease(db: Database, now: number): Promise<void> {
    if (this.#opening > 0) return
    const renewal = renewLease(this.#sql, db, this.#streams, now)
    this.#leaseRenewal = renewal.catch(() => {})
    await renewal
  }

  /** Continues a stream with a new token of the same account. Null, or why it must be closed. */
  async renewToken(socket: WebSocket, token: string): Promise<Closing | null> {
    const now = Date.now()
    const authenticated = await authenticate(this.#env, token, now)
    const { accountId } = readFeedState(this.#sql) ?? {}
    if (typeof authenticated === 'string' || authenticated.claims.accountId !== accountId)
      return 'unauthorized'
    const { claims, db } = authenticated
    if (!tryCountRequest({ env: this.#env, executionCtx: this.#state }, accountId, now))
      return 'tooManyRequests'
    const principal = await readPrincipal(db, claims, now)
    if (!principal || !this.#streams.replaceClaims(socket, claims, principal.groupId))
      return 'unauthorized'
    if (!allows(principal.scopes, 'read')) return 'forbidden'
    socket.send(JSON.stringify({ type: 'token', expires: iso(claims.exp * 1000) }))
    return null
  }

  /**
   * Acquires the lease before taking the position in the log, so that no event in between is
   * missed. Reads the key after that: a later revocation is in the log from there on.
   */
  async #open(request: StreamRequest, socket: WebSocket): Promise<Closing | null> {
    if (this.#streams.size + this.#opening > MAX_STREAMS) return 'tooMany'
    await this.#leaseRenewal
    const { claims, filter, after } = request
    const now = Date.now()
    const state = ensureFeedState(this.#sql, request, now)
    const db = openCell(this.#env, state.cell)
    const streams = {
      size: this.#streams.size + 1,
      hasLocationStreams: this.#streams.hasLocationStreams || wantsLocations(filter),
    }
    const { head, oldest } = await acquireLease(this.#sql, db, { state, streams, now })
    if (after !== null && after > head) return 'badMessage'
    const { storage } = this.#state
    const isSandbox = await isSandboxFeed({ env: this.#env, storage, owner: state })
    const principal = await readPrincipal(db, claims, now)
    if (!principal) return 'unauthorized'
    if (!allows(principal.scopes, 'read')) return 'forbidden'
    const sequence = after ?? head
    this.#state.acceptWebSocket(socket)
    this.#streams.save(socket, newSubscriber(claims, principal.groupId, filter, sequence))
    const ready = {
      type: 'ready',
      sequence,
      lastSequence: head,
      oldestSequence: oldest,
      expires: iso(claims.exp * 1000),
      ...(isSandbox && { sandbox: true }),
    }
    socket.send(JSON.stringify(ready))
    return null
  }
}
