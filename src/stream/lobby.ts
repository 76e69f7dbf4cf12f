import { CLOSE, type Closing, readMessage } from '../domain/stream.ts'

const SHOW_TOKEN_WITHIN = 10_000

const close = (socket: WebSocket, { code, reason }: { code: number; reason: string }): void => {
  try {
    // 1005 and 1006 tell that there was no code; nobody may send them.
    socket.close(code === 1005 || code === 1006 ? 1000 : code, reason)
  } catch {
    // Closed already.
  }
}

const pipe = (from: WebSocket, to: WebSocket): void => {
  from.addEventListener('message', ({ data }) => {
    try {
      to.send(data)
    } catch {
      close(from, CLOSE.unavailable)
    }
  })
  from.addEventListener('close', ({ code, reason }) => close(to, { code, reason }))
  from.addEventListener('error', () => close(to, CLOSE.unavailable))
}

/**
 * For a caller that shows its token in the first message: until then nobody knows whose feed to ask, so the Worker holds the socket
 * and from then on passes everything on. `enter` leads to the feed, or says why not.
 */
export const waitInLobby = (enter: (token: string) => Promise<WebSocket | Closing>): WebSocket => {
  const { 0: client, 1: socket } = new WebSocketPair()
  socket.accept()
  const late = setTimeout(() => close(socket, CLOSE.unauthorized), SHOW_TOKEN_WITHIN)
  socket.addEventListener('close', () => clearTimeout(late))
  const first = async ({ data }: MessageEvent) => {
    clearTimeout(late)
    const said = readMessage(data)
    if (said?.type !== 'token') return close(socket, CLOSE.badMessage)
    const feed = await enter(said.token).catch((): Closing => 'unavailable')
    if (typeof feed === 'string') return close(socket, CLOSE[feed])
    pipe(feed, socket)
    pipe(socket, feed)
    feed.accept()
  }
  socket.addEventListener('message', (message) => void first(message), { once: true })
  return client
}
