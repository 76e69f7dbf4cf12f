import { describe, expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { deliveryStatusesIn, raiseAlert, readAlert } from '../../support/alerts/alerts.ts'
import {
  HARBOUR,
  MINUTE_MS,
  openAccountWithPeople,
  passTime,
  patchAccount,
  raiseSos,
  recipientsOf,
} from '../../support/alerts/emergencies.ts'
import { readMessages, waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { callAsOperator } from '../../support/http.ts'
import { beginTestsAtNoon } from '../../support/time.ts'
import { createUser } from '../../support/users.ts'

beginTestsAtNoon()

const PHONE = '+351910000077'
const CALLS = { email: false, sms: false, push: false, voice: true }
const USER = `Voice ${PHONE}`
const CONTACT = `Voice ${HARBOUR.phone}`

const escalation = (voice: boolean) => ({ escalation: { afterMinutes: 10, rounds: 2, voice } })

/** An account with a user who wants calls only, beside one who gets e-mails. */
const openCalled = async (voice: boolean) => {
  const account = await openAccountWithPeople(escalation(voice))
  const user = await createUser(account, { phone: PHONE, notify: CALLS })
  return { account, user, device: await createDevice(account) }
}

const callsOf = async (account: TestAccount, kind: string) =>
  (await recipientsOf(account, kind)).filter((one: string) => one.startsWith('Voice '))

const passRound = async (account: TestAccount) => {
  await waitUntilSent(account)
  await passTime(account, 10 * MINUTE_MS + 1)
  await waitUntilSent(account)
}

describe('the rounds of an escalation', () => {
  test('call nobody unless the account wants it', async () => {
    const { account, device } = await openCalled(false)
    await raiseSos(account, device)
    for (let n = 0; n < 2; n++) await passRound(account)
    expect(await callsOf(account, 'alert')).toEqual([USER])
    expect(await readEvents(account, 'alert.escalated')).toHaveLength(2)
    expect(await callsOf(account, 'escalation')).toEqual([])
  })

  test('call the users who chose calls, and the contacts with a phone number', async () => {
    const { account, device } = await openCalled(true)
    const radio = { name: 'Radio', email: 'radio@example.com' }
    await patchAccount(account, { emergencyContacts: [HARBOUR, radio] })
    await raiseSos(account, device)
    await passRound(account)
    expect(await callsOf(account, 'escalation')).toEqual([USER, CONTACT].sort())
    const spoken = (await readMessages(account, '?channel=Voice')).filter(
      ({ kind }: { kind: string }) => kind === 'escalation',
    )
    for (const { text, subject } of spoken) {
      expect(subject).toBe('')
      expect(text).toMatch(/^Emergency\. Nobody has acknowledged this yet\. SOS button from /)
    }
    await passRound(account)
    expect(await callsOf(account, 'escalation')).toEqual([USER, USER, CONTACT, CONTACT].sort())
  })

  test('call a user who chose calls although the alert itself was not to be read to anybody', async () => {
    const { account, device } = await openCalled(true)
    await raiseSos(account, device, { notifications: ['Email'] })
    await passRound(account)
    expect(await callsOf(account, 'alert')).toEqual([])
    expect(await callsOf(account, 'escalation')).toEqual([USER, CONTACT].sort())
  })

  test('call nobody who does not want it any more, may not, or has no number', async () => {
    const { account, user, device } = await openCalled(true)
    const silent = await createUser(account, { phone: '+351910000078', notify: CALLS })
    await createUser(account, { notify: CALLS })
    await raiseSos(account, device)
    await waitUntilSent(account)
    await account.call('PATCH', `/api/users/${user.id}`, { body: { disabled: true } })
    await account.call('PATCH', `/api/users/${silent.id}`, {
      body: { notify: { email: true, voice: false } },
    })
    await passRound(account)
    expect(await callsOf(account, 'escalation')).toEqual([CONTACT])
  })

  test('follow the setting as it is when a round is due', async () => {
    const { account, device } = await openCalled(false)
    await raiseSos(account, device)
    await passRound(account)
    await patchAccount(account, escalation(true))
    await passRound(account)
    expect(await callsOf(account, 'escalation')).toEqual([USER, CONTACT].sort())
  })

  test('also of one that is open again; nobody is called because it is over', async () => {
    for (const voice of [false, true]) {
      const { account, device } = await openCalled(voice)
      const { alert } = (await raiseSos(account, device)).body
      await waitUntilSent(account)
      await account.call('POST', `/api/alerts/${alert.id}/cancel`)
      await waitUntilSent(account)
      expect(await recipientsOf(account, 'notice')).toEqual(['Email reader@example.com'])
      await account.call('POST', `/api/alerts/${alert.id}/reopen`)
      await waitUntilSent(account)
      const expected = voice ? [USER, CONTACT].sort() : []
      expect(await callsOf(account, 'escalation')).toEqual(expected)
    }
  })

  test('stay within the operator’s budget for calls, but for the first 20 of a device', async () => {
    const contacts = Array.from({ length: 12 }, (_, n) => ({
      name: `Contact ${n}`,
      phone: `+3519100001${String(n).padStart(2, '0')}`,
    }))
    const account = await openAccountWithPeople({
      ...escalation(true),
      emergencyContacts: contacts,
    })
    const budgets = { messagesPerDay: { Voice: 0 } }
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { budgets } })
    await raiseSos(account, await createDevice(account))
    for (let n = 0; n < 2; n++) await passRound(account)
    const calls = await readMessages(account, '?channel=Voice&limit=100')
    const states = calls.map(({ status }: { status: string }) => status)
    expect(states.filter((status: string) => status === 'sent')).toHaveLength(20)
    const suppressed = calls.filter(({ status }: { status: string }) => status === 'suppressed')
    expect(suppressed).toHaveLength(4)
    expect(suppressed[0].reason).toBe('message-budget-reached')
  })
})

describe('the calls of a device', () => {
  test('are at most 20 a day, emergencies included; the rest is suppressed', async () => {
    const account = await openAccount()
    await createUser(account, { phone: PHONE, notify: CALLS })
    const id = await createDevice(account)
    const budgets = { messagesPerDay: { Voice: 1000 } }
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { budgets } })
    const replies = await Promise.all(Array.from({ length: 22 }, () => raiseAlert(account, id)))
    const states = replies.flatMap(deliveryStatusesIn)
    expect(states.filter((state) => state === 'Voice queued')).toHaveLength(20)
    expect(states.filter((state) => state === 'Voice suppressed')).toHaveLength(2)
    const { alert } = (await raiseSos(account, id)).body
    expect(alert.deliveries).toMatchObject([
      { channel: 'Voice', status: 'suppressed', reason: 'daily-limit-reached' },
    ])
    expect(alert.deliveries[0].resetAt).not.toBeNull()
    expect(await readEvents(account, 'limit.reached')).toMatchObject([
      { deviceId: id, channel: 'Voice', limit: 20 },
    ])
    const retry = `/api/account/messages/${alert.deliveries[0].id}/retry`
    expect((await account.call('POST', retry)).body.code).toBe('daily-limit-reached')
    // Another device has its own.
    const other = await raiseAlert(account, await createDevice(account))
    expect(deliveryStatusesIn(other)).toEqual(['Voice queued'])
  })

  test('are made for alerts whose notifications have them, and for users who chose them', async () => {
    const account = await openAccount()
    await createUser(account, { phone: PHONE, notify: CALLS })
    await createUser(account, { phone: '+351910000079' })
    const id = await createDevice(account)
    for (const [notifications, expected] of [
      [['Voice'], ['Voice queued']],
      [['SMS', 'Push'], []],
    ] as const)
      expect(deliveryStatusesIn(await raiseAlert(account, id, { notifications }))).toEqual(expected)
  })

  test('of a drill say that it is a test, are called in its rounds, and have a limit of their own', async () => {
    const { account, device } = await openCalled(true)
    const { alert } = (await raiseSos(account, device, { test: true })).body
    await passRound(account)
    const calls = await readMessages(account, '?channel=Voice')
    expect(calls).toHaveLength(3)
    for (const { text, status } of calls) {
      expect(text).toMatch(/^This is a test\. There is no emergency\. /)
      expect(status).toBe('sent')
    }
    await account.call('POST', `/api/alerts/${alert.id}/resolve`)
    for (let n = 0; n < 20; n++)
      await createUser(account, {
        phone: `+3519100002${String(n).padStart(2, '0')}`,
        notify: CALLS,
      })
    const second = (await raiseSos(account, device, { test: true })).body.alert
    await waitUntilSent(account)
    const { deliveries } = await readAlert(account, second.id)
    const states = deliveries.flatMap((one: { channel: string; reason: string | null }) =>
      one.channel === 'Voice' ? [one.reason] : [],
    )
    expect(states.filter((reason: string | null) => reason === null)).toHaveLength(17)
    expect(states.filter((reason: string | null) => reason !== null)).toEqual(
      Array.from({ length: 4 }, () => 'drill-limit-reached'),
    )
    // No limit of the device has counted them.
    expect(
      deliveryStatusesIn(await raiseAlert(account, device, { notifications: ['Voice'] })),
    ).toEqual([...Array.from({ length: 20 }, () => 'Voice queued'), 'Voice suppressed'])
  })

  test('are made by an emergency that joins one which has called nobody', async () => {
    const { account, device } = await openCalled(false)
    await raiseSos(account, device, { notifications: ['Email'] })
    await raiseSos(account, device)
    await waitUntilSent(account)
    expect(await callsOf(account, 'alert')).toEqual([USER])
    await raiseSos(account, device)
    await waitUntilSent(account)
    expect(await callsOf(account, 'alert')).toEqual([USER])
  })
})
