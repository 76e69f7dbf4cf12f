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
const retryAfter = ({ headers }: Reply) => Number(headers.get('Retry-After'))

/** The cookie that a reply gives to the browser for later sign-ins. */
const browserOf = ({ headers }: Reply): string =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith('__Secure-perigee_browser='))
    ?.split(';')[0] ?? ''

let address = 0
/** Each attempt comes from an address of its own. */
const attempt = (body: object, cookie?: string) =>
  postSignIn(body, {
    'CF-Connecting-IP': `198.51.${Math.floor(++address / 250)}.${address % 250}`,
    'X-Request-Id': 'the-same',
    ...(cookie !== undefined && { Cookie: cookie }),
  })

/** Guesses ten times; then there is a wait. */
const guess = async (account: TestAccount, user: Pick<SignInUser, 'email'>, cookie?: string) => {
  const wrong = { ...credentialsOf(account, user as SignInUser), password: WRONG }
  for (let count = 0; count < 10; count++) expect((await attempt(wrong, cookie)).status).toBe(401)
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
    await guess(account, user)
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
        for (let count = 0; count < 10; count++) await attempt({ ...body, password: WRONG })
        return attempt({ ...body, password: WRONG })
      }),
    )
    expect(replies.map(({ status }) => status)).toEqual([429, 429, 429])
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
  })

  test('the wait doubles up to a minute, and an hour later it is over', async () => {
    const account = await openAccount()
    const user = await createSignInUser(account)
    const wrong = await guess(account, user)
    const waits: number[] = []
    for (let count = 0; count < 8; count++) {
      const seconds = retryAfter(await attempt(wrong))
      waits.push(seconds)
      wait(seconds * 1000)
      expect((await attempt(wrong)).status).toBe(401)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    expect((await attempt(wrong)).status).toBe(429)
    wait(3_600_000)
    for (let count = 0; count < 3; count++) expect((await attempt(wrong)).status).toBe(401)
  })

  test('many at once do not pass together', async () => {
    const account = await openAccount()
    const user = await createSignInUser(account)
    const derive = vi.spyOn(crypto.subtle, 'deriveBits')
    const wrong = { ...credentialsOf(account, user), password: WRONG }
    const replies = await Promise.all(Array.from({ length: 25 }, () => attempt(wrong)))
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(15)
    expect(derive).toHaveBeenCalledTimes(10)
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

test('after a hundred wrong passwords for an account the next ones wait up to ten seconds', async () => {
  const account = await openAccount()
  const user = await createSignInUser(account)
  const known = browserOf(await attempt(credentialsOf(account, user)))
  const { userName } = account
  for (let count = 0; count < 100; count++) {
    const name = { userNameKey: userName, emailKey: `a${count}@example.com` }
    expect(await takeAttempt(openCell(env, 0), await countersOf(name, null), Date.now())).toBe(null)
  }
  expect((await attempt(credentialsOf(account, user))).status).toBe(429)
  expect((await attempt(credentialsOf(account, user), known)).status).toBe(200)
  const waits: number[] = []
  for (let count = 0; count < 6; count++) {
    const wrong = { ...credentialsOf(account, user), email: `b${count}@example.com` }
    const seconds = retryAfter(await attempt(wrong))
    waits.push(seconds)
    wait(seconds * 1000)
    expect((await attempt(wrong)).status).toBe(401)
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
