import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import {
  callerWith,
  eraseAccount,
  fetchToken,
  fetchTokenWithScopes,
  openAccount,
  openSandbox,
  type TestAccount,
} from '../../support/accounts.ts'
import { callWithBindings, watchStatements } from '../../support/bindings.ts'
import { createGroup } from '../../support/groups.ts'
import { call, callAsOperator } from '../../support/http.ts'
import { createBoundUser } from '../../support/users.ts'

afterEach(() => {
  vi.useRealTimers()
})

const DAY = 86_400_000
const PATH = '/api/account/sandbox'
const open = (account: Pick<TestAccount, 'call'>, body: object = {}) =>
  account.call('POST', PATH, { body })
const listIds = async (account: TestAccount): Promise<string[]> =>
  (await account.call('GET', PATH)).body.sandboxes.map(({ id }: { id: string }) => id)
const actionsOf = async ({ call: send }: Pick<TestAccount, 'call'>): Promise<string[]> =>
  (await send('GET', '/api/account/audit')).body.entries.map(
    ({ action }: { action: string }) => action,
  )

/** Bindings that pass every statement to a function first. */
const watchCells = (see: (text: string) => void) => {
  const { DB, CELL_1 } = env as unknown as Record<'DB' | 'CELL_1', D1Database>
  return { DB: watchStatements(DB, see), CELL_1: watchStatements(CELL_1, see) }
}

describe('a sandbox of an account', () => {
  test('is opened by its administrator, who gets a key, and is listed with its end', async () => {
    const account = await openAccount()
    const { status, body } = await open(account)
    expect(status).toBe(201)
    const { sandbox, apiKey, signInUrl } = body
    expect(sandbox.userName).toContain(`${account.userName}-sandbox-`)
    expect(sandbox.name).toBe('Sandbox of Test')
    // A key that is bound to nobody has no address to write to.
    expect(signInUrl).toBeNull()
    const inside = callerWith(await fetchToken(sandbox.userName, apiKey))
    const shown = (await inside.call('GET', '/api/account')).body.account
    expect(shown.sandbox).toEqual({ of: account.id, erasesAt: sandbox.erasesAt })
    expect(shown.licenses.used).toBe(10)
    expect((await account.call('GET', PATH)).body.sandboxes).toEqual([sandbox])
    expect(await actionsOf(account)).toContain('sandbox.opened')
    // Nothing of it is in the account that has opened it.
    expect((await account.call('GET', '/api/devices')).body.devices).toEqual([])
  })

  test('lets the user who opened it sign in with a password of its own', async () => {
    const account = await openAccount()
    const email = 'opener@example.com'
    const { token } = await createBoundUser(account, { email, privileges: ['admin'] })
    const { body } = await open(callerWith(token), { name: 'Mine' })
    const [, link] = body.signInUrl.split('#')
    const password = 'correct horse battery staple'
    const set = await call('POST', '/api/Auth/Password', { body: { link, password } })
    expect(set.status, set.text).toBe(200)
    const signIn = (name: string) =>
      call('POST', '/api/Auth/SignIn', { body: { account: name, email, password } })
    expect((await signIn(account.userName)).status).toBe(401)
    const session = await signIn(body.sandbox.userName)
    const me = await call('GET', '/api/me', { token: session.body.token })
    expect(me.body.account).toMatchObject({ name: 'Mine', sandbox: { of: account.id } })
    expect(me.body.scopes).toContain('admin')
  })

  test('is refused to others than administrators of the whole account, and to sandboxes', async () => {
    const account = await openAccount()
    await createGroup(account, { name: 'Few' })
    const { token: confined } = await createBoundUser(account, {
      privileges: ['admin'],
      group: 'Few',
    })
    const write = await fetchTokenWithScopes(account, ['write', 'execute'])
    for (const token of [confined, write])
      for (const [method, path] of [
        ['POST', PATH],
        ['GET', PATH],
        ['POST', `${PATH}/keep`],
      ] as const)
        expect((await call(method, path, { token })).status, path).toBe(403)
    const sandbox = await openSandbox()
    const refused = await open(sandbox)
    expect([refused.status, refused.body.code]).toEqual([409, 'sandbox-of-sandbox'])
    const named = await open(account, { name: 'https://phishing.example' })
    expect(named.status).toBe(400)
    expect(await listIds(account)).toEqual([])
  })

  test('is one of three at most, however many are asked for at once', async () => {
    const account = await openAccount()
    const replies = await Promise.all(Array.from({ length: 6 }, () => open(account)))
    const refused = replies.filter(({ status }) => status !== 201)
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array.from({ length: 3 }, () => [409, 'sandbox-limit-reached']),
    )
    const ids = await listIds(account)
    expect(ids).toHaveLength(3)
    const opened = replies.find(({ status }) => status === 201)?.body.sandbox
    await eraseAccount(opened)
    expect(await listIds(account)).toEqual(ids.filter((id) => id !== opened.id))
    expect((await open(account)).status).toBe(201)
    // Another account has its own.
    const other = await openAccount()
    expect(await listIds(other)).toEqual([])
    expect((await open(other)).status).toBe(201)
  })

  test('is open, with its key, also when its opener cannot be invited', async () => {
    const account = await openAccount()
    const email = 'opener@example.com'
    const { token } = await createBoundUser(account, { email, privileges: ['admin'] })
    const fail = (text: string) => {
      if (text.startsWith('INSERT INTO "users"')) throw new Error('the database is away')
    }
    const failing = watchCells(fail)
    const reply = await callWithBindings(failing, 'POST', PATH, { token, body: {} })
    expect(reply.status, reply.text).toBe(201)
    expect(reply.body.signInUrl).toBeNull()
    expect(await fetchToken(reply.body.sandbox.userName, reply.body.apiKey)).toBeTruthy()
  })

  test('beyond three is refused before any cell is read', async () => {
    const account = await openAccount()
    for (let n = 0; n < 3; n++) expect((await open(account)).status).toBe(201)
    const statements: string[] = []
    const watched = watchCells((text) => statements.push(text))
    const refused = await callWithBindings(watched, 'POST', PATH, {
      token: account.token,
      body: {},
    })
    expect([refused.status, refused.body.code]).toEqual([409, 'sandbox-limit-reached'])
    expect(statements.filter((text) => /max\(.*FROM "accounts"/i.test(text))).toEqual([])
  })

  test('is opened once by a request that is repeated, which shows no secret again', async () => {
    const account = await openAccount()
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const send = () => account.call('POST', PATH, { body: {}, headers })
    const [first, second] = [await send(), await send()]
    expect(second.body.sandbox).toEqual(first.body.sandbox)
    expect(second.body.apiKey).not.toBe(first.body.apiKey)
    expect(await listIds(account)).toHaveLength(1)
  })
})

describe('keeping a sandbox', () => {
  const keep = (sandbox: TestAccount) => sandbox.call('POST', `${PATH}/keep`)

  test('puts off its erasure each time, by its own administrator', async () => {
    const sandbox = await openSandbox()
    const endOf = async () =>
      Date.parse((await sandbox.call('GET', '/api/account')).body.account.sandbox.erasesAt)
    const opened = await endOf()
    const kept = await keep(sandbox)
    expect([kept.status, kept.body.sandbox.of]).toEqual([200, null])
    const first = Date.parse(kept.body.sandbox.erasesAt)
    expect(first).toBeGreaterThan(opened)
    expect(first).toBeLessThanOrEqual(Date.now() + 30 * DAY)
    expect((await keep(sandbox)).status).toBe(200)
    expect(await endOf()).toBeGreaterThanOrEqual(first)
    const kinds = (await actionsOf(sandbox)).filter((action) => action === 'account.kept')
    expect(kinds).toHaveLength(2)
    await sweep(env, opened)
    expect((await callAsOperator('GET', `/admin/accounts/${sandbox.id}`)).status).toBe(200)
    // One run erases a few, and those of the other tests are due before.
    for (let run = 0; run < 3; run++) await sweep(env, Date.now() + 30 * DAY)
    expect((await callAsOperator('GET', `/admin/accounts/${sandbox.id}`)).status).toBe(404)
  })

  test('ends 90 days after it was opened', async () => {
    const sandbox = await openSandbox()
    const opened = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: opened })
    const keepOn = async (day: number) => {
      vi.setSystemTime(opened + day * DAY)
      const { userName, apiKey } = sandbox
      const { status, body } = await callerWith(await fetchToken(userName, apiKey)).call(
        'POST',
        `${PATH}/keep`,
      )
      const end = (Date.parse(body.sandbox?.erasesAt) - opened) / DAY
      return status === 200 ? Math.round(end) : body.code
    }
    expect([await keepOn(29), await keepOn(58), await keepOn(75)]).toEqual([59, 88, 90])
    expect(await keepOn(76)).toBe('sandbox-end-reached')
    // The operator may keep it for longer.
    await callAsOperator('POST', `/admin/accounts/${sandbox.id}/keep`)
    vi.useRealTimers()
    expect((await keep(sandbox)).body.sandbox).toEqual({ of: null, erasesAt: null })
    await eraseAccount(sandbox)
  })

  test('gives one that the operator keeps no end', async () => {
    const sandbox = await openSandbox()
    await callAsOperator('POST', `/admin/accounts/${sandbox.id}/keep`)
    expect((await keep(sandbox)).body.sandbox).toEqual({ of: null, erasesAt: null })
    await eraseAccount(sandbox)
  })

  test('is refused to an account that is none', async () => {
    const account = await openAccount()
    const reply = await account.call('POST', `${PATH}/keep`)
    expect([reply.status, reply.body.code]).toEqual([409, 'not-a-sandbox'])
  })
})
