import { CHANNELS, type Channel } from '../domain/alert.ts'
import { type NotifyEnv, type SendOutcome, sendTimeout } from '../notify/provider.ts'
import { providerFor } from '../notify/providers.ts'
import { readAccount } from './books.ts'
import { claim, nextDue } from './messages.ts'
import { logOutcome, recordOutcome } from './sendOutcome.ts'

/* Carrying messages out. E-mail and SMS each have a lane of their own, so that a provider that hangs holds up nothing else. */

/** So many messages of a channel are on their way at once; the first place is for urgent ones alone. */
const CONCURRENCY: Record<Channel, number> = { Email: 3, SMS: 2 }
/** A try may ask what became of the one before and then send: until both calls are over, nobody else makes it. */
const CALLS_PER_ATTEMPT = 2
const LEASE_MARGIN_MS = 5_000
/** What one message was told to wait holds back the others for no longer than this. */
const MAX_THROTTLE_MS = 3_600_000

class ChannelSender {
  readonly #channel: Channel
  readonly #storage: DurableObjectStorage
  readonly #env: NotifyEnv
  readonly #recorded: () => void
  readonly #places: (Promise<void> | null)[]
  /** The provider asked for quiet until then. */
  #quietUntil = 0

  constructor(
    channel: Channel,
    storage: DurableObjectStorage,
    env: NotifyEnv,
    recorded: () => void,
  ) {
    this.#channel = channel
    this.#storage = storage
    this.#env = env
    this.#recorded = recorded
    this.#places = Array.from({ length: CONCURRENCY[channel] }, () => null)
  }

  /** Fills the free places; resolves once all have come to rest. */
  async wake(): Promise<void> {
    this.#places.forEach((busy, place) => {
      if (busy) return
      const work = this.#work(place === 0).finally(() => {
        this.#places[place] = null
      })
      this.#places[place] = work
    })
    await Promise.all(this.#places)
  }

  nextTime(): number | null {
    const due = nextDue(this.#storage.sql, this.#channel)
    return due === null ? null : Math.max(due, this.#quietUntil)
  }

  /** One message after the other, while any is due. */
  async #work(urgentOnly: boolean): Promise<void> {
    const { sql } = this.#storage
    const lease = CALLS_PER_ATTEMPT * sendTimeout(this.#env) + LEASE_MARGIN_MS
    while (Date.now() >= this.#quietUntil) {
      const account = readAccount(sql)
      const message =
        account &&
        this.#storage.transactionSync(() =>
          claim(sql, this.#channel, urgentOnly, lease, Date.now()),
        )
      if (!message) return
      const provider = providerFor(this.#env, this.#channel)
      const { key, recipient: to, subject, text, unsure_since: unsureSince } = message
      const outcome = await provider
        .send(this.#env, { key, accountId: account.id, to, subject, text, unsureSince })
        .catch(
          (): SendOutcome => ({ kind: 'retry', reason: 'provider-failed', maybeAccepted: true }),
        )
      const now = Date.now()
      if (outcome.kind === 'throttled')
        this.#quietUntil = Math.max(
          this.#quietUntil,
          now + Math.min(outcome.after, MAX_THROTTLE_MS),
        )
      this.#storage.transactionSync(() => recordOutcome(sql, message, outcome, provider.name, now))
      logOutcome(account.id, message, outcome, provider.name)
      this.#recorded()
    }
  }
}

export class MessageSender {
  readonly #lanes: ChannelSender[]

  /** `recorded` is called whenever an outcome has been written down. */
  constructor(storage: DurableObjectStorage, env: NotifyEnv, recorded: () => void) {
    this.#lanes = CHANNELS.map((channel) => new ChannelSender(channel, storage, env, recorded))
  }

  async wake(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.wake()))
  }

  nextTime(): number | null {
    const times = this.#lanes.flatMap((lane) => lane.nextTime() ?? [])
    return times.length === 0 ? null : Math.min(...times)
  }
}
