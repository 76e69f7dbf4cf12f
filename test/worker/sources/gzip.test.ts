import { exports } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { gunzip } from '../../../src/http/body/gunzip.ts'
import { Problem } from '../../../src/http/contract/problem.ts'
import { openAccount } from '../../support/accounts.ts'
import { makeSource, type TestSource } from '../../support/sources.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const gzip = async (bytes: Uint8Array): Promise<Uint8Array> => {
  const packed = new Response(bytes).body?.pipeThrough(new CompressionStream('gzip'))
  return new Response(packed).bytes()
}

const send = async (
  { url }: TestSource,
  body: Uint8Array,
  headers: Record<string, string> = {},
) => {
  const reply = await exports.default.fetch(url, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip', ...headers },
  })
  const text = await reply.text()
  return { status: reply.status, code: text ? JSON.parse(text).code : '', headers: reply.headers }
}

const NOW = Math.floor(Date.now() / 1000)
const message = (at: number, members: object = {}) => ({
  ident: 'packed',
  timestamp: NOW - at,
  'position.latitude': 47.5,
  'position.longitude': 8.7,
  ...members,
})
const pack = (value: unknown) => gzip(bytesOf(JSON.stringify(value)))

test.each(['gzip', 'GZIP', 'x-gzip'])('a push with %s is decoded', async (encoding) => {
  const account = await openAccount()
  const source = await makeSource(account, 'flespi', { keepRaw: true })
  const sent = await send(source, await pack([message(1)]), { 'Content-Encoding': encoding })
  expect(sent.status).toBe(200)
  const { unclaimed } = (await account.call('GET', `/api/sources/${source.id}/unclaimed`)).body
  expect(unclaimed).toMatchObject([{ identifier: 'packed', count: 1 }])
  // What is kept is unpacked, so that a replay can read it.
  const span = { from: new Date((NOW - 60) * 1000), to: new Date((NOW + 60) * 1000) }
  const replayed = await account.call('POST', `/api/sources/${source.id}/replay`, { body: span })
  expect(replayed.body).toMatchObject({ decoded: 1, failed: 0 })
})

test('a push of many pieces arrives whole', async () => {
  const account = await openAccount()
  const source = await makeSource(account, 'flespi')
  const noise = () => Array.from(crypto.getRandomValues(new Uint8Array(2000)), String).join('')
  const messages = Array.from({ length: 40 }, (_, at) => message(at, { noise: noise() }))
  const packed = await pack(messages)
  expect(packed.byteLength).toBeGreaterThan(65_536)
  expect((await send(source, packed)).status).toBe(200)
  const { unclaimed } = (await account.call('GET', `/api/sources/${source.id}/unclaimed`)).body
  expect(unclaimed).toMatchObject([{ identifier: 'packed', count: 40 }])
})

test('unpacked it may have 1 MiB, packed 256 KiB', async () => {
  const source = await makeSource(await openAccount(), 'flespi')
  const padded = async (bytes: number) => gzip(bytesOf('[]'.padEnd(bytes, ' ')))
  expect((await send(source, await padded(1_048_576))).status).toBe(200)
  expect(await send(source, await padded(1_048_577))).toMatchObject({
    status: 413,
    code: 'body-too-large',
  })
  const noise = Array.from({ length: 5 }, () => crypto.getRandomValues(new Uint8Array(60_000)))
  const large = await gzip(Uint8Array.from(noise.flatMap((part) => [...part])))
  expect(large.byteLength).toBeGreaterThan(262_144)
  expect((await send(source, large)).status).toBe(413)
})

test('a bomb is refused, counts as many requests, and leaves the source as it is', async () => {
  const source = await makeSource(await openAccount(), 'flespi')
  const leftAfter = ({ headers }: { headers: Headers }) =>
    Number(/r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1])
  const before = leftAfter(await send(source, await pack([])))
  const bomb = await gzip(new Uint8Array(100_000_000))
  const bombs = await Promise.all(Array.from({ length: 4 }, () => send(source, bomb)))
  expect(bombs.map(({ status }) => status)).toEqual([413, 413, 413, 413])
  const after = leftAfter(await send(source, await pack([])))
  expect(before - after).toBeGreaterThanOrEqual(4 * 16)
})

test('of a bomb little more is unpacked than the limit', async () => {
  const bomb = await gzip(new Uint8Array(50_000_000))
  const pieces = vi.spyOn(bomb, 'subarray')
  const tooLarge = new Problem('body-too-large')
  await expect(gunzip(bomb, 1_000_000, tooLarge)).rejects.toBe(tooLarge)
  expect(bomb.byteLength / 2048).toBeGreaterThan(20)
  expect(pieces.mock.calls.length).toBeLessThan(4)
})

test('what is no gzip, or a part of it, is 400 and listed once a minute', async () => {
  const account = await openAccount()
  const source = await makeSource(account, 'flespi')
  const good = await pack([message(1)])
  const damaged = good.slice()
  damaged[20] = 255 - (damaged[20] ?? 0)
  for (const broken of [
    bytesOf('[]'),
    good.slice(0, -1),
    good.slice(0, 12),
    damaged,
    Uint8Array.from([...good, 0]),
  ])
    expect(await send(source, broken)).toMatchObject({ status: 400, code: 'malformed-body' })
  const { failures } = (await account.call('GET', `/api/sources/${source.id}/failures`)).body
  const reason = 'The body has not arrived completely, or is not well-formed gzip.'
  expect(failures).toMatchObject([{ reason, size: 2 }])
  // There is nothing to decode again: it stays a failure.
  const span = { from: new Date((NOW - 60) * 1000), to: new Date((NOW + 60) * 1000) }
  const replayed = await account.call('POST', `/api/sources/${source.id}/replay`, { body: span })
  expect(replayed.body).toMatchObject({ decoded: 0, failed: 1 })
})

test('a small push of half a million parts is one failure', async () => {
  const account = await openAccount()
  const source = await makeSource(account, 'owntracks')
  const packed = await gzip(bytesOf(`[${'1,'.repeat(524_000)}1]`))
  expect(packed.byteLength).toBeLessThan(3000)
  expect((await send(source, packed)).status).toBe(200)
  const { failures } = (await account.call('GET', `/api/sources/${source.id}/failures`)).body
  expect(failures).toMatchObject([{ reason: 'The payload has more than 10,000 parts.' }])
})

test('random bytes behind the header of gzip are refused or read, and never an error', async () => {
  const source = await makeSource(await openAccount(), 'flespi')
  const head = (await pack([])).slice(0, 10)
  for (let round = 0; round < 30; round++) {
    const tail = crypto.getRandomValues(new Uint8Array(round * 97))
    expect([200, 400, 413]).toContain(
      (await send(source, Uint8Array.from([...head, ...tail]))).status,
    )
  }
})
