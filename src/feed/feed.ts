import { DurableObject } from 'cloudflare:workers'
import { readKeyStatuses } from '../auth/keyStatus.ts'
import { authenticate, readPrincipal } from '../auth/principal.ts'
import { tryCountRequest } from '../auth/requestLimit.ts'
import { type Database, openCell } from '../db/open.ts'
import { iso } from '../domain/iso.ts'
import { allows } from '../domain/scope.ts'
import { CLOSE, PING, PONG, readMessage } from '../domain/stream.ts'
import type { DisabledReason, Webhook, WebhookDelivery } from '../domain/webhook.ts'
import type { Env } from '../env.ts'
import { disableWebhook, type Listeners, readListeners } from '../webhooks/store.ts'
import { listDeliveries, nextAttempt } from './deliveries.ts'
import {
  confirmDisabled,
  nextDisableNotice,
  recordDisableIntent,
  sendDisableNotices,
} from './disableNotice.ts'
import { ensureFeedState, readFeedState, saveFeedState } from './feedState.ts'
import { type ManualDelivery, redeliver, sendTest } from './manualDelivery.ts'
import { PollLoop } from './pollLoop.ts'
import { firstSecret, rotateSecret } from './secrets.ts'
import { StreamAdmission } from './streamAdmission.ts'
import { Streams } from './streams.ts'
import { type FeedOwner, STREAM_REQUEST_HEADER, type StreamRequest } from './stub.ts'
import { makeTables } from './tables.ts'
import type { FeedContext } from './webhookWorker.ts'
import { forgetWebhook, WebhookWorkers } from './webhookWorkers.ts'

/** Streams are held against their keys, and the log looked at, at least so often: a lost poke or a revoked key is felt within 30 s. */
const LOOK_EVERY = 20_000
const RECHECK_AFTER = 10_000
/** Without streams a quiet account is looked at ever more seldom. */
const QUIETEST_LOOK = 300_000

/**
 * One object per account: it holds the open streams and brings webhooks their events. It reads the log of the account's cell from
 * its own cursors; a poke only says that there may be something new, and its alarm looks where none came.
 */
export class AccountFeed extends DurableObject<Env> {
  readonly #sql: SqlStorage
  readonly #streams: Streams
  readonly #admission: StreamAdmission
  readonly #webhookWorkers: WebhookWorkers
  readonly #pollLoop: PollLoop
  #lookedAt = 0
  #recheckedAt = 0
  /** As it was last seen. While it is disabled its webhooks wait. */
  #account: Listeners['account'] = 'standing'

  constructor(state: DurableObjectState, env: Env) {
    super(state, env)
    this.#sql = state.storage.sql
    makeTables(state.storage)
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
    this.#pollLoop = new PollLoop(
      state.storage,
      () => this.#look(),
      (now) => this.#due(now),
    )
    this.#streams = new Streams(state.getWebSockets())
    this.#admission = new StreamAdmission(state, env, this.#streams)
    this.#webhookWorkers = new WebhookWorkers(
      () => this.#context(),
      (webhook, reason) => this.#giveUp(webhook, reason),
      () => void this.#pollLoop.arm(),
    )
  }

  /** There may be something new. Answered at once: what follows is not the caller's to wait for. */
  async poke(owner: FeedOwner): Promise<void> {
    ensureFeedState(this.#sql, owner, Date.now())
    void this.#pollLoop.request()
  }

  async secretOf(owner: FeedOwner, webhookId: string): Promise<string> {
    const now = Date.now()
    ensureFeedState(this.#sql, owner, now)
    return firstSecret(this.#sql, webhookId, now)
  }

  async rotate(webhookId: string, rotationId: string): Promise<{ secret: string; until: number }> {
    return this.ctx.storage.transactionSync(() =>
      rotateSecret(this.#sql, webhookId, rotationId, Date.now()),
    )
  }

  async tryOut(owner: FeedOwner, webhook: Webhook, deliveryId: string): Promise<WebhookDelivery> {
    ensureFeedState(this.#sql, owner, Date.now())
    return sendTest({ env: this.env, storage: this.ctx.storage, owner }, webhook, deliveryId)
  }

  async redeliver(owner: FeedOwner, webhook: Webhook, deliveryId: string): Promise<ManualDelivery> {
    const outcome = await redeliver(
      { env: this.env, storage: this.ctx.storage, owner },
      webhook,
      deliveryId,
    )
    void this.#pollLoop.request()
    return outcome
  }

  async deliveries(webhookId: string, before: number, limit: number): Promise<WebhookDelivery[]> {
    return listDeliveries(this.#sql, webhookId, before, limit)
  }

  async forgetWebhook(webhookId: string): Promise<void> {
    this.#webhookWorkers.drop(webhookId)
    this.ctx.storage.transactionSync(() => forgetWebhook(this.#sql, webhookId))
  }

  /** The account is no more: everyone is sent away and nothing is kept. */
  async forget(): Promise<void> {
    this.#streams.closeAll('unauthorized')
    this.#webhookWorkers.pause()
    await this.#pollLoop.stop()
    await this.ctx.storage.deleteAll()
    makeTables(this.ctx.storage)
  }

  /** A stream for a caller whom the Worker has let in. */
  override async fetch(request: Request): Promise<Response> {
    const streamRequest = JSON.parse(
      request.headers.get(STREAM_REQUEST_HEADER) ?? '',
    ) as StreamRequest
    const { 0: client, 1: server } = new WebSocketPair()
    const refusal = await this.#admission.admit(streamRequest, server)
    void this.#pollLoop.request()
    if (refusal) {
      server.accept()
      server.close(CLOSE[refusal].code, CLOSE[refusal].reason)
    }
    return new Response(null, { status: 101, webSocket: client })
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (!this.#streams.has(socket)) return
    const said = readMessage(message)
    if (!said) return this.#streams.close(socket, 'badMessage')
    if (said.type === 'token') return this.#renew(socket, said.token)
    if (this.#streams.acknowledge(socket, said.sequence, Date.now())) void this.#pollLoop.request()
  }

  async #renew(socket: WebSocket, token: string): Promise<void> {
    const now = Date.now()
    const admitted = await authenticate(this.env, token, now)
    if (!admitted || admitted.claims.accountId !== readFeedState(this.#sql)?.accountId)
      return this.#streams.close(socket, 'unauthorized')
    const { claims, db } = admitted
    if (!tryCountRequest({ env: this.env, executionCtx: this.ctx }, claims.accountId, now))
      return this.#streams.close(socket, 'tooManyRequests')
    const principal = await readPrincipal(db, claims, now)
    if (!principal || !this.#streams.renew(socket, claims, principal.groupId))
      return this.#streams.close(socket, 'unauthorized')
    if (!allows(principal.scopes, 'read')) return this.#streams.close(socket, 'forbidden')
    socket.send(JSON.stringify({ type: 'token', expires: iso(claims.exp * 1000) }))
    await this.#pollLoop.arm()
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    this.#left(socket)
    try {
      // 1005 and 1006 tell that there was no code; nobody may send them.
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
    if (this.#streams.size === 0) void this.#pollLoop.request()
  }

  override alarm(): Promise<void> {
    return this.#pollLoop.alarm()
  }

  async #look(): Promise<void> {
    const known = readFeedState(this.#sql)
    if (!known) return
    const now = Date.now()
    const db = this.#db(known)
    this.#lookedAt = now
    this.#streams.expire(now)
    const { account, head, webhooks } = await readListeners(db, known.accountId)
    if (head !== known.head)
      saveFeedState(this.#sql, { ...(readFeedState(this.#sql) ?? known), head, newsAt: now })
    this.#account = account
    if (account !== 'standing') {
      this.#streams.closeAll('unauthorized')
      this.#webhookWorkers.pause()
      return
    }
    // While the webhooks are known as they stand: what follows may take a while.
    this.#webhookWorkers.update(this.#sql, webhooks, head, now)
    const context = { env: this.env, storage: this.ctx.storage, owner: known }
    void sendDisableNotices(context, now).finally(() => this.#pollLoop.arm())
    await this.#recheck(db, now)
    await this.#admission.renewLease(db.$client, now)
    const { behind, revoked } = await this.#streams.serve(db, known.accountId, head)
    if (revoked) await this.#recheck(db, now, true)
    if (behind) void this.#pollLoop.request()
  }

  async #recheck(db: Database, now: number, atOnce = false): Promise<void> {
    if (this.#streams.size === 0 || (!atOnce && now - this.#recheckedAt < RECHECK_AFTER)) return
    this.#streams.recheck(await readKeyStatuses(db, this.#streams.keyIds), now)
    this.#recheckedAt = now
  }

  async #giveUp(webhook: Webhook, reason: DisabledReason): Promise<void> {
    const known = readFeedState(this.#sql)
    if (!known) return
    const now = Date.now()
    recordDisableIntent(this.#sql, webhook.id, reason, now)
    await disableWebhook(this.#db(known), known.accountId, webhook, reason, now)
    confirmDisabled(this.#sql, webhook.id, now)
    this.#webhookWorkers.drop(webhook.id)
    void this.#pollLoop.request()
  }

  #db({ cell }: FeedOwner): Database {
    return openCell(this.env, cell)
  }

  #context(): FeedContext | null {
    const owner = readFeedState(this.#sql)
    return owner && { env: this.env, storage: this.ctx.storage, owner }
  }

  #due(now: number): number | null {
    const known = readFeedState(this.#sql)
    if (!known) return null
    // A notice waits while the account is disabled.
    const times = [this.#account === 'standing' ? nextDisableNotice(this.#sql) : null]
    if (this.#streams.size > 0) times.push(this.#streams.due, this.#lookedAt + LOOK_EVERY)
    if (this.#webhookWorkers.size > 0) {
      const quietFor = Math.min(Math.max(now - known.newsAt, LOOK_EVERY), QUIETEST_LOOK)
      times.push(nextAttempt(this.#sql), this.#lookedAt + quietFor)
    }
    if (this.#account === 'disabled') times.push(this.#lookedAt + QUIETEST_LOOK)
    const due = times.filter((time) => time !== null)
    return due.length === 0 ? null : Math.min(...due)
  }
}
