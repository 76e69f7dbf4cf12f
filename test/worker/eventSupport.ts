import { runDurableObjectAlarm } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { expect, vi } from 'vitest'
import { appendEvent } from '../../src/db/events.ts'
import { openCell } from '../../src/db/open.ts'
import type { TestAccount } from '../support/accounts.ts'
import { ORIGIN } from '../support/http.ts'
import type { ReceivedCall } from '../support/receivers.ts'
import { eventually } from '../support/time.ts'

export const feedStub = (account: TestAccount) => env.FEED.get(env.FEED.idFromName(account.id))

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire as it pleases
export type Event = any

/** A webhook receiver of the test's own. The URL says how it replies: see receivers.ts. */
export const receiver = () => {
  const box = crypto.randomUUID()
  const calls = async (): Promise<(ReceivedCall & { events: Event[] })[]> => {
    const kept = (await (await fetch(`https://receiver.example/${box}`)).json()) as ReceivedCall[]
    return kept.map((call) => ({ ...call, events: JSON.parse(call.body).events }))
  }
  return {
    url: (manner = 'ok') => `https://receiver.example/${box}/${manner}`,
    calls,
    release: () => fetch(`https://receiver.example/${box}`, { method: 'PUT' }),
    waitForCalls: (count: number) =>
      eventually(async () => {
        const received = await calls()
        expect(received.length).toBeGreaterThanOrEqual(count)
        return received
      }, 20),
  }
}

export const createWebhook = async (account: TestAccount, body: object) => {
  const reply = await account.call('POST', '/api/webhooks', { body })
  expect(reply.status, reply.text).toBe(201)
  return reply.body as { webhook: { id: string; url: string }; secret: string }
}

/** An open stream and all messages that it got. */
export class Listener {
  readonly socket: WebSocket
  readonly messages: Event[] = []
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

  get events(): Event[] {
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
  async waitForReady(): Promise<Event> {
    return this.until(() => {
      const ready = this.messages.find(({ type }) => type === 'ready')
      expect(ready ?? this.closed, 'neither ready nor closed').toBeTruthy()
      return ready
    })
  }

  waitForEvents(count: number): Promise<Event[]> {
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

/** Appends events to the log without poking the feed, as if every poke were lost. */
export const logUnheard = async (
  account: TestAccount,
  count: number,
  type = 'device.updated',
  deviceId: string | null = null,
) => {
  for (let left = count; left > 0; left -= 200) {
    const rows = Array.from({ length: Math.min(left, 200) }, () => crypto.randomUUID())
    const time = Date.now()
    const statements = rows.flatMap((row) =>
      appendEvent(openCell(env, 0), {
        accountId: account.id,
        id: `evt_${row}`,
        type,
        time,
        deviceId,
        data: { name: row },
      }),
    )
    await env.DB.batch(statements)
  }
}

/** Appends reports whose newest location is as large as possible, about 64 KB. */
export const logLargeReports = async (
  account: TestAccount,
  deviceId: string,
  count: number,
): Promise<void> => {
  const lists = [
    'accessoriesAttributes',
    'inputs',
    'outputs',
    'warningTexts',
    'alertTexts',
    'alerts',
    'warnings',
  ]
  const large = 'x'.repeat(8000)
  const rest = JSON.stringify({
    attributes: { large },
    ...Object.fromEntries(lists.map((name) => [name, [large]])),
  })
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)`
  const [first, time] = [await headOf(account), Date.now()]
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO locations (device_key, time, latitude, longitude, received_at, rest)
       ${numbers} SELECT d.key, ?2 + n, 1, 2, ?2, ?3 FROM numbers, devices d WHERE d.id = ?4`,
    ).bind(count, time, rest, deviceId),
    env.DB.prepare(
      `INSERT INTO events (account_id, sequence, id, type, time, device_id, data)
       ${numbers} SELECT ?2, ?3 + n, ?4 || '_' || (?3 + n), 'location.reported', ?5, ?4, json_object('time', ?5 + n, 'count', 1) FROM numbers`,
    ).bind(count, account.id, first, deviceId, time),
    env.DB.prepare('UPDATE event_heads SET sequence = sequence + ?1 WHERE account_id = ?2').bind(
      count,
      account.id,
    ),
  ])
}

export const headOf = async (account: TestAccount): Promise<number> =>
  (await env.DB.prepare('SELECT sequence FROM event_heads WHERE account_id = ?')
    .bind(account.id)
    .first<number>('sequence')) ?? 0

/** Moves the clock forward and runs the feed's alarm. */
export const passTime = async (account: TestAccount, ms: number): Promise<void> => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  await runDurableObjectAlarm(feedStub(account))
}

export const from = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n)
