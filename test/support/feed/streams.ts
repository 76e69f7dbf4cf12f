import { runInDurableObject } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { expect } from 'vitest'
import type { Subscriber } from '../../../src/feed/streams/subscriber.ts'
import type { TestAccount } from '../accounts.ts'
import { ORIGIN } from '../http.ts'
import { eventually } from '../time.ts'
import { makeToken, readToken } from '../tokens.ts'
import type { EventBody } from './events.ts'
import { feedStub } from './feed.ts'

/** An open stream and all messages that it got. */
export class Listener {
  readonly socket: WebSocket
  readonly messages: EventBody[] = []
  closed: { code: number; reason: string } | null = null

  constructor(socket: WebSocket, acknowledges = true) {
    this.socket = socket
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(data as string)
      this.messages.push(message)
      if (acknowledges && message.type === 'events' && socket.readyState === WebSocket.OPEN)
        this.send({ type: 'ack', ack: message.ack })
    })
    socket.addEventListener('close', ({ code, reason }) => {
      this.closed = { code, reason }
    })
    socket.accept()
  }

  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  get events(): EventBody[] {
    return this.messages.flatMap((message) => (message.type === 'events' ? message.events : []))
  }

  /** The ack of each message with events. */
  get acks(): string[] {
    return this.messages.flatMap(({ type, ack }) => (type === 'events' ? [ack] : []))
  }

  get sequences(): number[] {
    return this.events.map(({ sequence }) => sequence)
  }

  until<T>(check: () => T): Promise<T> {
    return eventually(check, 5)
  }

  /** The `ready` message; undefined if the stream was closed instead. */
  async waitForReady(): Promise<EventBody> {
    return this.until(() => {
      const ready = this.messages.find(({ type }) => type === 'ready')
      expect(ready ?? this.closed, 'neither ready nor closed').toBeTruthy()
      return ready
    })
  }

  waitForEvents(count: number): Promise<EventBody[]> {
    return this.until(() => {
      expect(this.events.length).toBeGreaterThanOrEqual(count)
      return this.events
    })
  }

  waitForClose(): Promise<{ code: number; reason: string }> {
    return this.until(() => {
      if (!this.closed) throw new Error('still open')
      return this.closed
    })
  }
}

export const upgrade = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  exports.default.fetch(`${ORIGIN}${path}`, { headers: { Upgrade: 'websocket', ...headers } })

export interface Listening {
  query?: string
  token?: string
  acknowledges?: boolean
}

export const listen = async (
  account: TestAccount,
  { query = '', token = account.token, acknowledges = true }: Listening = {},
) => {
  const response = await upgrade(`/api/stream${query}`, {
    'Sec-WebSocket-Protocol': `perigee, bearer.${token}`,
  })
  if (!response.webSocket) throw new Error(`no socket: ${response.status} ${await response.text()}`)
  const listener = new Listener(response.webSocket, acknowledges)
  await listener.waitForReady()
  return listener
}

/** The type and name of each event that a stream got. */
export const namesOf = (stream: Listener) =>
  stream.events.map(({ type, data }) => `${type} ${data.name}`)

/** The state of the account's open streams. */
export const subscribersOf = (account: TestAccount): Promise<Subscriber[]> =>
  runInDurableObject(feedStub(account), (_, state) =>
    state.getWebSockets().map((socket) => socket.deserializeAttachment()),
  )

/** The account's token with another lifetime: it was issued 30 seconds ago. */
export const tokenExpiringIn = async (account: TestAccount, seconds: number): Promise<string> => {
  const { header, claims } = readToken(account.token)
  const now = Math.floor(Date.now() / 1000)
  return makeToken(header, { ...claims, iat: now - 30, exp: now - 30 + seconds }, env.TOKEN_SECRET)
}
