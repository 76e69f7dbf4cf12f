import { CLOSE, type Closing, readMessage } from '../domain/event/stream.ts'
import { closeSocket } from '../http/socket.ts'

const TOKEN_TIMEOUT_MS = 10_000
/** How much a client may send between its token and the feed's `ready`. */
const MAX_EARLY_MESSAGES = 16
const MAX_EARLY_BYTES = 65_536

const forward = (data: string | ArrayBuffer, from: WebSocket, to: WebSocket): void => {
  try {
    to.send(data)
  } catch {
    closeSocket(from, CLOSE.unavailable)
  }
}

const pipe = (from: WebSocket, to: WebSocket): void => {
  from.addEventListener('message', ({ data }) => forward(data, from, to))
  from.addEventListener('close', ({ code, reason }) => closeSocket(to, { code, reason }))
  from.addEventListener('error', () => closeSocket(to, CLOSE.unavailable))
}

/** Buffers the messages of a socket until the returned function forwards them to the feed. */
const bufferMessages = (socket: WebSocket): ((feed: WebSocket) => void) => {
  const buffered: (string | ArrayBuffer)[] = []
  let bytes = 0
  const buffer = ({ data }: MessageEvent) => {
    bytes += typeof data === 'string' ? data.length : data.byteLength
    if (buffered.length === MAX_EARLY_MESSAGES || bytes > MAX_EARLY_BYTES)
      return closeSocket(socket, CLOSE.badMessage)
    buffered.push(data)
  }
  socket.addEventListener('message', buffer)
  return (feed) => {
    socket.removeEventListener('message', buffer)
    for (const data of buffered) forward(data, socket, feed)
  }
}

/**
 * A socket for a client that sends its token in the first message. Until then its account is not
 * known, so the Worker keeps the socket; after that it forwards everything between client and feed.
 */
export const awaitToken = (
  connectToFeed: (token: string) => Promise<WebSocket | Closing>,
): WebSocket => {
  const { 0: client, 1: socket } = new WebSocketPair()
  socket.accept()
  const timer = setTimeout(() => closeSocket(socket, CLOSE.unauthorized), TOKEN_TIMEOUT_MS)
  socket.addEventListener('close', () => clearTimeout(timer))
  const readFirst = async ({ data }: MessageEvent) => {
    clearTimeout(timer)
    const message = readMessage(data)
    if (message?.type !== 'token') return closeSocket(socket, CLOSE.badMessage)
    const forwardBuffered = bufferMessages(socket)
    const feed = await connectToFeed(message.token).catch((): Closing => 'unavailable')
    if (typeof feed === 'string') return closeSocket(socket, CLOSE[feed])
    pipe(feed, socket)
    feed.accept()
    forwardBuffered(feed)
    pipe(socket, feed)
  }
  socket.addEventListener('message', (message) => void readFirst(message), { once: true })
  return client
}
