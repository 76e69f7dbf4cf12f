import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { accountWindow, addExtra } from '../../../src/auth/requestLimit.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import type { Reply } from '../../support/http.ts'
import { makeSource } from '../../support/sources.ts'
import { iso } from '../../support/time.ts'
import { createUser } from '../../support/users.ts'

const leftAfter = ({ headers }: Reply | Response): number =>
  Number(/r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1])

const xmlPush = (messages: number): string => {
  const list = Array.from(
    { length: messages },
    (_, n) =>
      `<stuMessage><esn>0-1</esn><unixTime>${1_790_000_000 + n}</unixTime><gps>N</gps>` +
      '<payload length="9" source="pc" encoding="hex">0xC0560D72DA4AB2445A</payload></stuMessage>',
  )
  return `<stuMessages messageID="1">${list.join('')}</stuMessages>`
}

const decodeXml = (account: TestAccount, messages = 300): Promise<Reply> =>
  account.call('POST', '/api/sources/decode', {
    body: { provider: 'globalstar', contentType: 'text/xml', body: xmlPush(messages) },
  })

const decodeMany = (account: TestAccount) => {
  let ended = 0
  const sent = Array.from({ length: 9 }, () => decodeXml(account))
  for (const one of sent) void one.then(() => ended++)
  return { sent, countEnded: () => ended }
}

test('hashes, payloads and spans count in the rate limit by what they cost', async () => {
  const account = await openAccount()
  const { id } = await createUser(account)
  const path = `/api/users/${id}`
  let left = leftAfter(await account.call('GET', path))
  const cost = async (send: () => Promise<Reply>): Promise<number> => {
    const reply = await send()
    expect(reply.status).toBe(200)
    const spent = left - leftAfter(reply)
    left -= spent
    return spent
  }
  expect(await cost(() => account.call('PATCH', path, { body: { name: 'Ana B' } }))).toBe(1)
  const password = 'correct horse battery'
  expect(await cost(() => account.call('PATCH', path, { body: { password } }))).toBe(4)
  const decode = (messages: number) => () => decodeXml(account, messages)
  expect(await cost(decode(10))).toBe(1)
  expect(await cost(decode(300))).toBe(3)
  const device = `/api/devices/${await createDevice(account)}`
  left = leftAfter(await account.call('GET', path))
  const span = new URLSearchParams({ from: iso(Date.now() - 86_400_000), to: iso(Date.now()) })
  expect(await cost(() => account.call('GET', `${device}/trips?${span}`))).toBe(1)
})

test('an account’s costly work waits for its own turn, and no other account does', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const { sent, countEnded } = decodeMany(account)
  const password = 'correct horse battery'
  await createUser(other, { password })
  expect((await other.call('GET', '/api/devices')).status).toBe(200)
  expect(countEnded()).toBeLessThan(9)
  for (const { status } of await Promise.all(sent)) expect(status).toBe(200)
})

test('small pushes are not behind a large one of their account', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const source = await makeSource(account, 'globalstar')
  const push = (messages: number) =>
    source.push({ body: xmlPush(messages), contentType: 'text/xml' })
  const first = await push(300)
  expect(first.status).toBe(200)
  expect((await other.call('GET', '/api/devices')).status).toBe(200)
  let isDone = false
  const second = push(301).then((reply) => {
    isDone = true
    return reply
  })
  expect((await push(1)).status).toBe(200)
  expect(isDone).toBe(false)
  expect((await second).status).toBe(200)
})

test('a large push does not wait for the account’s other work', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const source = await makeSource(account, 'globalstar')
  const { sent, countEnded } = decodeMany(account)
  expect((await other.call('GET', '/api/devices')).status).toBe(200)
  const push = await source.push({ body: xmlPush(300), contentType: 'text/xml' })
  expect(push.status).toBe(200)
  expect(countEnded()).toBeLessThan(9)
  await Promise.all(sent)
})

test('further pieces of costly work leave a fifth of the rate limit, too', () => {
  const now = Date.now()
  const accountId = crypto.randomUUID()
  const context = { env, executionCtx: { waitUntil: () => {} } }
  const window = accountWindow(accountId, now)
  for (const [before, after] of [
    [100, 150],
    [4780, 4800],
    [4900, 4900],
  ] as const) {
    window.count = before
    addExtra(context, accountId, now, { cost: 50, share: 0.8 })
    expect(window.count).toBe(after)
  }
})

test('costly work leaves a fifth of the rate limit to reports', async () => {
  const account = await openAccount()
  const { id } = await createUser(account)
  const source = await makeSource(account, 'globalstar')
  const limit = 6000
  accountWindow(account.id, Date.now()).count = 0.8 * limit
  const password = 'correct horse battery'
  const refused = await account.call('PATCH', `/api/users/${id}`, { body: { password } })
  expect([refused.status, refused.body.code]).toEqual([429, 'too-many-requests'])
  const push = await source.push({ body: xmlPush(300), contentType: 'text/xml' })
  expect(push.status).toBe(200)
})
