import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { countersOf, takeAttempt } from '../../../src/sessions/attempts.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { call, type Reply } from '../../support/http.ts'
import {
  createSignInUser,
  credentialsOf,
  makeLink,
  PASSWORD,
  postSignIn,
  type SignInUser,
} from '../../support/sessions.ts'
import { createUser } from '../../support/users.ts'

const wait = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })

// The clock stands still: the first wait is only a second.
beforeEach(() => {
  wait(0)
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const WRONG = 'incorrect horse battery'
const ROUNDS_OF_A_HASH = 10
const retryAfter = ({ headers }: Reply) => Number(headers.get('Retry-After'))

/** The cookie that a reply gives to the browser for later sign-ins. */
const browserOf = ({ headers }: Reply): string =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith('__Secure-perigee_browser='))
    ?.split(';')[0] ?? ''

let address = 0
const newNetwork = () => `198.51.${Math.floor(++address / 250)}.${address % 250}`

/** Each attempt comes from a network of its own unless one is given. */
const attempt = (body: object, cookie?: string, network = newNetwork()) =>
  postSignIn(body, {
    'CF-Connecting-IP': network,
    'X-Request-Id': 'the-same',
    ...(cookie !== undefined && { Cookie: cookie }),
  })

/** Takes an attempt without the work of checking a password; the seconds to wait, or 0. */
const take = async (emailKey: string, network: string, userNameKey: string): Promise<number> => {
  const counters = await countersOf({ userNameKey, emailKey }, null, network)
  const taken = await takeAttempt(openCell(env, 0), counters, Date.now())
  return typeof taken === 'number' ? (taken - Date.now()) / 1000 : 0
}

const FREE = 10
/** So many more while the others wait, each from another network. */
const FREE_OF_NETWORKS = 6

/** Guesses until there is a wait. */
const guess = async (account: TestAccount, user: Pick<SignInUser, 'email'>, cookie?: string) => {
  const wrong = { ...credentialsOf(account, user as SignInUser), password: WRONG }
  const free = cookie === undefined ? FREE + FREE_OF_NETWORKS : FREE
  for (let count = 0; count < free; count++) expect((await attempt(wrong, cookie)).status).toBe(401)
  return wrong
}

describe('after ten wrong passwords for a user, from any addresses', () => {
  test('the next attempt waits, before any hash, even with the right one', async () => {
    const account = await openAccount()
    const user = await createSignInUser(account)
    await guess(account, user)
    const derive = vi.spyOn(crypto.subtle, 'deriveBits')
    const refused = await attempt(credentialsOf(account, user))
    expect([refused.status, refused.body.code]).toEqual([429, 'too-many-requests'])
    expect(retryAfter(refused)).toBe(1)
    expect(derive).not.toHaveBeenCalled()
    const other = await createSignInUser(account)
    expect((await attempt(credentialsOf(account, other))).status).toBe(200)
    wait(1000)
    expect((await attempt(credentialsOf(account, user))).status).toBe(200)
    // The right password starts the count again.
    const wrong = { ...credentialsOf(account, user), password: WRONG }
    for (let count = 0; count < FREE; count++) expect((await attempt(wrong)).status).toBe(401)
    expect((await attempt(wrong)).status).toBe(429)
  })

  test('the same holds for a user and an account that do not exist', async () => {
    const account = await openAccount()
    const user = await createSignInUser(account)
    const cases = [
      credentialsOf(account, user),
      { ...credentialsOf(account, user), email: `${crypto.randomUUID()}@example.com` },
      { ...credentialsOf(account, user), account: `no-${crypto.randomUUID()}` },
    ]
    const replies = await Promise.all(
      cases.map(async (body) => {
        for (let count = 0; count < FREE + FREE_OF_NETWORKS; count++)
          await attempt({ ...body, password: WRONG })
        return attempt({ ...body, password: WRONG })
      }),
    )
    expect(replies.map(({ status }) => status)).toEqual([429, 429, 429])
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
  })

  test('the wait doubles up to a minute, and an hour later it is over', async () => {
    const account = crypto.randomUUID()
    const takeNext = () => take('user@example.com', '203.0.113.9', account)
    for (let count = 0; count < FREE + 3; count++) expect(await takeNext()).toBe(0)
    const waits: number[] = []
    for (let count = 0; count < 8; count++) {
      const seconds = await takeNext()
      waits.push(seconds)
      wait(seconds * 1000)
      expect(await takeNext()).toBe(0)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    expect(await takeNext()).toBe(60)
    wait(3_600_000)
    for (let count = 0; count < 3; count++) expect(await takeNext()).toBe(0)
  })

  test('many at once do not pass together', async () => {
    const account = await openAccount()
    const user = await createSignInUser(account)
    const derive = vi.spyOn(crypto.subtle, 'deriveBits')
    const wrong = { ...credentialsOf(account, user), password: WRONG }
    const replies = await Promise.all(Array.from({ length: 25 }, () => attempt(wrong)))
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(FREE + FREE_OF_NETWORKS)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(9)
    expect(derive).toHaveBeenCalledTimes(ROUNDS_OF_A_HASH * (FREE + FREE_OF_NETWORKS))
  })
})

describe('a browser in which the user has signed in before', () => {
  test('does not wait for others, and has a count of its own', async () => {
    const account = await openAccount()
    const [user, other] = [await createSignInUser(account), await createSignInUser(account)]
    const first = await attempt(credentialsOf(account, user))
    const cookie = browserOf(first)
    expect(first.headers.getSetCookie().find((set) => set.startsWith(cookie))).toMatch(
      /; Max-Age=31536000; Path=\/api\/Auth; HttpOnly; Secure; SameSite=Strict$/,
    )
    await guess(account, user)
    const again = await attempt(credentialsOf(account, user), cookie)
    expect(again.status).toBe(200)
    // It stays the same browser.
    expect(browserOf(again)).toBe(cookie)
    const forged = `${cookie.slice(0, -2)}${cookie.endsWith('AA') ? 'BB' : 'AA'}`
    const ofOther = browserOf(await attempt(credentialsOf(account, other)))
    for (const unknown of [forged, ofOther, '__Secure-perigee_browser='])
      expect((await attempt(credentialsOf(account, user), unknown)).status).toBe(429)
    await guess(account, user, cookie)
    expect((await attempt(credentialsOf(account, user), cookie)).status).toBe(429)
  })

  test('can also be one in which the user has set the password by a link', async () => {
    const account = await openAccount()
    const user = await createUser(account, { email: `${crypto.randomUUID()}@example.com` })
    await guess(account, user)
    const link = await makeLink(account, user)
    const set = await call('POST', '/api/Auth/Password', { body: { link, password: PASSWORD } })
    expect(set.status, set.text).toBe(200)
    const credentials = credentialsOf(account, user)
    expect((await attempt(credentials)).status).toBe(429)
    expect((await attempt(credentials, browserOf(set))).status).toBe(200)
  })
})

describe('while the attempts for a user or an account wait', () => {
  test('an attacker who takes every turn does not keep other networks out', async () => {
    const account = await openAccount()
    const [user, other] = [await createSignInUser(account), await createSignInUser(account)]
    const [attacker, victim] = [newNetwork(), newNetwork()]
    for (let count = 0; count < FREE + 3; count++)
      expect(await take(user.email, attacker, account.userName)).toBe(0)
    for (let count = 0; count < 150; count++)
      await take(`invented${count}@example.com`, attacker, account.userName)
    expect((await attempt(credentialsOf(account, user), '', attacker)).status).toBe(429)
    expect((await attempt(credentialsOf(account, other), '', attacker)).status).toBe(429)
    for (let minute = 0; minute < 6; minute++) {
      wait(60_000)
      expect(await take(user.email, attacker, account.userName)).toBe(0)
      expect(await take(user.email, attacker, account.userName)).toBeGreaterThan(0)
      for (const named of [user, other])
        expect((await attempt(credentialsOf(account, named), '', victim)).status).toBe(200)
    }
  })

  test('a network has 3 attempts an hour for a user, and all together 6 a minute', async () => {
    const account = crypto.randomUUID()
    const takeFrom = (network: string) => take('user@example.com', network, account)
    for (let count = 0; count < FREE; count++) await takeFrom(newNetwork())
    // Leaves only what networks have of their own.
    await env.DB.prepare('UPDATE sign_in_attempts SET next_at = ? WHERE level > 9 AND at = ?')
      .bind(Date.now() + 7_200_000, Date.now())
      .run()
    const network = newNetwork()
    for (let count = 0; count < 3; count++) expect(await takeFrom(network)).toBe(0)
    expect(await takeFrom(network)).toBe(1200)
    for (let count = 0; count < 3; count++) expect(await takeFrom(newNetwork())).toBe(0)
    expect(await takeFrom(newNetwork())).toBe(10)
    let taken = 0
    for (let seconds = 0; seconds < 60; seconds += 5) {
      wait(5000)
      if ((await takeFrom(newNetwork())) === 0) taken++
    }
    expect(taken).toBe(6)
  })
})

test('after a hundred wrong passwords for an account the next ones wait up to ten seconds', async () => {
  const account = await openAccount()
  const user = await createSignInUser(account)
  const known = browserOf(await attempt(credentialsOf(account, user)))
  const network = newNetwork()
  let invented = 0
  const takeNext = () => take(`a${invented++}@example.com`, network, account.userName)
  // A hundred from anywhere, and ten that the network has of its own.
  for (let count = 0; count < 110; count++) expect(await takeNext()).toBe(0)
  expect((await attempt(credentialsOf(account, user), '', network)).status).toBe(429)
  expect((await attempt(credentialsOf(account, user), known, network)).status).toBe(200)
  const waits: number[] = []
  for (let count = 0; count < 6; count++) {
    const seconds = await takeNext()
    waits.push(seconds)
    wait(seconds * 1000)
    expect(await takeNext()).toBe(0)
  }
  expect(waits).toEqual([1, 2, 4, 8, 10, 10])
})

test('what was counted is deleted after a day, and names nobody', async () => {
  const account = await openAccount()
  const user = await createSignInUser(account)
  await env.DB.prepare('DELETE FROM sign_in_attempts').run()
  await attempt({ ...credentialsOf(account, user), password: WRONG })
  const rows = async () => (await env.DB.prepare('SELECT * FROM sign_in_attempts').all()).results
  expect(JSON.stringify(await rows())).not.toContain(user.email)
  expect(await rows()).toHaveLength(2)
  await sweep(env, Date.now() + 86_400_001)
  expect(await rows()).toEqual([])
})
