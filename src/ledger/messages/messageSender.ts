import type { Account } from '../../domain/account/account.ts'
import { CHANNELS, type Channel, NO_DEVICE_KEY, subjectOf } from '../../domain/message/alert.ts'
import { fillLink, LINK_PATH } from '../../domain/message/link.ts'
import type { Env } from '../../env.ts'
import { sandbox } from '../../notify/none.ts'
import { type Message, type SendOutcome, sendTimeoutMs } from '../../notify/provider.ts'
import { providerFor } from '../../notify/providers.ts'
import { readAccount } from '../accounts/accountRow.ts'
import { isDrill } from '../alerts/drills.ts'
import { beginDecision } from '../decision.ts'
import type { MessageRow } from '../tables.ts'
import { claimMessage, findDue, isIdOfOther, nextDueTime } from './messageQueue.ts'
import { withdrawMessage } from './messageState.ts'
import { type Attempt, isObsolete, logOutcome, recordOutcome } from './sendOutcome.ts'

/** An attempt may first ask what became of the last one: the lease covers both calls. */
const CALLS_PER_ATTEMPT = 2
const LEASE_MARGIN_MS = 5_000
/** A provider's request to wait holds back its channel for at most this long. */
const MAX_THROTTLE_MS = 3_600_000

interface SenderOptions {
  storage: DurableObjectStorage
  env: Env
  /** Called after each recorded outcome. */
  onRecorded: () => void
}

type Run = <T>(work: () => Promise<T>) => Promise<T>

/** Runs one piece of work after the other. */
const oneAtATime = (): Run => {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const run = last.then(work, work)
    last = run
    return run
  }
}

/** Sends the messages of one channel. */
class ChannelSender {
  readonly #channel: Channel
  readonly #options: SenderOptions
  readonly #runUrgent: Run
  /** The first is for urgent messages alone. */
  readonly #slots: (Promise<void> | null)[] = [null, null]
  #throttledUntil = 0

  constructor(channel: Channel, options: SenderOptions, runUrgent: Run) {
    this.#channel = channel
    this.#options = options
    this.#runUrgent = runUrgent
  }

  /** Starts every idle slot; resolves once all are idle again. */
  async run(): Promise<void> {
    this.#slots.forEach((work, slot) => {
      if (work) return
      this.#slots[slot] = this.#sendDue(slot === 0).finally(() => {
        this.#slots[slot] = null
      })
    })
    await Promise.all(this.#slots)
  }

  nextTime(): number | null {
    const due = nextDueTime(this.#options.storage.sql, this.#channel)
    return due === null ? null : Math.max(due, this.#throttledUntil)
  }

  /** Sends one message after the other while any is due. */
  async #sendDue(urgentOnly: boolean): Promise<void> {
    const { sql } = this.#options.storage
    const hasUrgent = () =>
      findDue(sql, { channel: this.#channel, urgentOnly: true, now: Date.now() }) !== undefined
    const sendNext = () => this.#sendNext(urgentOnly)
    while (Date.now() >= this.#throttledUntil) {
      const isSent = urgentOnly
        ? hasUrgent() && (await this.#runUrgent(sendNext))
        : await sendNext()
      if (!isSent) return
    }
  }

  /** False if none is due. */
  async #sendNext(urgentOnly: boolean): Promise<boolean> {
    const { storage, env, onRecorded } = this.#options
    const { sql } = storage
    const account = readAccount(sql)
    const message = account && this.#claim(urgentOnly)
    if (!message) return false
    const attempt = await this.#send(message, account)
    const now = Date.now()
    const { outcome } = attempt
    if (outcome.kind === 'throttled' && !outcome.isOfRecipient) {
      const waitMs = Math.min(outcome.afterMs, MAX_THROTTLE_MS)
      this.#throttledUntil = Math.max(this.#throttledUntil, now + waitMs)
    }
    storage.transactionSync(() => {
      const tx = beginDecision(sql, env, now)
      if (tx) recordOutcome(tx, attempt)
    })
    logOutcome(account.id, attempt)
    onRecorded()
    return true
  }

  /** Takes the next message, and withdraws those before it that are not needed any more. */
  #claim(urgentOnly: boolean): MessageRow | null {
    const { storage, env, onRecorded } = this.#options
    const { sql } = storage
    const now = Date.now()
    const leaseMs = CALLS_PER_ATTEMPT * sendTimeoutMs(env) + LEASE_MARGIN_MS
    const next = () => findDue(sql, { channel: this.#channel, urgentOnly, now })
    let withdrawn = 0
    const claimed = storage.transactionSync(() => {
      const tx = beginDecision(sql, env, now)
      for (let due = next(); tx && due; due = next()) {
        if (!isObsolete(sql, due)) return claimMessage(sql, due, { leaseMs, now })
        withdrawMessage(tx, due)
        withdrawn++
      }
      return null
    })
    if (withdrawn > 0) onRecorded()
    return claimed
  }

  /** The message as providers get it. */
  #toMessage(row: MessageRow, { id: accountId, cell }: Account): Message {
    const { id, key, deviceKey, kind, urgent: isUrgent, link, unsureSince } = row
    const { to, userId, subject } = row
    const { sql } = this.#options.storage
    const alertId = deviceKey === NO_DEVICE_KEY ? null : subjectOf(id, kind).alertId
    const isTest = alertId !== null && isDrill(sql, alertId)
    const text = link === null ? row.text : fillLink(row.text, link)
    const path = link === null ? null : `${LINK_PATH}${link}`
    const isOfOther = (providerId: string) => isIdOfOther(sql, row, providerId)
    const about = { cell, kind, isUrgent, isTest, alertId, link: path, isOfOther }
    return { key, accountId, to, userId, subject, text, unsureSince, ...about }
  }

  async #send(message: MessageRow, account: Account): Promise<Attempt> {
    const { env } = this.#options
    const provider = account.sandbox ? sandbox : providerFor(env, this.#channel)
    const outcome = await provider
      .send(env, this.#toMessage(message, account))
      .catch((): SendOutcome => ({ kind: 'retry', reason: 'provider-failed', maybeAccepted: true }))
    const awaitsReceipt = provider.givesReceipts(env)
    return { message, provider: provider.name, awaitsReceipt, outcome }
  }
}

/**
 * Sends queued messages. Each channel works apart: a provider that hangs delays no other. An object
 * has six connections and needs one for D1: each channel has one of its own, and urgent messages that
 * would wait for it share the fifth.
 */
export class MessageSender {
  readonly #channels: ChannelSender[]

  constructor(options: SenderOptions) {
    const runUrgent = oneAtATime()
    this.#channels = CHANNELS.map((channel) => new ChannelSender(channel, options, runUrgent))
  }

  async run(): Promise<void> {
    await Promise.all(this.#channels.map((channel) => channel.run()))
  }

  nextTime(): number | null {
    const times = this.#channels.flatMap((channel) => channel.nextTime() ?? [])
    return times.length === 0 ? null : Math.min(...times)
  }
}
