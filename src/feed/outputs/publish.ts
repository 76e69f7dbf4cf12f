import { payloadOf, toHttpUrl, topicOf } from '../../domain/output/mqtt.ts'
import {
  appendBytes,
  CONNACK,
  connectPacket,
  DISCONNECT,
  type Packet,
  PUBACK,
  publishPacket,
  readPacket,
} from '../../domain/output/mqttPackets.ts'
import type { OutputRecord, OutputSettings } from '../../domain/output/output.ts'
import { checkPublicUrl } from '../../domain/text/publicUrl.ts'
import { allowsLoopback, type Env } from '../../env.ts'
import type { AttemptResult } from '../webhooks/attempt.ts'
import { markProgress } from './progress.ts'

/* Publishes records by MQTT 3.1.1 over a WebSocket that is closed after each delivery. */

const TIMEOUT_MS = 15_000
/** The broker only confirms: a few bytes for each record. */
const MAX_RECEIVED_BYTES = 4096
const REFUSALS = ['', 'version', 'client id', 'unavailable', 'user name or password', 'not allowed']

class Refused extends Error {}

/** Packets in the order in which the broker sends them; fails once the socket is closed. */
class Connection {
  private received: Uint8Array = new Uint8Array()
  private size = 0
  private failure: Error | null = null
  private wake = () => {}
  private readonly socket: WebSocket

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('message', ({ data }) => this.receive(data))
    socket.addEventListener('close', () => this.fail(new Error('closed')))
    socket.addEventListener('error', () => this.fail(new Error('broken')))
    socket.accept()
  }

  fail(error: Error): void {
    this.failure ??= error
    this.wake()
  }

  private receive(data: unknown): void {
    if (this.failure) return
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : null
    this.size += bytes?.length ?? 0
    if (bytes && this.size <= MAX_RECEIVED_BYTES) this.received = appendBytes(this.received, bytes)
    else {
      this.failure = new Error('not a broker')
      this.socket.close()
    }
    this.wake()
  }

  send(bytes: Uint8Array): void {
    if (this.failure) throw this.failure
    this.socket.send(bytes)
  }

  async next(): Promise<Packet> {
    for (;;) {
      const found = readPacket(this.received)
      if (found) {
        this.received = found.rest
        return found.packet
      }
      if (this.failure) throw this.failure
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }
}

/** How far a publication has come. */
interface Progress {
  isConnected: boolean
  /** How many records the broker has confirmed. */
  confirmed: number
}

interface Publication {
  url: string
  settings: OutputSettings
  password: string | null
  records: OutputRecord[]
}

/** A client id of its own: two deliveries of a webhook do not end each other's connection. */
const newClientId = (): string => `perigee${crypto.randomUUID().replaceAll('-', '').slice(0, 16)}`

const publishAll = async (
  connection: Connection,
  publication: Publication,
  progress: Progress,
): Promise<void> => {
  const { settings, password, records } = publication
  const userName = settings.userName ?? null
  connection.send(connectPacket({ clientId: newClientId(), userName, password }))
  const { type, body } = await connection.next()
  if (type !== CONNACK || body.length !== 2) throw new Error('not a broker')
  const code = body[1] ?? 0
  if (code !== 0) throw new Refused(`CONNACK ${code} ${REFUSALS[code] ?? ''}`.trim())
  progress.isConnected = true
  for (const [index, record] of records.entries()) {
    const packetId = index + 1
    connection.send(publishPacket(packetId, topicOf(record.device, settings), payloadOf(record)))
    const reply = await connection.next()
    const confirmed = ((reply.body[0] ?? 0) << 8) + (reply.body[1] ?? 0)
    if (reply.type !== PUBACK || confirmed !== packetId) throw new Error('not confirmed')
    progress.confirmed = packetId
  }
  connection.send(DISCONNECT)
}

/** The same checks as for other receivers, and one time limit for all of it. */
export const publishRecords = async (
  env: Env,
  publication: Publication,
): Promise<AttemptResult> => {
  const startedAt = Date.now()
  const result = (more: Partial<AttemptResult>): AttemptResult => ({
    responseCode: null,
    failure: null,
    answer: null,
    durationMs: Date.now() - startedAt,
    ...more,
  })
  const url = toHttpUrl(publication.url)
  if (!checkPublicUrl(url, allowsLoopback(env)).ok) return result({ failure: 'refused-url' })
  const controller = new AbortController()
  let connection: Connection | undefined
  let socket: WebSocket | null = null
  let responseCode: number | null = null
  const progress = { isConnected: false, confirmed: 0 }
  const timeout = new DOMException('', 'TimeoutError')
  const timer = setTimeout(() => {
    connection?.fail(timeout)
    controller.abort(timeout)
  }, TIMEOUT_MS)
  try {
    const headers = {
      Upgrade: 'websocket',
      'Sec-WebSocket-Protocol': 'mqtt',
      'User-Agent': 'Perigee-Webhooks/1',
    }
    const { signal } = controller
    const response = await fetch(url, { headers, redirect: 'manual', signal })
    responseCode = response.status
    socket = response.webSocket
    if (!socket) {
      void response.body?.cancel().catch(() => {})
      const isRedirect = responseCode >= 300 && responseCode < 400
      return result({ responseCode, failure: isRedirect ? 'redirect' : 'status' })
    }
    connection = new Connection(socket)
    await publishAll(connection, publication, progress)
    return result({ responseCode })
  } catch (error) {
    if (error instanceof Refused)
      return result({ responseCode, failure: 'status', answer: error.message })
    const unconnected = (error as Error).name === 'TimeoutError' ? 'timeout' : 'unreachable'
    // Silence or a closed connection: either may be due to the record.
    const failure = progress.isConnected ? 'unconfirmed' : unconnected
    const failed = result({ responseCode, failure })
    const rest = publication.records.slice(progress.confirmed)
    return markProgress(failed, result({ responseCode }), { of: publication.records, rest })
  } finally {
    clearTimeout(timer)
    try {
      socket?.close(1000)
    } catch {
      // The broker has closed it already.
    }
  }
}
