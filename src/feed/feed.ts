import { DurableObject } from 'cloudflare:workers'
import { resolveCell } from '../db/movedCell.ts'
import { openCell, withWriter } from '../db/open.ts'
import { CLOSE, PING, PONG, readMessage } from '../domain/event/stream.ts'
import type { DisabledReason, Webhook } from '../domain/event/webhook.ts'
import type { Env } from '../env.ts'
import { closeSocket } from '../http/socket.ts'
import { type AccountStatus, readAccountSnapshot } from '../webhooks/store.ts'
import { drainAudit, FEED, hasPendingAudit } from './auditOutbox.ts'
import { ensureFeedState, readFeedState, updateFeedState } from './feedState.ts'
import { setToken, type TokenChange } from './outputs/tokens.ts'
import { PollLoop } from './pollLoop.ts'
import { nextPollAt } from './pollSchedule.ts'
import { StreamAdmission } from './streams/streamAdmission.ts'
import { Streams } from './streams/streams.ts'
import { type FeedOwner, STREAM_REQUEST_HEADER, type StreamRequest } from './stub.ts'
import { migrateTables } from './tables.ts'
import { listDeliveries } from './webhooks/deliveries.ts'
import { disableOnce, nextDisableNotice, sendDisableNotices } from './webhooks/disableNotice.ts'
import { type ManualDelivery, redeliver, sendTest } from './webhooks/manualDelivery.ts'
import { ensureSecret, rotateSecret } from './webhooks/secrets.ts'
import { type FeedContext, newReceiverCalls } from './webhooks/webhookWorker.ts'
import { deleteWebhookRows, WebhookWorkers } from './webhooks/webhookWorkers.ts'

/**
 * One object per account: holds the open streams and delivers events to webhooks. It reads the
 * event log of the account's cell from its own cursors. A lost poke is harmless: the alarm polls.
 */
export class AccountFeed extends DurableObject<Env> {
  readonly #sql: SqlStorage
  readonly #streams: Streams
  readonly #admission: StreamAdmission
  readonly #webhookWorkers: WebhookWorkers
  readonly #receiverCalls = newReceiverCalls()
  readonly #pollLoop: PollLoop
  #lastPollAt = 0
  /** As of the last poll. */
  #accountStatus: AccountStatus = 'active'

  constructor(state: DurableObjectState, env: Env) {
    super(state, env)
    this.#sql = state.storage.sql
    migrateTables(state.storage)
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
    this.#pollLoop = new PollLoop({
      storage: state.storage,
      poll: () => this.#poll(),
      nextPollAt: (now) => this.#nextPollAt(now),
    })
    this.#streams = new Streams(env, state.getWebSockets())
    this.#admission = new StreamAdmission(state, env, this.#streams)
    this.#webhookWorkers = new WebhookWorkers(
      () => {
        const owner = readFeedState(this.#sql)
        return owner && this.#contextOf(owner)
      },
      (webhook, reason) => this.#disableWebhook(webhook, reason),
      () => void this.#pollLoop.arm(),
    )
  }

  /** Says that there may be new events. Returns before they are read. */
  async poke(owner: FeedOwner): Promise<void> {
    const { accountId, cell } = ensureFeedState(this.#sql, owner, Date.now())
    // A late poke may name the cell before.
    if (owner.cell !== cell)
      updateFeedState(this.#sql, { cell: await resolveCell(this.env, accountId, cell) })
    void this.#pollLoop.request()
  }

  /** The account's event log is in another cell from now on. */
  async moveTo({ cell }: FeedOwner): Promise<void> {
    if (!readFeedState(this.#sql)) return
    updateFeedState(this.#sql, { cell })
    void this.#pollLoop.request()
  }

  async ensureSecret(owner: FeedOwner, webhookId: string, change?: TokenChange): Promise<string> {
    const now = Date.now()
    ensureFeedState(this.#sql, owner, now)
    if (change) setToken(this.#sql, webhookId, change, now)
    await this.#storeAudit()
    return ensureSecret(this.#sql, webhookId, now)
  }

  async rotateSecret(
    webhookId: string,
    rotationId: string,
    writer = FEED,
  ): Promise<{ secret: string; until: number }> {
    const rotation = { webhookId, rotationId, writer, now: Date.now() }
    const rotated = this.ctx.storage.transactionSync(() => rotateSecret(this.#sql, rotation))
    await this.#storeAudit()
    return rotated
  }

  async sendTest(
    owner: FeedOwner,
    webhook: Webhook,
    deliveryId: string,
    writer = FEED,
  ): Promise<ManualDelivery> {
    ensureFeedState(this.#sql, owner, Date.now())
    const outcome = await sendTest(this.#contextOf(owner), webhook, deliveryId, writer)
    await this.#storeAudit()
    return outcome
  }

  async redeliver(
    owner: FeedOwner,
    webhook: Webhook,
    deliveryId: string,
    writer = FEED,
  ): Promise<ManualDelivery> {
    const outcome = await redeliver(this.#contextOf(owner), webhook, deliveryId, writer)
    await this.#storeAudit()
    void this.#pollLoop.request()
    return outcome
  }

  /** What cannot be stored now is stored by a poll: the alarm is set first. */
  async #storeAudit(): Promise<void> {
    const owner = readFeedState(this.#sql)
    if (!owner || !hasPendingAudit(this.#sql)) return
    await this.#pollLoop.arm()
    await drainAudit(this.#sql, this.env, owner).catch(() => {})
  }

  async listDeliveries(webhookId: string, before: number, limit: number) {
    return listDeliveries(this.#sql, webhookId, before, limit)
  }

  async deleteWebhook(webhookId: string): Promise<void> {
    this.#webhookWorkers.remove(webhookId)
    this.ctx.storage.transactionSync(() => deleteWebhookRows(this.#sql, webhookId))
  }

  /** Closes all streams and deletes everything, after the account was deleted. */
  async deleteStorage(): Promise<void> {
    this.#streams.closeAll('unauthorized')
    this.#webhookWorkers.pause()
    await this.#pollLoop.stop()
    await this.ctx.storage.deleteAll()
    migrateTables(this.ctx.storage)
  }

  /** Opens a stream for a caller that the Worker has authorized. */
  override async fetch(request: Request): Promise<Response> {
    const streamRequest = JSON.parse(
      request.headers.get(STREAM_REQUEST_HEADER) ?? '',
    ) as StreamRequest
    const { 0: client, 1: server } = new WebSocketPair()
    const refusal = await this.#admission.admit(streamRequest, server)
    void this.#pollLoop.request()
    if (refusal) {
      server.accept()
      closeSocket(server, CLOSE[refusal])
    }
    return new Response(null, { status: 101, webSocket: client })
  }

  override async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    if (!this.#streams.has(socket)) return
    const message = readMessage(data)
    if (!message) return this.#streams.close(socket, 'badMessage')
    if (message.type === 'ack') {
      const canSendMore = await this.#streams.acknowledge(socket, message.ack, Date.now())
      if (canSendMore) void this.#pollLoop.request()
      return
    }
    const refusal = await this.#admission.renewToken(socket, message.token)
    if (refusal) this.#streams.close(socket, refusal)
    else await this.#pollLoop.arm()
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    this.#removeStream(socket)
    closeSocket(socket, { code })
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    this.#removeStream(socket)
  }

  /** The last stream to close ends the listener lease, with the next poll. */
  #removeStream(socket: WebSocket): void {
    const canSendMore = this.#streams.remove(socket)
    if (canSendMore || this.#streams.size === 0) void this.#pollLoop.request()
  }

  override alarm(): Promise<void> {
    return this.#pollLoop.alarm()
  }

  async #poll(): Promise<void> {
    const state = readFeedState(this.#sql)
    if (!state) return
    const now = Date.now()
    const db = openCell(this.env, state.cell)
    this.#lastPollAt = now
    await drainAudit(this.#sql, this.env, state).catch(() => {})
    this.#streams.closeExpired(now)
    const { status, head, webhooks } = await readAccountSnapshot(db, state.accountId)
    if (head !== state.head) updateFeedState(this.#sql, { head, lastEventAt: now })
    this.#accountStatus = status
    if (status !== 'active') {
      this.#streams.closeAll('unauthorized')
      this.#webhookWorkers.pause()
      return
    }
    // First, while the webhooks are up to date: the rest of the poll may take a while.
    this.#webhookWorkers.update(this.#sql, webhooks, head, now)
    void sendDisableNotices(this.#contextOf(state), now).finally(() => this.#pollLoop.arm())
    await this.#streams.recheckKeys(db, now)
    await this.#admission.renewLease(db, now)
    const isBehind = await this.#streams.sendNewEvents(db, state.accountId, head)
    if (isBehind) void this.#pollLoop.request()
  }

  async #disableWebhook(webhook: Webhook, reason: DisabledReason): Promise<void> {
    const state = readFeedState(this.#sql)
    if (!state) return
    const db = withWriter(openCell(this.env, state.cell), FEED)
    await disableOnce(this.#sql, db, { ...state, webhook, reason, now: Date.now() })
    this.#webhookWorkers.remove(webhook.id)
    void this.#pollLoop.request()
  }

  #contextOf(owner: FeedOwner): FeedContext {
    return { env: this.env, storage: this.ctx.storage, owner, receiverCalls: this.#receiverCalls }
  }

  #nextPollAt(now: number): number | null {
    const state = readFeedState(this.#sql)
    if (!state) return null
    return nextPollAt({
      now,
      status: this.#accountStatus,
      lastPollAt: this.#lastPollAt,
      lastEventAt: state.lastEventAt,
      streamDeadline: this.#streams.nextDeadline,
      hasWebhooks: this.#webhookWorkers.size > 0,
      nextAttempt: this.#webhookWorkers.nextPollAt(this.#sql, now),
      hasAudit: hasPendingAudit(this.#sql),
      // A notice waits while the account is disabled.
      nextNotice: this.#accountStatus === 'active' ? nextDisableNotice(this.#sql) : null,
    })
  }
}
