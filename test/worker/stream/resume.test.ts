import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { from, headOf, logWithoutPoke } from '../../support/feed/events.ts'
import { feedStub, passTime } from '../../support/feed/feed.ts'
import { Listener, listen, namesOf, upgrade } from '../../support/feed/streams.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('resuming', () => {
  test('a stream with after continues over many pages without a gap or a repeat', async () => {
    const account = await openAccount()
    await createDevice(account, 'Tern')
    const start = await headOf(account)
    await logWithoutPoke(account, 1300)
    const stream = await listen(account, { query: `?after=${start + 5}` })
    await stream.waitForEvents(1295)
    await createDevice(account, 'Later')
    await stream.waitForEvents(1296)
    expect(stream.sequences).toEqual(from(start + 6, start + 1301))
  })

  test('closing and resuming during a burst of events misses and repeats nothing', async () => {
    const account = await openAccount({ licenses: 100 })
    const first = await listen(account)
    const head = await headOf(account)
    const requests = Promise.all(
      Array.from({ length: 60 }, (_, n) => createDevice(account, `Tern ${n}`)),
    )
    await first.waitForEvents(10)
    first.socket.close()
    const seen = first.sequences
    const second = await listen(account, { query: `?after=${seen.at(-1)}` })
    await requests
    await second.waitForEvents(60 - seen.length)
    expect([...seen, ...second.sequences]).toEqual(from(head + 1, head + 60))
  })

  test('ready says where the stream starts and the first and last event of the log', async () => {
    const account = await openAccount()
    await logWithoutPoke(account, 5)
    const head = await headOf(account)
    await env.DB.prepare('DELETE FROM events WHERE account_id = ? AND sequence < ?')
      .bind(account.id, head - 1)
      .run()
    const stream = await listen(account, { query: '?after=0' })
    expect(await stream.waitForReady()).toMatchObject({
      sequence: 0,
      lastSequence: head,
      oldestSequence: head - 1,
      expires: expect.any(String),
    })
    await stream.waitForEvents(2)
    expect(stream.sequences).toEqual([head - 1, head])
  })

  test('ready says that nothing is stored once all events are deleted', async () => {
    const account = await openAccount()
    await logWithoutPoke(account, 5)
    const head = await headOf(account)
    await env.DB.prepare('DELETE FROM events WHERE account_id = ?').bind(account.id).run()
    const stream = await listen(account, { query: '?after=0' })
    expect(await stream.waitForReady()).toMatchObject({
      lastSequence: head,
      oldestSequence: head + 1,
    })
  })

  test('a stream with after beyond the last event is closed', async () => {
    const account = await openAccount()
    const { webSocket } = await upgrade('/api/stream?after=999999', {
      'Sec-WebSocket-Protocol': `perigee, bearer.${account.token}`,
    })
    expect((await new Listener(webSocket as WebSocket).waitForClose()).code).toBe(4400)
    const pending = new Listener((await upgrade('/api/stream?after=999999')).webSocket as WebSocket)
    pending.send({ type: 'token', token: account.token })
    pending.send('{"type":"ping"}')
    expect((await pending.waitForClose()).code).toBe(4400)
  })
})

describe('hibernation and crashes', () => {
  test('a hibernated feed wakes for an event and sends it to its streams', async () => {
    const account = await openAccount()
    const stream = await listen(account, { query: '?types=device.*' })
    await createDevice(account, 'Before')
    await stream.waitForEvents(1)
    await evictDurableObject(feedStub(account))
    await createDevice(account, 'After')
    await stream.waitForEvents(2)
    expect(namesOf(stream)).toEqual(['device.created Before', 'device.created After'])
    await evictDurableObject(feedStub(account))
    await logWithoutPoke(account, 1)
    await passTime(account, 21_000)
    await stream.waitForEvents(3)
    expect(stream.sequences).toEqual(from(stream.sequences[0] ?? 0, (stream.sequences[0] ?? 0) + 2))
  })

  test('a ping is answered without waking the feed', async () => {
    const account = await openAccount()
    const stream = await listen(account)
    await evictDurableObject(feedStub(account))
    stream.send('{"type":"ping"}')
    await stream.until(() => expect(stream.messages.at(-1)).toEqual({ type: 'pong' }))
    // Evicting fails because the feed does not run.
    await expect(evictDurableObject(feedStub(account))).rejects.toThrow()
  })

  test('crashes during a burst of events cause neither a gap nor a repeat', async () => {
    const account = await openAccount({ licenses: 100 })
    const head = await headOf(account)
    const requests = Array.from({ length: 40 }, (_, n) => createDevice(account, `Tern ${n}`))
    const seen: number[] = []
    for (let round = 0; seen.length < 40 && round < 50; round++) {
      const stream = await listen(account, { query: `?after=${seen.at(-1) ?? head}` })
      await stream.waitForEvents(1)
      if (round < 3)
        await evictDurableObject(feedStub(account), { webSockets: 'close' }).catch(() => {})
      seen.push(...stream.sequences)
      stream.socket.close()
    }
    await Promise.all(requests)
    expect(seen).toEqual(from(head + 1, head + 40))
  })

  test('after a lost poke the alarm sends the events', async () => {
    const account = await openAccount()
    const stream = await listen(account)
    await logWithoutPoke(account, 3)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(stream.events).toEqual([])
    await passTime(account, 21_000)
    await stream.waitForEvents(3)
  })
})
