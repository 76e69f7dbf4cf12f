import { lifeMsOf, RENEW_AFTER, type TokenSource } from './tokens.ts'
import type { PerigeeEvent } from './types.ts'

/* One WebSocket of the stream, as a queue of messages. */

interface Ready {
  type: 'ready'
  sequence: number
  lastSequence: number
  oldestSequence: number
}
interface Events {
  type: 'events'
  ack: string
  events: PerigeeEvent[]
}
interface Closed {
  type: 'closed'
  code: number
  reason: string
}
export type Message = Ready | Events | Closed

export interface Connection {
  readonly isReady: boolean
  next: (signal?: AbortSignal) => Promise<Message>
  acknowledge: (ack: string) => void
  close: () => void
}

const PING_MS = 25_000
/** A new token is asked for so long before the old one ends. */
const RENEW_BEFORE_MS = 90_000
/** The least time between two requests: a clock that is ahead takes every token for an old one. */
const MIN_RENEW_MS = 30_000
const NORMAL = 1000

/** Tokens of other issuers than Perigee may have another form. */
const renewAfterMs = (token: string | null): number => {
  try {
    const ms = lifeMsOf(token ?? '') * RENEW_AFTER
    if (Number.isFinite(ms)) return ms
  } catch {
    // The time that the service names is enough.
  }
  return Number.POSITIVE_INFINITY
}

export const openConnection = (
  url: string,
  token: string | null,
  nextToken: TokenSource,
): Connection => {
  const socket = new WebSocket(url, ['perigee', ...(token === null ? [] : [`bearer.${token}`])])
  const queue: Message[] = []
  let wake: (() => void) | undefined
  let closed: Closed | null = null
  let isReady = false
  let isAnswered = true
  let used = token
  let renewal: ReturnType<typeof setTimeout> | undefined

  const send = (message: object) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
  }
  const end = (code: number, reason: string) => {
    clearInterval(pings)
    clearTimeout(renewal)
    closed ??= { type: 'closed', code, reason }
    wake?.()
  }
  const close = (reason = '') => {
    end(NORMAL, reason)
    // A socket that is still opening is closed once it is open.
    if (socket.readyState === WebSocket.CONNECTING)
      socket.addEventListener('open', () => socket.close(NORMAL))
    else socket.close(NORMAL)
  }
  const pings = setInterval(() => {
    // A connection that broke silently stays open for minutes, while nothing arrives by it.
    if (!isAnswered) return close('The service does not answer.')
    isAnswered = false
    send({ type: 'ping' })
  }, PING_MS)

  const renewIn = (ms: number) => {
    clearTimeout(renewal)
    renewal = setTimeout(
      async () => {
        const value = await Promise.resolve()
          .then(() => nextToken())
          .catch(() => null)
        if (closed !== null) return
        // Without a new token the service ends the stream, and another is opened.
        if (value === null || value === used) return renewIn(MIN_RENEW_MS)
        used = value
        send({ type: 'token', token: value })
      },
      Math.max(ms, MIN_RENEW_MS),
    )
  }
  const renewBefore = (expires: string) => {
    const ms = Date.parse(expires) - Date.now() - RENEW_BEFORE_MS
    renewIn(Math.min(ms, renewAfterMs(used)))
  }

  socket.addEventListener('message', ({ data }) => {
    isAnswered = true
    const message: (Message & { expires?: string }) | { type: 'token' | 'pong'; expires?: string } =
      JSON.parse(String(data))
    if (message.expires) renewBefore(message.expires)
    if (message.type === 'ready') {
      isReady = true
      // An older service says null if it stores no event: all up to the last one are gone.
      message.oldestSequence ??= message.lastSequence + 1
    }
    if (message.type !== 'ready' && message.type !== 'events') return
    queue.push(message)
    wake?.()
  })
  socket.addEventListener('close', ({ code, reason }) => end(code, reason))
  socket.addEventListener('error', () => end(1006, ''))

  return {
    get isReady() {
      return isReady
    },
    /** What has arrived before the connection closed, but was not read, will be sent again. */
    async next(signal) {
      while (closed === null && queue.length === 0) {
        signal?.throwIfAborted()
        let stop = () => {}
        await new Promise<void>((resolve) => {
          wake = stop = resolve
          signal?.addEventListener('abort', stop)
        })
        signal?.removeEventListener('abort', stop)
        signal?.throwIfAborted()
      }
      return closed ?? (queue.shift() as Message)
    },
    acknowledge: (ack) => send({ type: 'ack', ack }),
    close: () => close(),
  }
}
