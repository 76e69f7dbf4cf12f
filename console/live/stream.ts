import { signal } from '@preact/signals'
import { isOnline } from '../api/send.ts'
import { session } from '../session/session.ts'

/*
 * The account's events as they happen. One WebSocket serves the whole console; it continues after a
 * disconnect with the last event it has seen.
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

interface Message {
  type: 'ready' | 'events' | 'token' | 'pong'
  ack?: string
  events?: LiveEvent[]
  sequence?: number
  oldestSequence?: number
  expires?: string
}

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
const PING = '{"type":"ping"}'
const PING_INTERVAL_MS = 25_000
const MAX_RETRY_MS = 30_000
const MAX_OPENING_MS = 2000
const UNAUTHORIZED = 4401
/** Locations cost the service rows, so the stream stops asking once no page wants them. */
const RELEASE_LOCATIONS_MS = 60_000

export const liveStatus = signal<Status>('off')

const handlers = new Map<Handler, (type: string) => boolean>()
const gapHandlers = new Set<() => void>()
let socket: WebSocket | null = null
let after: number | null = null
let lastAttempt = 0
/** A page has loaded its data before the first stream was open, and may have missed events. */
let hasStartedLate = false
let retries = 0
let retryTimer: ReturnType<typeof setTimeout> | undefined
let pingTimer: ReturnType<typeof setInterval> | undefined
let renewTimer: ReturnType<typeof setTimeout> | undefined
let releaseTimer: ReturnType<typeof setTimeout> | undefined
let locationListeners = 0
let hasLocations = false

const clearTimers = () => {
  clearTimeout(retryTimer)
  clearInterval(pingTimer)
  clearTimeout(renewTimer)
}

const dispatch = (event: LiveEvent) => {
  for (const [handler, wants] of [...handlers]) if (wants(event.type)) handler(event)
}

/** Sends a new token before the old one ends, so that the stream goes on. */
const scheduleRenewal = (open: WebSocket, expires: string | undefined) => {
  if (!expires) return
  clearTimeout(renewTimer)
  const delay = session.msUntil(expires) - 45_000
  renewTimer = setTimeout(
    async () => {
      const token = await session.token().catch(() => null)
      if (token && open.readyState === WebSocket.OPEN)
        open.send(JSON.stringify({ type: 'token', token }))
    },
    Math.max(delay, 1000),
  )
}

const receive = (open: WebSocket, message: Message) => {
  if (open !== socket) return
  if (message.type === 'ready') {
    retries = 0
    liveStatus.value = 'live'
    isOnline.value = true
    const { sequence = 0, oldestSequence = 0 } = message
    const hasGap = after === null ? hasStartedLate : oldestSequence > sequence + 1
    if (hasGap) for (const handler of gapHandlers) handler()
    after = sequence
  }
  if (message.expires) scheduleRenewal(open, message.expires)
  if (message.type !== 'events') return
  for (const event of message.events ?? []) {
    after = event.sequence
    dispatch(event)
  }
  if (message.ack) open.send(JSON.stringify({ type: 'ack', ack: message.ack }))
}

const connect = async () => {
  clearTimers()
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
  const open = new WebSocket(url, ['perigee', `bearer.${token}`])
  socket = open
  let isAnswered = true
  open.addEventListener('message', ({ data }) => {
    isAnswered = true
    receive(open, JSON.parse(String(data)))
  })
  open.addEventListener('close', ({ code }) => {
    if (socket !== open) return
    socket = null
    if (code === UNAUTHORIZED) session.discardToken(token)
    retry()
  })
  pingTimer = setInterval(() => {
    if (open.readyState !== WebSocket.OPEN) return
    // A connection that broke silently stays open for minutes, while nothing arrives by it.
    if (!isAnswered) return reconnect()
    isAnswered = false
    open.send(PING)
  }, PING_INTERVAL_MS)
}

const retry = () => {
  clearTimers()
  liveStatus.value = 'waiting'
  const delay = Math.min(MAX_RETRY_MS, 500 * 2 ** retries++) * (0.7 + Math.random() * 0.6)
  retryTimer = setTimeout(connect, delay)
}

/** A socket that is still opening is closed once it is open: browsers warn otherwise. */
const closeSocket = () => {
  const open = socket
  socket = null
  if (open?.readyState === WebSocket.CONNECTING)
    open.addEventListener('open', () => open.close(1000))
  else open?.close(1000)
}

const reconnect = () => {
  closeSocket()
  retries = 0
  void connect()
}

const releaseLocations = () => {
  clearTimeout(releaseTimer)
  releaseTimer = setTimeout(() => {
    if (locationListeners === 0 && hasLocations && socket) reconnect()
  }, RELEASE_LOCATIONS_MS)
}

export const live = {
  start: () => void connect(),

  stop(): void {
    clearTimers()
    lastAttempt++
    closeSocket()
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
    if (isLocation && locationListeners++ === 0 && !hasLocations && socket) reconnect()
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
