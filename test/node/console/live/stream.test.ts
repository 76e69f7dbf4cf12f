import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { load, replaceModule, restoreModules } from '../support/load.ts'

class FakeSocket {
  static readonly CONNECTING = 0
  static readonly OPEN = 1
  static opened: FakeSocket[] = []
  readyState = FakeSocket.OPEN
  sent: string[] = []
  #handlers = new Map<string, (event: object) => void>()

  constructor() {
    FakeSocket.opened.push(this)
  }

  addEventListener(type: string, handler: (event: object) => void) {
    this.#handlers.set(type, handler)
  }

  receive(message: object) {
    this.#handlers.get('message')?.({ data: JSON.stringify(message) })
  }

  send(message: string) {
    this.sent.push(message)
  }

  close() {
    this.readyState = 3
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  FakeSocket.opened = []
  vi.stubGlobal('location', { href: 'https://perigee.test/', pathname: '/', search: '' })
  vi.stubGlobal('WebSocket', FakeSocket)
  replaceModule('session/session.ts', {
    session: {
      isSignedIn: { peek: () => true },
      token: async () => 'token',
      discardToken: () => undefined,
    },
  })
})
afterEach(() => {
  restoreModules('session/session.ts')
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('a stream that does not answer is opened again, one that does is kept', async () => {
  const { live } = await load<{ live: { start: () => void; stop: () => void } }>('live/stream.ts')
  live.start()
  await vi.advanceTimersByTimeAsync(0)
  const [first] = FakeSocket.opened
  first?.receive({ type: 'ready', sequence: 1 })
  for (let round = 0; round < 3; round++) {
    await vi.advanceTimersByTimeAsync(25_000)
    first?.receive({ type: 'pong' })
  }
  expect(FakeSocket.opened).toHaveLength(1)
  expect(first?.sent).toHaveLength(3)

  await vi.advanceTimersByTimeAsync(51_000)
  expect(FakeSocket.opened).toHaveLength(2)
  expect(first?.readyState).toBe(3)
  live.stop()
})
