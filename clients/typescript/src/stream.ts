import type { ApiClient } from './apiClient.ts'
import { backoffMs, wait } from './backoff.ts'
import { isTemporary, PerigeeError } from './error.ts'
import { type Connection, openConnection } from './streamConnection.ts'
import type { TokenSource } from './tokens.ts'
import type { PerigeeEvent } from './types.ts'

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
  onGap?: ((gap: { after: number; oldest: number }) => void) | undefined
}

interface Context {
  client: ApiClient
  token: TokenSource
  options: StreamOptions
}

interface Position {
  after: number | undefined
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

/** Yields the events of one connection. An event counts as read when the next is asked for. */
async function* readConnection(connection: Connection, position: Position, options: StreamOptions) {
  for (;;) {
    const message = await connection.next(options.signal)
    if (message.type === 'closed') return message
    if (message.type === 'ready') {
      const { sequence, oldestSequence } = message
      if (oldestSequence > sequence + 1)
        options.onGap?.({ after: sequence, oldest: oldestSequence })
      position.after = sequence
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
  const position: Position = { after: options.after }
  if (typeof WebSocket === 'undefined') return yield* pollEvents(context, position)
  let refused: string | undefined
  for (let failures = 0; ; failures++) {
    options.signal?.throwIfAborted()
    let used: string | null = null
    let isReady = false
    try {
      used = await token(refused)
      const search = new URLSearchParams(queryOf(options, position) as Record<string, string>)
      const url = `${client.url.replace(/^http/, 'ws')}/api/stream?${search}`
      const connection = openConnection(url, used, token)
      try {
        const { code, reason } = yield* readConnection(connection, position, options)
        isReady = connection.isReady
        if (code === NOT_VALID || code === FORBIDDEN)
          throw new PerigeeError(reason || 'The stream was refused.', { status: code - 4000 })
        refused = code === UNAUTHORIZED && used !== null ? used : undefined
      } finally {
        connection.close()
      }
    } catch (error) {
      options.signal?.throwIfAborted()
      if (!isTemporary(error)) throw error
    }
    if (isReady) failures = 0
    else if (failures > 0) await checkAccess(context, position)
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
  if (!onGap || oldest <= after + 1) return
  // To a user of a group the log has gaps that are none.
  const { user } = await client.get('/api/me', { signal })
  if (!user?.group) onGap({ after, oldest })
}

/** For runtimes without WebSockets, such as Node 20: asks for new events every two seconds. */
async function* pollEvents(context: Context, position: Position) {
  const { client, options } = context
  const { types, signal } = options
  // The service logs `location.reported` only while someone is connected who wants it.
  const wanted = types?.find((type) => type.startsWith('location.'))
  if (wanted)
    throw new TypeError(
      `“${wanted}” needs a WebSocket: use Node 22 or newer, or node --experimental-websocket.`,
    )
  let isStarted = false
  for (let failures = 0; ; ) {
    try {
      if (!isStarted) await findStart(context, position)
      isStarted = true
      const query = queryOf(options, position)
      for await (const event of client.list('/api/events', { query, signal })) {
        yield event
        position.after = event.sequence
      }
      failures = 0
    } catch (error) {
      signal?.throwIfAborted()
      if (!isTemporary(error)) throw error
      isStarted = false
      failures++
    }
    await wait(failures > 0 ? backoffMs(failures, MAX_RETRY_MS) : POLL_MS, signal)
  }
}
