import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ledgerOf } from '../../../src/ledger/stub.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { deliveryStatusesIn, raiseAlert } from '../../support/alerts/alerts.ts'
import { passTime, patchAccount } from '../../support/alerts/emergencies.ts'
import { createDevice } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { callAsOperator } from '../../support/http.ts'
import { makeSource } from '../../support/sources.ts'
import { nextNoon } from '../../support/time.ts'
import { createUser } from '../../support/users.ts'

/* The operator's budgets, which no setting of the account can raise. */

const HOUR_MS = 3_600_000
afterEach(() => {
  vi.useRealTimers()
})

const setBudget = async (account: TestAccount, messagesPerDay: object) => {
  const path = `/admin/accounts/${account.id}`
  const reply = await callAsOperator('PATCH', path, { body: { budgets: { messagesPerDay } } })
  expect(reply.status, reply.text).toBe(200)
}
const readBudgets = async (account: TestAccount) => {
  const { budgets, budgetUsage } = (await account.call('GET', '/api/account')).body.account
  return { budget: budgets.messagesPerDay, used: budgetUsage.messages }
}
const sendSms = async (account: TestAccount, id: string, characters: number) => {
  const body = { command: 'a'.repeat(characters), sms: true }
  return (await account.call('POST', `/api/devices/${id}/sendCommand`, { body })).body
}

test('a budget is a number for each license, or what the operator sets for the account', async () => {
  const account = await openAccount({ licenses: 3 })
  expect(await readBudgets(account)).toEqual({
    budget: { Email: 300, SMS: 60, Push: 3000, Voice: 60 },
    used: { Email: 0, SMS: 0, Push: 0, Voice: 0 },
  })
  await setBudget(account, { SMS: 7 })
  expect((await readBudgets(account)).budget).toMatchObject({ Email: 300, SMS: 7 })
  const { accounts } = (await callAsOperator('GET', '/admin/accounts?limit=1000')).body
  const listed = accounts.find(({ id }: { id: string }) => id === account.id)
  expect(listed.budgets.messagesPerDay).toMatchObject({ Email: 300, SMS: 7 })
  await setBudget(account, { SMS: null })
  expect((await readBudgets(account)).budget).toMatchObject({ Email: 300, SMS: 60 })
  for (const messagesPerDay of [{ SMS: -1 }, { SMS: 1.5 }, { Fax: 3 }, 7]) {
    const body = { budgets: { messagesPerDay } }
    const reply = await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body })
    expect(reply.status, reply.text).toBe(400)
  }
})

test('SMS count by segments, and those beyond the budget are refused', async () => {
  const account = await openAccount()
  await setBudget(account, { SMS: 5 })
  const limits = { dailySmsLimit: 100_000 }
  const id = await createDevice(account, { min: '+881632000000', limits })
  const queued = { command: { status: 'queued' } }
  const refused = { status: 409, code: 'message-budget-reached' }
  expect(await sendSms(account, id, 400)).toMatchObject(queued)
  expect(await sendSms(account, id, 400)).toMatchObject(refused)
  expect(await sendSms(account, id, 200)).toMatchObject(queued)
  expect(await sendSms(account, id, 1)).toMatchObject(refused)
  expect((await readBudgets(account)).used).toMatchObject({ Email: 0, SMS: 5 })
  const { device } = (await account.call('GET', `/api/devices/${id}`)).body
  expect(device.usage.smsSent).toBe(2)
})

describe('alerts', () => {
  test('beyond the budget say so, and when it resets; the device’s limit is not used', async () => {
    const account = await openAccount()
    await setBudget(account, { Email: 1 })
    for (let n = 0; n < 2; n++) await createUser(account)
    const id = await createDevice(account, { limits: { dailyEmailLimit: 3 } })
    const { body } = await raiseAlert(account, id)
    const resetAt = expect.stringMatching(/T00:00:00\.000Z$/)
    expect(body.alert.deliveries).toMatchObject([
      { status: 'queued' },
      { status: 'suppressed', reason: 'message-budget-reached', resetAt },
    ])
    expect(await readEvents(account, 'message.suppressed')).toMatchObject([
      { messages: 1, reason: 'message-budget-reached' },
    ])
    const { device } = (await account.call('GET', `/api/devices/${id}`)).body
    expect(device.usage.emailsSent).toBe(1)
    const retried = await account.call(
      'POST',
      `/api/account/messages/${body.alert.deliveries[1].id}/retry`,
    )
    expect(retried.body).toMatchObject({ code: 'message-budget-reached', resetAt })
  })

  test('that are emergencies have a reserve that nothing else can use', async () => {
    const account = await openAccount({ licenses: 20 })
    await setBudget(account, { Email: 1 })
    for (let n = 0; n < 2; n++) await createUser(account)
    const raise = async (alert: object) => {
      const id = await createDevice(account, { limits: { dailyEmailLimit: 1000 } })
      return raiseAlert(account, id, alert)
    }
    await raise({})
    expect(deliveryStatusesIn(await raise({}))).toEqual(['Email suppressed', 'Email suppressed'])
    const sos = { alertName: 'SOSButton' }
    for (let n = 0; n < 5; n++)
      expect(deliveryStatusesIn(await raise(sos))).toEqual(['Email queued', 'Email queued'])
    expect((await readBudgets(account)).used).toMatchObject({ Email: 11 })
    expect(deliveryStatusesIn(await raise({}))).toEqual(['Email suppressed', 'Email suppressed'])
  })

  test('of a device’s emergencies go out whatever the budget says, as far as its floor', async () => {
    const account = await openAccount({ licenses: 2 })
    await setBudget(account, { Email: 0 })
    for (let n = 0; n < 2; n++) await createUser(account)
    const newDevice = () => createDevice(account, { limits: { dailyEmailLimit: 1000 } })
    const raise = (id: string, n: number) => {
      // None of them joins another.
      const dateTime = new Date(Date.now() - n * 2 * HOUR_MS).toISOString()
      return raiseAlert(account, id, { alertName: 'SOSButton', dateTime })
    }
    const [first, second] = [await newDevice(), await newDevice()]
    for (let n = 0; n < 10; n++)
      expect(deliveryStatusesIn(await raise(first, n))).toEqual(['Email queued', 'Email queued'])
    const { body } = await raise(first, 10)
    expect(body.alert.deliveries[0]).toMatchObject({ reason: 'message-budget-reached' })
    expect(body.warning).toContain('has used up its messages of the day. No administrator')
    for (let n = 0; n < 10; n++)
      expect(deliveryStatusesIn(await raise(second, n))).toEqual(['Email queued', 'Email queued'])
    expect((await readBudgets(account)).used).toMatchObject({ Email: 40 })
    // Nobody gets more without end by deleting a device and creating it again: beside the reserve
    // of 20 the account has 20 for each license.
    await account.call('DELETE', `/api/devices/${second}`)
    const third = await newDevice()
    for (let n = 0; n < 10; n++)
      expect(deliveryStatusesIn(await raise(third, n))).toEqual(['Email queued', 'Email queued'])
    await account.call('DELETE', `/api/devices/${third}`)
    expect(deliveryStatusesIn(await raise(await newDevice(), 0))).toEqual([
      'Email suppressed',
      'Email suppressed',
    ])
  })

  test('of a stuck tracker leave the escalations of another device their floor', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: nextNoon() })
    const account = await openAccount({ licenses: 2 })
    await setBudget(account, { Email: 30 })
    for (let n = 0; n < 2; n++) await createUser(account)
    await patchAccount(account, { escalation: { afterMinutes: 10, rounds: 1 } })
    const newDevice = () => createDevice(account, { limits: { dailyEmailLimit: 1000 } })
    const [stuck, other] = [await newDevice(), await newDevice()]
    const raise = async (id: string, n: number) => {
      const dateTime = new Date(Date.now() - n * 2 * HOUR_MS).toISOString()
      return (await raiseAlert(account, id, { alertName: 'SOSButton', dateTime })).body.alert.id
    }
    // 48 escalations are wanted; the budget has room for 30, and there would be 40 at most.
    for (let n = 0; n < 24; n++) await raise(stuck, n)
    await passTime(account, 10 * 60_000 + 1)
    const ofStuck = await readEvents(account, 'alert.escalated')
    expect(ofStuck.at(-1)).toMatchObject({ messages: 0 })
    for (let n = 0; n < 10; n++) await raise(other, n)
    await passTime(account, 10 * 60_000 + 1)
    const events = await readEvents(account, 'alert.escalated')
    const ofOther = events.filter(({ deviceId }) => deviceId === other)
    expect(ofOther.map(({ messages }) => messages)).toEqual(Array(10).fill(2))
  })
})

test('an unknown tracker’s SOS is told once an hour, and never from the emergencies’ reserve', async () => {
  // Ten minutes before an hour of the clock ends; the day must not end during the test.
  vi.useFakeTimers({ toFake: ['Date'], now: nextNoon() - 10 * 60_000 })
  const account = await openAccount()
  await createUser(account, { privileges: ['admin'] })
  await setBudget(account, { Email: 2 })
  const source = await makeSource(account, 'osmand')
  const push = async (identifier: string, minutesAgo: number) => {
    const timestamp = Math.floor(Date.now() / 1000) - 60 * minutesAgo
    const query = `?id=${identifier}&lat=1&lon=1&timestamp=${timestamp}&alarm=sos`
    expect((await source.push({ query })).status).toBe(200)
  }
  const readUsed = async () => (await readBudgets(account)).used.Email
  for (let n = 0; n < 4; n++) await push('stuck', n)
  expect(await readUsed()).toBe(1)
  vi.setSystemTime(Date.now() + 20 * 60_000)
  await push('stuck', 0)
  expect(await readUsed()).toBe(1)
  vi.setSystemTime(Date.now() + 40 * 60_000)
  await push('stuck', 0)
  expect(await readUsed()).toBe(2)
  for (const identifier of ['a', 'b']) await push(identifier, 0)
  expect(await readUsed()).toBe(2)
})

test('notices of invented identifiers leave half of the notices to emergencies', async () => {
  const account = await openAccount()
  await createUser(account, { privileges: ['admin'], notify: { email: false, sms: false } })
  const body = { dailyNoticeLimit: { email: 4, sms: 0 } }
  expect((await account.call('PATCH', '/api/account', { body })).status).toBe(200)
  const source = await makeSource(account, 'osmand')
  for (const identifier of ['a', 'b', 'c', 'd', 'e'])
    await source.push({ query: `?id=${identifier}&lat=1&lon=1&alarm=sos` })
  expect((await readBudgets(account)).used.Email).toBe(2)
  const { body: raised } = await raiseAlert(account, await createDevice(account), {
    alertName: 'SOSButton',
  })
  expect(raised.warning).toContain('are sent 1 message.')
})

test('an invitation counts, and is refused until the next day once the budget is used', async () => {
  const account = await openAccount()
  await setBudget(account, { Email: 1 })
  const [first, second] = [await createUser(account), await createUser(account)]
  const invite = ({ id }: { id: string }) => account.call('POST', `/api/users/${id}/invite`)
  expect((await invite(first)).status).toBe(200)
  expect((await readBudgets(account)).used).toMatchObject({ Email: 1 })
  const { status, headers } = await invite(second)
  expect(status).toBe(429)
  expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
})

test('a name with a link, which mails would carry, is refused; one stored before may stay', async () => {
  const account = await openAccount()
  const user = await createUser(account)
  const name = 'Win at www.evil.example'
  const body = { userName: `x-${account.userName}`, name, licenses: 1, timeZone: 'UTC' }
  const refused = [
    await account.call('PATCH', '/api/account', { body: { name } }),
    await account.call('PATCH', `/api/users/${user.id}`, { body: { name } }),
    await account.call('POST', '/api/users', { body: { ...user, email: 'a@b.example', name } }),
    await callAsOperator('POST', '/admin/accounts', { body }),
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { name } }),
  ]
  for (const { status, body } of refused)
    expect([status, body.errors[0].pointer]).toEqual([400, '/name'])
  await ledgerOf(env, account.id).editAccount({ name }, null)
  const kept = await account.call('PATCH', '/api/account', { body: { timeZone: 'Europe/Lisbon' } })
  expect(kept.body.account).toMatchObject({ name, timeZone: 'Europe/Lisbon' })
  const path = `/admin/accounts/${account.id}`
  expect((await callAsOperator('PATCH', path, { body: { disabled: true } })).status).toBe(200)
})
