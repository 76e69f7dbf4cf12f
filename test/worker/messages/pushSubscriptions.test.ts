import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { type Caller, eraseAccount, openAccount, type TestAccount } from '../../support/accounts.ts'
import {
  type Browser,
  listSubscriptions,
  makeBrowser,
  PUSH_PATH,
  subscribe,
} from '../../support/alerts/push.ts'
import { call, callAsOperator } from '../../support/http.ts'
import {
  createSignInUser,
  makeLink,
  PASSWORD,
  postWithCookie,
  refresh,
  type SignInUser,
  signIn,
} from '../../support/sessions.ts'
import { createBoundUser, createUser } from '../../support/users.ts'

const start = async (members: object = {}) => {
  const account = await openAccount()
  const user = await createSignInUser(account, members)
  return { account, user, session: await signIn(account, user) }
}

const idsOf = async (user: Caller): Promise<string[]> =>
  (await listSubscriptions(user)).map(({ id }: { id: string }) => id)

/** The rows of an account, also those of users who cannot ask any more. */
const rowsOf = async ({ id }: TestAccount) => {
  const rows = env.DB.prepare('SELECT * FROM push_subscriptions WHERE account_id = ?').bind(id)
  return (await rows.all<Record<string, unknown>>()).results
}

describe('a subscription', () => {
  test('is stored, listed with the host of its endpoint alone, and deleted', async () => {
    const { session } = await start()
    const browser = await makeBrowser()
    const made = await subscribe(session, browser, { 'User-Agent': 'Test/2.0' })
    expect(made.status, made.text).toBe(201)
    const { pushSubscription } = made.body
    expect(made.headers.get('Location')).toBe(`${PUSH_PATH}/${pushSubscription.id}`)
    expect(pushSubscription).toEqual({
      id: expect.stringMatching(/^psh_\w{22}$/),
      endpoint: 'push.example',
      userAgent: 'Test/2.0',
      creation: expect.any(String),
      current: true,
    })
    expect(await listSubscriptions(session)).toEqual([pushSubscription])
    const path = `${PUSH_PATH}/${pushSubscription.id}`
    expect((await session.call('DELETE', path)).body).toEqual({ success: true })
    expect(await listSubscriptions(session)).toEqual([])
    expect((await session.call('DELETE', path)).body.code).toBe('subscription-not-found')
  })

  test('that is made again is the same one, of the session that made it last', async () => {
    const { account, user, session } = await start()
    const browser = await makeBrowser()
    const [first, again] = [await subscribe(session, browser), await subscribe(session, browser)]
    expect([again.status, again.body]).toEqual([201, first.body])
    const later = await signIn(account, user)
    expect((await listSubscriptions(later))[0].current).toBe(false)
    await subscribe(later, browser)
    expect(await listSubscriptions(later)).toMatchObject([
      { id: first.body.pushSubscription.id, current: true },
    ])
  })

  test('keeps the key that it was made with, unless the browser has made new ones', async () => {
    const { account, session } = await start()
    const browser = await makeBrowser()
    await subscribe(session, browser)
    const keyOf = async () => (await rowsOf(account))[0]?.key_id
    const before = await keyOf()
    await callAsOperator('POST', '/admin/push/rotateKey')
    await subscribe(session, browser)
    expect(await keyOf()).toBe(before)
    const { keys } = (await makeBrowser()).subscription
    const renewed: Browser = { ...browser, subscription: { ...browser.subscription, keys } }
    await subscribe(session, renewed)
    expect(await rowsOf(account)).toHaveLength(1)
    expect(await keyOf()).not.toBe(before)
  })

  test('of a browser goes to the user who signs in there next', async () => {
    const { account, session } = await start()
    const next = await signIn(account, await createSignInUser(account))
    const browser = await makeBrowser()
    await subscribe(session, browser)
    await subscribe(next, browser)
    expect(await listSubscriptions(session)).toEqual([])
    expect(await listSubscriptions(next)).toHaveLength(1)
  })

  test('of a browser that is used in two accounts is one in each', async () => {
    const [one, other] = [await start(), await start()]
    const browser = await makeBrowser()
    const { id } = (await subscribe(one.session, browser)).body.pushSubscription
    const { id: otherId } = (await subscribe(other.session, browser)).body.pushSubscription
    expect(otherId).not.toBe(id)
    await other.session.call('DELETE', `${PUSH_PATH}/${otherId}`)
    expect(await idsOf(one.session)).toEqual([id])
    expect(await idsOf(other.session)).toEqual([])
  })

  test('is one of at most ten: the eleventh replaces the one made first', async () => {
    const { account, session } = await start()
    const colleague = await signIn(account, await createSignInUser(account))
    await subscribe(colleague, await makeBrowser())
    const made: string[] = []
    for (let count = 0; count < 11; count++) {
      const { body } = await subscribe(session, await makeBrowser())
      made.push(body.pushSubscription.id)
      await scheduler.wait(2)
    }
    expect(new Set(await idsOf(session))).toEqual(new Set(made.slice(1)))
    expect(await idsOf(colleague)).toHaveLength(1)
  })

  test('is unknown to other users and accounts', async () => {
    const [{ account, session }, other] = [await start(), await start()]
    const { id } = (await subscribe(session, await makeBrowser())).body.pushSubscription
    const colleague = await signIn(account, await createSignInUser(account))
    const admin = await createBoundUser(account, { privileges: ['admin'] })
    for (const caller of [colleague, admin, other.session]) {
      expect(await listSubscriptions(caller)).toEqual([])
      const reply = await caller.call('DELETE', `${PUSH_PATH}/${id}`)
      expect([reply.status, reply.body.code]).toEqual([404, 'subscription-not-found'])
    }
    expect(await idsOf(session)).toEqual([id])
  })

  test('wants a user: a key without one is refused, a bound one is not', async () => {
    const account = await openAccount()
    const browser = await makeBrowser()
    const refused = [
      await account.call('GET', PUSH_PATH),
      await subscribe(account, browser),
      await account.call('DELETE', `${PUSH_PATH}/psh_none`),
    ]
    for (const { status, body } of refused) expect([status, body.code]).toEqual([403, 'forbidden'])
    const bound = await createBoundUser(account, {}, { scopes: ['read'] })
    expect((await subscribe(bound, browser)).status).toBe(201)
    expect(await listSubscriptions(bound)).toMatchObject([{ current: false }])
  })

  test('is refused with an endpoint that must not be called, or with wrong keys', async () => {
    const { account, session } = await start()
    const { subscription } = await makeBrowser()
    const { keys } = subscription
    const bodies: [object, string][] = [
      [{ endpoint: 'http://push.example/1' }, '/endpoint'],
      [{ endpoint: 'https://10.0.0.1/1' }, '/endpoint'],
      [{ endpoint: 'https://[::1]/1' }, '/endpoint'],
      [{ endpoint: 'https://127.0.0.1/1' }, '/endpoint'],
      [{ endpoint: 'https://localhost/1' }, '/endpoint'],
      [{ endpoint: 'https://2130706433/1' }, '/endpoint'],
      [{ endpoint: 'https://0xa9fea9fe/1' }, '/endpoint'],
      [{ endpoint: 'https://[::ffff:10.0.0.1]/1' }, '/endpoint'],
      [{ endpoint: 'https://①②⑦.0.0.1/1' }, '/endpoint'],
      [{ endpoint: 'https://LOCALHOST./1' }, '/endpoint'],
      [{ endpoint: 'data:text/plain,1' }, '/endpoint'],
      [{ endpoint: 'https://db.internal/1' }, '/endpoint'],
      [{ endpoint: 'https://ana:secret@push.example/1' }, '/endpoint'],
      [{ endpoint: `https://push.example/${'a'.repeat(2048)}` }, '/endpoint'],
      [{ endpoint: 'push' }, '/endpoint'],
      [{ keys: { ...keys, auth: 'short' } }, '/keys/auth'],
      [{ keys: { ...keys, p256dh: `${keys.p256dh}=` } }, '/keys/p256dh'],
      [{ keys: { ...keys, p256dh: `B${'A'.repeat(86)}` } }, '/keys'],
      [{ keys: { ...keys, private: 'x' } }, '/keys/private'],
    ]
    for (const [changes, pointer] of bodies) {
      const body = { ...subscription, ...changes }
      const reply = await session.call('POST', PUSH_PATH, { body })
      expect([reply.status, reply.body.errors?.[0].pointer], pointer).toEqual([400, pointer])
    }
    expect(await rowsOf(account)).toEqual([])
  })
})

describe('subscriptions end', () => {
  /** Two browsers of a user, each with a session, and one of a colleague. */
  const family = async () => {
    const set = await start()
    const { account, user, session } = set
    const second = await signIn(account, user)
    const colleague = await signIn(account, await createSignInUser(account))
    for (const caller of [session, second, colleague]) await subscribe(caller, await makeBrowser())
    return { ...set, second, colleague }
  }
  const usersOf = async (account: TestAccount) =>
    (await rowsOf(account)).map(({ user_id: userId }) => userId)

  test('with their session: by sign-out, or ended from another one', async () => {
    const { account, user, session, second, colleague } = await family()
    await postWithCookie('/api/Auth/SignOut', session.cookie)
    expect(await idsOf(second)).toHaveLength(1)
    expect(await listSubscriptions(second)).toMatchObject([{ current: true }])
    const third = await signIn(account, user)
    const ended = await third.call('DELETE', `/api/Auth/Sessions/${second.sessionId}`)
    expect(ended.status).toBe(200)
    expect(await idsOf(third)).toEqual([])
    expect(await idsOf(colleague)).toHaveLength(1)
    await account.call('DELETE', `/api/Auth/Sessions/${colleague.sessionId}`)
    expect(await rowsOf(account)).toEqual([])
  })

  test('not with a session of another user or account', async () => {
    const [mine, other] = [await family(), await family()]
    const id = mine.second.sessionId
    expect((await other.account.call('DELETE', `/api/Auth/Sessions/${id}`)).status).toBe(404)
    expect((await mine.colleague.call('DELETE', `/api/Auth/Sessions/${id}`)).status).toBe(403)
    expect(await rowsOf(mine.account)).toHaveLength(3)
  })

  const ENDS: [
    string,
    (account: TestAccount, user: SignInUser, cookie: string) => Promise<unknown>,
  ][] = [
    [
      'a sign-out everywhere',
      (_, __, cookie) =>
        postWithCookie('/api/Auth/SignOut', cookie, { body: { everywhere: true } }),
    ],
    [
      'a changed password',
      (account, { id }) =>
        account.call('PATCH', `/api/users/${id}`, { body: { password: 'another long one 7' } }),
    ],
    [
      'a disabled user',
      (account, { id }) => account.call('PATCH', `/api/users/${id}`, { body: { disabled: true } }),
    ],
    ['a deleted user', (account, { id }) => account.call('DELETE', `/api/users/${id}`)],
  ]
  test.each(ENDS)('with %s, and nobody else’s', async (_, end) => {
    const { account, user, session } = await family()
    await end(account, user, session.cookie)
    const left = await usersOf(account)
    expect(left).toHaveLength(1)
    expect(left).not.toContain(user.id)
  })

  test('with a password that is set by a link', async () => {
    const account = await openAccount()
    const { id, email } = await createUser(account)
    const made = await account.call('POST', '/api/account/keys', {
      body: { name: 'app', scopes: ['read'], userId: id },
    })
    const { token } = (
      await call('POST', '/api/Auth/Token', {
        body: { userName: account.userName, apiKey: made.body.apiKey },
      })
    ).body
    await call('POST', PUSH_PATH, { token, body: (await makeBrowser()).subscription })
    expect(await rowsOf(account)).toHaveLength(1)
    const link = await makeLink(account, { id, email })
    const set = await call('POST', '/api/Auth/Password', { body: { link, password: PASSWORD } })
    expect(set.status, set.text).toBe(200)
    expect(await rowsOf(account)).toEqual([])
  })

  test('with their account', async () => {
    const { account } = await family()
    await eraseAccount(account)
    await sweep(env, Date.now())
    expect(await rowsOf(account)).toEqual([])
  })

  test('not when the session expires, and not with other changes of the user', async () => {
    const { account, user, session } = await start()
    await subscribe(session, await makeBrowser())
    await account.call('PATCH', `/api/users/${user.id}`, { body: { name: 'Ana Sousa' } })
    await env.DB.prepare('UPDATE sessions SET expires = 1 WHERE id = ?')
      .bind(session.sessionId)
      .run()
    await sweep(env, Date.now())
    expect((await refresh(session.cookie)).status).toBe(401)
    expect(await rowsOf(account)).toHaveLength(1)
  })
})
