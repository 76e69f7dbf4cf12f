import { DurableObject } from 'cloudflare:workers'
import { type Database, openCell } from '../db/open.ts'
import { isWanted } from '../domain/event.ts'
import { allows } from '../domain/scope.ts'
import type { DisabledReason, Webhook } from '../domain/webhook.ts'
import type { Env } from '../env.ts'
import { readLog } from '../events/store.ts'
import { admitToken } from '../http/auth.ts'
import { readStandings } from '../http/standing.ts'
import { iso } from '../http/wire.ts'
import { CLOSE, type Closing, PING, PONG, readMessage } from '../stream/protocol.ts'
import { disableWebhook } from '../webhooks/edit.ts'
import { readListeners } from '../webhooks/store.ts'
import { redeliver, type SentByHand, sendTest } from './byHand.ts'
import { Couriers, forgetWebhook } from './couriers.ts'
import { type Delivery, listDeliveries, nextAttempt } from './deliveries.ts'
import { type Known, markStreams, marksFor, readOwner, saveOwner } from './owner.ts'
import type { Seat } from './seat.ts'
import { firstSecret, rotateSecret } from './secrets.ts'
import { Streams } from './streams.ts'
import { ENTRANCE, type Entrance, type FeedOwner } from './stub.ts'
import { makeTables } from './tables.ts'

const PAGE = 500
const MOST_STREAMS = 5000
/** Streams are held against their keys, and the log looked at, at least so often: a lost poke or a revoked key is felt within 30 s. */
const LOOK_EVERY = 20_000
const RECHECK_AFTER = 10_000
/** Without streams a quiet account is looked at ever more seldom. */
const QUIETEST_LOOK = 300_000
const SLOWEST_RETRY = 60_000

/**
 * One object per account: it holds the open streams and brings webhooks their events. It reads the log of the account's cell from
 * its own cursors; a poke only says that there may be something new, and its alarm looks where none came.
 */
export class AccountFeed extends DurableObject<Env> {
  readonly #sql: SqlStorage
  readonly #streams: Streams
  readonly #couriers: Couriers
  #looking: Promise<void> | null = null
  #asked = false
  #lookedAt = 0
  #recheckedAt = 0
  #failures = 0
  /** The account is disabled: its webhooks wait. */
  #paused = false
  #alarmAt: number | null = null

  constructor(state: DurableObjectState, env: Env) {
    super(state, env)
    this.#sql = state.storage.sql
    makeTables(state.storage)
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
    this.#streams = new Streams(state.getWebSockets())
    this.#couriers = new Couriers(
      () => this.#feeding(),
      (webhook, reason) => this.#giveUp(webhook, reason),
      () => void this.#arm(),
    )
  }

  /** There may be something new. Answered at once: what follows is not the caller's to wait for. */
  async poke(owner: FeedOwner): Promise<void> {
    this.#own(owner)
    void this.#look()
  }

  async secretOf(owner: FeedOwner, webhookId: string): Promise<string> {
    this.#own(owner)
    return this.ctx.storage.transactionSync(() => firstSecret(this.#sql, webhookId, Date.now()))
  }

  async rotate(webhookId: string, rotationId: string): Promise<{ secret: string; until: number }> {
    return this.ctx.storage.transactionSync(() => rotateSecret(this.#sql, webhookId, rotationId, Date.now()))
  }

  async test(owner: FeedOwner, webhook: Webhook, deliveryId: string): Promise<Delivery> {
    return sendTest(this.#feedingFor(owner), webhook, deliveryId)
  }

  async redeliver(owner: FeedOwner, webhook: Webhook, deliveryId: string): Promise<SentByHand> {
    const outcome = await redeliver(this.#feedingFor(owner), webhook, deliveryId)
    void this.#look()
    return outcome
  }

  async deliveries(webhookId: string, before: number, limit: number): Promise<Delivery[]> {
    return listDeliveries(this.#sql, webhookId, before, limit)
  }

  async forgetWebhook(webhookId: string): Promise<void> {
    this.#couriers.drop(webhookId)
    this.ctx.storage.transactionSync(() => forgetWebhook(this.#sql, webhookId))
  }

  /** The account is no more: everyone is sent away and nothing is kept. */
  async forget(): Promise<void> {
    this.#streams.closeAll('unauthorized')
    this.#couriers.pause()
    await this.#looking
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
    this.#alarmAt = null
    makeTables(this.ctx.storage)
  }

  /** A stream for a caller whom the Worker has let in. Its place in the log is taken after the cell knows that it is there. */
  override async fetch(request: Request): Promise<Response> {
    const entrance = JSON.parse(request.headers.get(ENTRANCE) ?? '') as Entrance
    const { 0: client, 1: server } = new WebSocketPair()
    const refusal = await this.#admit(entrance, server).catch((error): Closing => {
      console.error(JSON.stringify({ level: 'error', event: 'stream-failed', error: (error as Error).name }))
      return 'unavailable'
    })
    if (refusal) {
      server.accept()
      server.close(CLOSE[refusal].code, CLOSE[refusal].reason)
    }
    return new Response(null, { status: 101, webSocket: client })
  }

  async #admit({ accountId, cell, claims, groupId, filter, after }: Entrance, socket: WebSocket): Promise<Closing | null> {
    if (this.#streams.size >= MOST_STREAMS) return 'tooMany'
    const known = this.#own({ accountId, cell })
    const wantLocations = this.#streams.wantLocations || filter.types.length === 0 || isWanted(filter.types, 'location.reported')
    const marked = marksFor(known, { size: this.#streams.size + 1, wantLocations }, Date.now())
    const { head, oldest } = await markStreams(this.#db(known).$client, marked)
    saveOwner(this.#sql, { ...marked, head: Math.max(marked.head, head) })
    if (after !== null && after > head) return 'badMessage'
    const sent = after ?? head
    this.ctx.acceptWebSocket(socket)
    this.#streams.seat(socket, { claims, groupId, filter, sent, last: sent, acked: sent, owed: 0, owedSince: null })
    socket.send(JSON.stringify({ type: 'ready', sequence: sent, lastSequence: head, oldestSequence: oldest, expires: expiry(claims) }))
    void this.#look()
    return null
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (!this.#streams.has(socket)) return
    const said = readMessage(message)
    if (!said) return this.#streams.close(socket, 'badMessage')
    if (said.type === 'ack') {
      if (this.#streams.acknowledge(socket, said.sequence, Date.now())) void this.#look()
      return
    }
    const admitted = await admitToken(this.env, said.token, Date.now())
    if (!admitted || !this.#streams.renew(socket, admitted.claims, admitted.principal.groupId)) {
      return this.#streams.close(socket, 'unauthorized')
    }
    if (!allows(admitted.principal.scopes, 'read')) return this.#streams.close(socket, 'forbidden')
    socket.send(JSON.stringify({ type: 'token', expires: expiry(admitted.claims) }))
    await this.#arm()
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    this.#left(socket)
    try {
      socket.close(code === 1005 || code === 1006 ? 1000 : code)
    } catch {
      // The other side has gone without a word.
    }
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    this.#left(socket)
  }

  #left(socket: WebSocket): void {
    this.#streams.leave(socket)
    if (this.#streams.size === 0) void this.#look()
  }

  /** The platform gives an alarm up after six throws, so this one never does. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null
    await this.#look()
  }

  /** One look at a time; asked during one, another follows. */
  #look(): Promise<void> {
    this.#asked = true
    this.#looking ??= this.#lookUntilStill().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #lookUntilStill(): Promise<void> {
    while (this.#asked) {
      this.#asked = false
      try {
        await this.#lookOnce()
        this.#failures = 0
      } catch (error) {
        this.#failures++
        console.error(JSON.stringify({ level: 'error', event: 'look-failed', feed: this.ctx.id.toString(), error: (error as Error).name }))
        break
      }
    }
    await this.#arm()
  }

  async #lookOnce(): Promise<void> {
    const known = readOwner(this.#sql)
    if (!known) return
    const now = Date.now()
    this.#lookedAt = now
    this.#streams.expire(now)
    const db = this.#db(known)
    const { account, head, webhooks } = await readListeners(db, known.accountId)
    if (head !== known.head) saveOwner(this.#sql, { ...known, head, newsAt: now })
    this.#paused = account === 'disabled'
    if (account !== 'standing') {
      this.#streams.closeAll('unauthorized')
      this.#couriers.pause()
      return
    }
    await this.#recheck(db, now)
    await this.#keepMarks(db)
    await this.#serveStreams(db, known.accountId, head)
    this.#couriers.update(this.#sql, webhooks, head, Date.now())
  }

  async #recheck(db: Database, now: number): Promise<void> {
    if (this.#streams.size === 0 || now - this.#recheckedAt < RECHECK_AFTER) return
    this.#streams.recheck(await readStandings(db, this.#streams.keyIds), now)
    this.#recheckedAt = now
  }

  async #keepMarks(db: Database): Promise<void> {
    const known = readOwner(this.#sql)
    if (!known) return
    const marked = marksFor(known, this.#streams, Date.now())
    if (marked.streamsUntil === known.streamsUntil && marked.locationStreamsUntil === known.locationStreamsUntil) return
    await markStreams(db.$client, marked)
    saveOwner(this.#sql, marked)
  }

  /** Until nobody who may have more is behind. Those in front are served first, so that one who resumes from far back delays nobody. */
  async #serveStreams(db: Database, accountId: string, upTo: number): Promise<void> {
    let head = upTo
    for (let positions = this.#streams.positions(head); positions.length > 0; positions = this.#streams.positions(head)) {
      for (const from of positions) {
        const page = await readLog(db, accountId, from, PAGE)
        head = page.head
        const last = page.events.at(-1)?.sequence ?? from
        this.#streams.hand({ from, to: page.more ? last : page.head, events: page.events }, Date.now())
        // A key that was revoked closes its streams at once, not at the next look.
        if (page.events.some(({ type }) => type === 'key.revoked')) {
          this.#recheckedAt = 0
          this.#asked = true
        }
      }
    }
  }

  async #giveUp(webhook: Webhook, reason: DisabledReason): Promise<void> {
    const known = readOwner(this.#sql)
    if (!known) return
    await disableWebhook(this.#db(known), known.accountId, webhook, reason, Date.now())
    this.#couriers.drop(webhook.id)
  }

  #own({ accountId, cell }: FeedOwner): Known {
    const known = readOwner(this.#sql)
    if (known) return known
    const fresh: Known = { accountId, cell, head: 0, newsAt: Date.now(), streamsUntil: 0, locationStreamsUntil: 0 }
    saveOwner(this.#sql, fresh)
    return fresh
  }

  #db({ cell }: FeedOwner): Database {
    return openCell(this.env, cell)
  }

  #feeding() {
    const owner = readOwner(this.#sql)
    return owner && { env: this.env, storage: this.ctx.storage, owner }
  }

  #feedingFor(owner: FeedOwner) {
    return { env: this.env, storage: this.ctx.storage, owner: this.#own(owner) }
  }

  /** When there is something to do next; null while nobody listens. */
  #due(now: number): number | null {
    const known = readOwner(this.#sql)
    if (!known) return null
    if (this.#failures > 0) return now + Math.min(1000 * 2 ** this.#failures, SLOWEST_RETRY)
    const times: (number | null)[] = []
    if (this.#streams.size > 0) times.push(this.#streams.due, this.#lookedAt + LOOK_EVERY)
    if (this.#couriers.size > 0) {
      const quietFor = Math.min(Math.max(now - known.newsAt, LOOK_EVERY), QUIETEST_LOOK)
      times.push(nextAttempt(this.#sql), this.#lookedAt + quietFor)
    }
    if (this.#paused) times.push(this.#lookedAt + QUIETEST_LOOK)
    const due = times.filter((time) => time !== null)
    return due.length === 0 ? null : Math.min(...due)
  }

  /** An alarm that comes too early does no harm, so a later need does not move it. */
  async #arm(): Promise<void> {
    const now = Date.now()
    const due = this.#due(now)
    if (due === null) return
    const at = Math.max(due, now + 100)
    if (this.#alarmAt !== null && this.#alarmAt <= at && this.#alarmAt > now) return
    this.#alarmAt = at
    await this.ctx.storage.setAlarm(at)
  }
}

const expiry = ({ exp }: Seat['claims']): string => iso(exp * 1000)
