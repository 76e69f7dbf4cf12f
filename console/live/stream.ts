import { signal } from '@preact/signals'
import {
  type Connection,
  type Message,
  openConnection,
} from '../../clients/typescript/src/streamConnection.ts'
import { isOnline } from '../api/connection.ts'
import { session } from '../session/session.ts'

/*
 * The account's events as they happen. One connection of the TypeScript client serves the whole
 * console; it continues after a disconnect with the last event it has seen.
 */

export interface LiveEvent {
  id: string
  type: string
  time: string
  sequence: number
  data: Record<string, unknown>
}

type Handler = (event: LiveEvent) => void
type Status = 'off' | 'connecting' | 'live' | 'waiting'

/** What the console always listens to. Locations are logged only while somebody asks for them. */
export const LIVE_TYPES = [
  'alert.*',
  'device.*',
  'key.*',
  'license.*',
  'limit.*',
  'message.*',
  'watch.*',
  'zone.*',
] as const
const LOCATIONS = 'location.reported'
const MAX_RETRY_MS = 30_000
const MAX_OPENING_MS = 2000
const UNAUTHORIZED = 4401
/** Locations cost the service rows, so the stream stops asking once no page wants them. */
const RELEASE_LOCATIONS_MS = 60_000

export const liveStatus = signal<Status>('off')

const handlers = new Map<Handler, (type: string) => boolean>()
const gapHandlers = new Set<() => void>()
let connection: Connection | null = null
let after: number | null = null
let lastAttempt = 0
/** A page has loaded its data before the first stream was open, and may have missed events. */
let hasStartedLate = false
let retries = 0
let retryTimer: ReturnType<typeof setTimeout> | undefined
let releaseTimer: ReturnType<typeof setTimeout> | undefined
let locationListeners = 0
let hasLocations = false

const dispatch = (event: LiveEvent) => {
  for (const [handler, wants] of [...handlers]) if (wants(event.type)) handler(event)
}

const receive = (open: Connection, message: Exclude<Message, { type: 'closed' }>) => {
  if (message.type === 'ready') {
    retries = 0
    liveStatus.value = 'live'
    isOnline.value = true
    const { sequence, oldestSequence } = message
    const hasGap = after === null ? hasStartedLate : oldestSequence > sequence + 1
    if (hasGap) for (const handler of gapHandlers) handler()
    after = sequence
    return
  }
  for (const event of message.events) {
    after = event.sequence
    dispatch(event)
  }
  open.acknowledge(message.ack)
}

/** Reads until the connection ends or another one has taken its place. */
const read = async (open: Connection, token: string) => {
  for (;;) {
    const message = await open.next()
    if (open !== connection) return
    if (message.type === 'closed') {
      connection = null
      if (message.code === UNAUTHORIZED) session.discardToken(token)
      return retry()
    }
    try {
      receive(open, message)
    } catch (error) {
      // The next connection continues after the event that a page could not take.
      reportError(error)
      if (open !== connection) return
      closeConnection()
      return retry()
    }
  }
}

const connect = async () => {
  clearTimeout(retryTimer)
  if (!session.isSignedIn.peek()) return
  liveStatus.value = 'connecting'
  const attempt = ++lastAttempt
  const token = await session.token().catch(() => null)
  if (attempt !== lastAttempt) return
  if (!token) return retry()
  hasLocations = locationListeners > 0
  const query = new URLSearchParams({
    types: [...LIVE_TYPES, ...(hasLocations ? [LOCATIONS] : [])].join(),
  })
  if (after !== null) query.set('after', String(after))
  const url = new URL(`/api/stream?${query}`, location.href)
  url.protocol = url.protocol.replace('http', 'ws')
  connection = openConnection(url.href, token, () => session.token())
  void read(connection, token)
}

const retry = () => {
  clearTimeout(retryTimer)
  liveStatus.value = 'waiting'
  const delay = Math.min(MAX_RETRY_MS, 500 * 2 ** retries++) * (0.7 + Math.random() * 0.6)
  retryTimer = setTimeout(connect, delay)
}

const closeConnection = () => {
  const open = connection
  connection = null
  open?.close()
}

const reconnect = () => {
  closeConnection()
  retries = 0
  void connect()
}

const releaseLocations = () => {
  clearTimeout(releaseTimer)
  releaseTimer = setTimeout(() => {
    if (locationListeners === 0 && hasLocations && connection) reconnect()
  }, RELEASE_LOCATIONS_MS)
}

export const live = {
  start: () => void connect(),

  stop(): void {
    clearTimeout(retryTimer)
    lastAttempt++
    closeConnection()
    liveStatus.value = 'off'
  },

  /**
   * Waits until the stream is open, but not for long. What is loaded afterwards misses no event: a
   * stream that opens later calls the handlers of `onGap`.
   */
  async opened(): Promise<void> {
    const deadline = Date.now() + MAX_OPENING_MS
    while (liveStatus.peek() !== 'live' && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 50))
    if (liveStatus.peek() !== 'live') hasStartedLate = true
  },

  /**
   * Calls the handler for events whose type is given, or begins with `device.` for `device.*`. A
   * passive one gets locations only while another handler asks for them.
   */
  on(types: readonly string[], handler: Handler, { isPassive = false } = {}): () => void {
    const wants = (type: string) =>
      types.some((one) =>
        one.endsWith('.*') ? type.startsWith(one.slice(0, -1)) : one === type || one === '*',
      )
    handlers.set(handler, wants)
    const isLocation = !isPassive && wants(LOCATIONS)
    if (isLocation && locationListeners++ === 0 && !hasLocations && connection) reconnect()
    return () => {
      handlers.delete(handler)
      if (isLocation && --locationListeners === 0) releaseLocations()
    }
  },

  /** Calls the handler when events were missed for good: what is shown must be loaded again. */
  onGap(handler: () => void): () => void {
    gapHandlers.add(handler)
    return () => gapHandlers.delete(handler)
  },
}

if (typeof addEventListener === 'function')
  addEventListener('online', () => {
    if (liveStatus.peek() === 'waiting') reconnect()
  })
