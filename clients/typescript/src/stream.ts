import type { ApiClient } from './apiClient.ts'
import { backoffMs, unlessAborted, wait } from './backoff.ts'
import { isTemporary, PerigeeError } from './error.ts'
import { type Connection, openConnection } from './streamConnection.ts'
import type { TokenSource } from './tokens.ts'
import type { PerigeeEvent } from './types.ts'

interface Gap {
  after: number
  oldest: number
}

export interface StreamOptions {
  /**
   * Types such as `device.*` and `alert.raised`. Default: all, but without `WebSocket` (Node 20) no
   * `location.reported`.
   */
  types?: readonly string[] | undefined
  /** Only events of these devices, or of devices in `groups`. */
  devices?: readonly string[] | undefined
  groups?: readonly string[] | undefined
  /** Starts after the event with this `sequence`. Default: with the next event. */
  after?: number | undefined
  signal?: AbortSignal | undefined
  /** Called if events between `after` and `oldest` are no longer stored. */
  onGap?: ((gap: Gap) => void) | undefined
  /** Called if a connection ended or could not be opened, before another is tried. */
  onDisconnect?: ((error: PerigeeError) => void) | undefined
}

interface Context {
  client: ApiClient
  token: TokenSource
  options: StreamOptions
}

interface Position {
  after: number | undefined
  /** True after the first connection. */
  hasStarted: boolean
}

const MAX_RETRY_MS = 30_000
const POLL_MS = 2000
const NOT_VALID = 4400
const UNAUTHORIZED = 4401
const FORBIDDEN = 4403

const queryOf = ({ types, devices, groups }: StreamOptions, { after }: Position) => ({
  ...(after !== undefined && { after }),
  ...(types && { types: types.join() }),
  ...(devices && { devices: devices.join() }),
  ...(groups && { groups: groups.join() }),
})

/**
 * True if events are missing. A filtered stream that resumes does not know how far it has read:
 * only its own events move `after`. Its first connection does.
 */
const isGap = ({ after, oldest }: Gap, position: Position, options: StreamOptions): boolean => {
  const { types, devices, groups } = options
  const isFiltered = [types, devices, groups].some((filter) => filter && filter.length > 0)
  return oldest > after + 1 && !(position.hasStarted && isFiltered)
}

/** Yields the events of one connection. An event counts as read when the next is asked for. */
async function* readConnection(connection: Connection, position: Position, options: StreamOptions) {
  for (;;) {
    const message = await connection.next(options.signal)
    if (message.type === 'closed') return message
    if (message.type === 'ready') {
      const { sequence, oldestSequence } = message
      const gap = { after: sequence, oldest: oldestSequence }
      if (isGap(gap, position, options)) options.onGap?.(gap)
      position.after = sequence
      position.hasStarted = true
      continue
    }
    for (const event of message.events) {
      yield event
      position.after = event.sequence
    }
    connection.acknowledge(message.ack)
  }
}

/**
 * Throws if no later attempt can succeed. A `WebSocket` does not show why a connection was refused; a
 * call with the same token and filter does.
 */
const checkAccess = async ({ client, options }: Context, position: Position): Promise<void> => {
  const query = { ...queryOf(options, position), limit: 1 }
  try {
    await client.get('/api/events', { query, signal: options.signal })
  } catch (error) {
    if (!isTemporary(error)) throw error
  }
}

/** The events as they happen. It connects again after a disconnect and continues where it was. */
export async function* streamEvents(context: Context): AsyncGenerator<PerigeeEvent, void> {
  const { client, token, options } = context
  const position: Position = { after: options.after, hasStarted: false }
  if (typeof WebSocket === 'undefined') return yield* pollEvents(context, position)
  let refused: string | undefined
  for (let failures = 0; ; failures++) {
    options.signal?.throwIfAborted()
    let used: string | null = null
    let isReady = false
    let cause: PerigeeError
    try {
      used = await unlessAborted(token(refused), options.signal)
      const search = new URLSearchParams(queryOf(options, position) as Record<string, string>)
      const url = `${client.url.replace(/^http/, 'ws')}/api/stream?${search}`
      const connection = openConnection(url, used, token)
      try {
        const { code, reason } = yield* readConnection(connection, position, options)
        isReady = connection.isReady
        if (code === NOT_VALID || code === FORBIDDEN)
          throw new PerigeeError(reason || 'The stream was refused.', { status: code - 4000 })
        refused = code === UNAUTHORIZED && used !== null ? used : undefined
        cause = new PerigeeError(reason || `The connection was closed (${code}).`)
      } finally {
        connection.close()
      }
    } catch (error) {
      options.signal?.throwIfAborted()
      if (!isTemporary(error)) throw error
      cause = error
    }
    if (isReady) failures = 0
    else if (failures > 0) await checkAccess(context, position)
    options.onDisconnect?.(cause)
    await wait(backoffMs(failures, MAX_RETRY_MS), options.signal)
  }
}

/** Where to start, and whether something before is no longer stored. */
const findStart = async ({ client, options }: Context, position: Position): Promise<void> => {
  const { signal, onGap } = options
  const query = { limit: 1 }
  const { events, lastSequence } = await client.get('/api/events', { query, signal })
  position.after ??= lastSequence
  const after = position.after
  const oldest = events[0]?.sequence ?? lastSequence + 1
  const gap = { after, oldest }
  if (onGap && isGap(gap, position, options)) {
    // To a user of a group the log has gaps that are none.
    const { user } = await client.get('/api/me', { signal })
    if (!user?.group) onGap(gap)
  }
  position.hasStarted = true
}

/** For runtimes without WebSockets, such as Node 20: asks for new events every two seconds. */
async function* pollEvents(context: Context, position: Position) {
  const { client, options } = context
  const { types, signal, onDisconnect } = options
  // The service logs `location.reported` only while someone is connected who wants it.
  const wanted = types?.find((type) => type.startsWith('location.'))
  if (wanted)
    throw new TypeError(
      `“${wanted}” needs a WebSocket: use Node 22 or newer, or node --experimental-websocket.`,
    )
  let isConnected = false
  for (let failures = 0; ; ) {
    try {
      if (!isConnected) await findStart(context, position)
      isConnected = true
      const query = queryOf(options, position)
      for await (const event of client.list('/api/events', { query, signal })) {
        yield event
        position.after = event.sequence
      }
      failures = 0
    } catch (error) {
      signal?.throwIfAborted()
      if (!isTemporary(error)) throw error
      isConnected = false
      failures++
      onDisconnect?.(error)
    }
    await wait(failures > 0 ? backoffMs(failures, MAX_RETRY_MS) : POLL_MS, signal)
  }
}
