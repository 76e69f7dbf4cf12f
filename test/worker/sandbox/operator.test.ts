import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { SANDBOX_FLEET } from '../../../src/domain/sandbox/fleet.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { eraseAccount, openAccount, openSandbox, type TestAccount } from '../../support/accounts.ts'
import { raiseSos } from '../../support/alerts/emergencies.ts'
import { waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice } from '../../support/devices.ts'
import { callAsOperator } from '../../support/http.ts'
import { createBoundUser } from '../../support/users.ts'

const DAY = 86_400_000
const MINUTE = 60_000
const pathOf = ({ id }: { id: string }) => `/admin/accounts/${id}`

const listDevices = async (account: TestAccount) =>
  (await account.call('GET', '/api/devices?limit=100')).body.devices

const lastTimes = async (account: TestAccount): Promise<Map<string, number>> =>
  new Map(
    (await listDevices(account)).map(
      (one: { name: string; lastLocation: { dateTime: string } }) => [
        one.name,
        Date.parse(one.lastLocation.dateTime),
      ],
    ),
  )

describe('a sandbox of the operator', () => {
  test('says what it is, and has licenses, limits and devices that have moved for a day', async () => {
    const account = await openSandbox()
    const { account: shown } = (await account.call('GET', '/api/account')).body
    expect(shown.sandbox.of).toBeNull()
    expect(Date.parse(shown.sandbox.erasesAt) - Date.parse(shown.creation)).toBe(30 * DAY)
    expect(shown.licenses).toEqual({ total: 20, used: 10, available: 10 })
    expect(shown.budgets).toMatchObject({ maxUsers: 20, requestsPerMinute: 600 })
    expect((await account.call('GET', '/api/me')).body.account.sandbox).toEqual(shown.sandbox)
    const listed = await callAsOperator('GET', `/admin/accounts?userName=${account.userName}`)
    expect(listed.body.accounts[0].sandbox).toEqual(shown.sandbox)

    const devices = await listDevices(account)
    expect(devices).toHaveLength(10)
    for (const { id, name, lastLocation } of devices) {
      expect(name).toContain('sandbox')
      expect(Date.now() - Date.parse(lastLocation.dateTime)).toBeLessThan(25 * MINUTE)
      const track = await account.call('GET', `/api/devices/${id}/locations?limit=1000`)
      expect(track.body.locations.length).toBeGreaterThan(60)
    }
    expect((await openAccount()).id).not.toBe(account.id)
  })

  test('is none unless it is asked for, and only then needs no licenses', async () => {
    const account = await openAccount()
    expect((await account.call('GET', '/api/account')).body.account.sandbox).toBeNull()
    expect((await account.call('GET', '/api/me')).body.account.sandbox).toBeNull()
    const body = { userName: `none-${crypto.randomUUID().slice(0, 8)}`, name: 'N', timeZone: 'UTC' }
    const refused = await callAsOperator('POST', '/admin/accounts', { body })
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/licenses'])
    const wrong = await callAsOperator('POST', '/admin/accounts', {
      body: { ...body, sandbox: 'yes' },
    })
    expect(wrong.body.errors[0].pointer).toBe('/sandbox')
    const licensed = await openSandbox({ licenses: 12 })
    const { licenses } = (await licensed.call('GET', '/api/account')).body.account
    expect(licenses).toEqual({ total: 12, used: 10, available: 2 })
  })

  test('is opened once by a request that is repeated', async () => {
    const body = {
      userName: `sandbox-${crypto.randomUUID().slice(0, 8)}`,
      name: 'Twice',
      timeZone: 'UTC',
      sandbox: true,
    }
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const open = () => callAsOperator('POST', '/admin/accounts', { body, headers })
    const [first, second] = [await open(), await open()]
    expect(second.body.account).toEqual(first.body.account)
    expect(first.body.account.licenses.used).toBe(10)
  })

  test('cannot become one, nor stop being one, by a patch', async () => {
    const [account, sandbox] = [await openAccount(), await openSandbox()]
    for (const [one, value] of [
      [account, { of: null, erasesAt: null }],
      [sandbox, null],
    ] as const) {
      const before = (await one.call('GET', '/api/account')).body.account.sandbox
      await one.call('PATCH', '/api/account', { body: { sandbox: value } })
      await callAsOperator('PATCH', pathOf(one), { body: { sandbox: value } })
      expect((await one.call('GET', '/api/account')).body.account.sandbox).toEqual(before)
    }
  })
})

describe('the simulation', () => {
  test('moves every device with each sweep, and repeats nothing', async () => {
    const account = await openSandbox()
    const before = await lastTimes(account)
    const now = Date.now() + 30 * MINUTE
    await sweep(env, now)
    const after = await lastTimes(account)
    for (const [name, at] of before) expect(after.get(name), name).toBeGreaterThan(at)
    await sweep(env, now)
    expect(await lastTimes(account)).toEqual(after)
  })

  test('leaves alone what was deleted, expired or renamed, and accounts that are none', async () => {
    const account = await openSandbox()
    const [gone, expired, other] = await listDevices(account)
    await account.call('DELETE', `/api/devices/${gone.id}`)
    await account.call('PATCH', `/api/devices/${expired.id}`, {
      body: { limits: { expires: true, expirationDate: '2020-01-01' } },
    })
    await account.call('PATCH', `/api/devices/${other.id}`, { body: { identifier: 'mine' } })
    const plain = await openAccount()
    const same = await createDevice(plain, { identifier: SANDBOX_FLEET[0]?.identifier })
    const before = await lastTimes(account)
    await sweep(env, Date.now() + 30 * MINUTE)
    const after = await lastTimes(account)
    expect(after.size).toBe(9)
    const unmoved = [...after].filter(([name, at]) => before.get(name) === at)
    expect(unmoved.map(([name]) => name).sort()).toEqual([expired.name, other.name].sort())
    expect((await plain.call('GET', `/api/devices/${same}/lastLocation`)).status).toBe(404)
  })

  test('stops while the account is suspended or deleted', async () => {
    const account = await openSandbox()
    const before = await lastTimes(account)
    await callAsOperator('PATCH', pathOf(account), { body: { status: 'readOnly' } })
    await sweep(env, Date.now() + 30 * MINUTE)
    expect(await lastTimes(account)).toEqual(before)
  })
})

test('messages and commands of a sandbox reach no provider, and say so', async () => {
  const account = await openSandbox()
  await createBoundUser(account, { notify: { email: true, sms: true }, phone: '+351912000001' })
  const [device] = await listDevices(account)
  await raiseSos(account, device.id)
  await waitUntilSent(account)
  const { messages } = (await account.call('GET', '/api/account/messages')).body
  expect(messages.length).toBeGreaterThan(0)
  for (const { status, provider, subject, text } of messages) {
    expect([status, provider]).toEqual(['sent', 'sandbox'])
    expect(text).toMatch(/^\[Sandbox\] /)
    expect(subject).toMatch(/^(\[Sandbox\] .*)?$/)
  }
  const month = new Date().toISOString().slice(0, 7)
  const usage = (await callAsOperator('GET', `/admin/usage?month=${month}&limit=100`)).body
  const ids = usage.accounts.map(({ accountId }: { accountId: string }) => accountId)
  expect(ids).not.toContain(account.id)
})

describe('the end of a sandbox', () => {
  test('comes after thirty days, and not before; its user name is free again', async () => {
    const account = await openSandbox()
    await sweep(env, Date.now() + 29 * DAY)
    expect((await callAsOperator('GET', pathOf(account))).status).toBe(200)
    await sweep(env, Date.now() + 30 * DAY)
    expect((await callAsOperator('GET', pathOf(account))).status).toBe(404)
    const left = await env.DB.prepare('SELECT 1 FROM accounts WHERE id = ?').bind(account.id).all()
    expect(left.results).toEqual([])
    await openSandbox({ userName: account.userName })
  })

  test('does not come once the operator keeps it, even if the cell does not know yet', async () => {
    const account = await openSandbox()
    const keep = () => callAsOperator('POST', `${pathOf(account)}/keep`)
    const kept = await keep()
    expect([kept.status, kept.body.account.sandbox]).toEqual([200, { of: null, erasesAt: null }])
    expect((await keep()).body.account).toEqual(kept.body.account)
    await env.DB.prepare('UPDATE accounts SET sandbox_erases_at = 1 WHERE id = ?')
      .bind(account.id)
      .run()
    await sweep(env, Date.now() + 31 * DAY)
    expect((await callAsOperator('GET', pathOf(account))).status).toBe(200)
    await eraseAccount(account)
  })

  test('is not for an account that is none', async () => {
    const account = await openAccount()
    const reply = await callAsOperator('POST', `${pathOf(account)}/keep`)
    expect([reply.status, reply.body.code]).toEqual([409, 'not-a-sandbox'])
    expect((await callAsOperator('POST', '/admin/accounts/acc_none/keep')).status).toBe(404)
  })
})
