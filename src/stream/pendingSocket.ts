import { CLOSE, type Closing, readMessage } from '../domain/stream.ts'

const SHOW_TOKEN_WITHIN = 10_000
/** What may come between the token and the feed: more than anyone has to say before it is ready. */
const MAX_EARLY_MESSAGES = 16
const MAX_EARLY_BYTES = 65_536

const close = (socket: WebSocket, { code, reason }: { code: number; reason: string }): void => {
  try {
    // 1005 and 1006 tell that there was no code; nobody may send them.
    socket.close(code === 1005 || code === 1006 ? 1000 : code, reason)
  } catch {
    // Closed already.
  }
}

const pass = (data: string | ArrayBuffer, from: WebSocket, to: WebSocket): void => {
  try {
    to.send(data)
  } catch {
    close(from, CLOSE.unavailable)
  }
}

const pipe = (from: WebSocket, to: WebSocket): void => {
  from.addEventListener('message', ({ data }) => pass(data, from, to))
  from.addEventListener('close', ({ code, reason }) => close(to, { code, reason }))
  from.addEventListener('error', () => close(to, CLOSE.unavailable))
}

/** Keeps what a socket says from now on, until it is passed on to the feed by what this answers with. */
const bufferMessages = (socket: WebSocket): ((feed: WebSocket) => void) => {
  const early: (string | ArrayBuffer)[] = []
  let bytes = 0
  const keep = ({ data }: MessageEvent) => {
    bytes += typeof data === 'string' ? data.length : data.byteLength
    if (early.length === MAX_EARLY_MESSAGES || bytes > MAX_EARLY_BYTES)
      return close(socket, CLOSE.badMessage)
    early.push(data)
  }
  socket.addEventListener('message', keep)
  return (feed) => {
    socket.removeEventListener('message', keep)
    for (const data of early) pass(data, socket, feed)
  }
}

/**
 * For a caller that shows its token in the first message: until then nobody knows whose feed to ask, so the Worker holds the socket
 * and from then on passes everything on. `enter` leads to the feed, or says why not.
 */
export const awaitToken = (enter: (token: string) => Promise<WebSocket | Closing>): WebSocket => {
  const { 0: client, 1: socket } = new WebSocketPair()
  socket.accept()
  const late = setTimeout(() => close(socket, CLOSE.unauthorized), SHOW_TOKEN_WITHIN)
  socket.addEventListener('close', () => clearTimeout(late))
  const first = async ({ data }: MessageEvent) => {
    clearTimeout(late)
    const said = readMessage(data)
    if (said?.type !== 'token') return close(socket, CLOSE.badMessage)
    const passEarly = bufferMessages(socket)
    const feed = await enter(said.token).catch((): Closing => 'unavailable')
    if (typeof feed === 'string') return close(socket, CLOSE[feed])
    pipe(feed, socket)
    feed.accept()
    passEarly(feed)
    pipe(socket, feed)
  }
  socket.addEventListener('message', (message) => void first(message), { once: true })
  return client
}
