import { runDurableObjectAlarm } from 'cloudflare:test'
import { describe, expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../support/accounts.ts'
import {
  HARBOUR,
  MINUTE_MS,
  openAccountWithPeople,
  passTime,
  raiseSos,
  recipientsOf,
} from '../support/alerts/emergencies.ts'
import { readMessages } from '../support/alerts/messages.ts'
import { makeLocalBrowser, subscribe } from '../support/alerts/push.ts'
import { createDevice } from '../support/devices.ts'
import { readEvents } from '../support/feed/events.ts'
import { call } from '../support/http.ts'
import { crashLedger, ledgerStub } from '../support/ledger.ts'
import { beginTestsAtNoon, eventually } from '../support/time.ts'
import { createBoundUser, createUser } from '../support/users.ts'
import { resendReceipt, twilioReceipt } from './signedReceipts.ts'

const NOTICES = [
  'Email admin@example.com',
  `Email ${HARBOUR.email}`,
  'SMS +351910000090',
  `SMS ${HARBOUR.phone}`,
]

beginTestsAtNoon()

interface Message {
  id: string
  kind: string
  channel: string
  to: string
  status: string
}

const report = async (account: TestAccount, { id, channel }: Message, what: string) => {
  const path =
    channel === 'Email' ? '/hooks/resend/all' : `/hooks/twilio/${account.id}?message=${id}`
  const receipt =
    channel === 'Email'
      ? await resendReceipt(`email.${what}`, { account: account.id, message: id })
      : await twilioReceipt(path, {
          MessageSid: id,
          MessageStatus: what === 'delivered' ? what : 'undelivered',
        })
  expect((await call('POST', path, receipt)).status).toBe(200)
}

/** A busy machine may let an attempt time out: then a later one is due only if time passes. */
const waitUntilSent = (account: TestAccount) =>
  eventually(async () => {
    await passTime(account, 1_000)
    expect(await readMessages(account, '?status=queued')).toEqual([])
  })

/** Sends a receipt for every accepted message of a kind. */
const reportAll = async (account: TestAccount, kind: string, what: string) => {
  const messages: Message[] = await readMessages(account, '?limit=100')
  for (const message of messages)
    if (message.kind === kind && message.status === 'sent') await report(account, message, what)
}

/** An account whose only recipient is one reader, with an SOS that the provider has accepted. */
const raiseAccepted = async (settings: object = {}) => {
  const account = await openAccountWithPeople(settings)
  const deviceId = await createDevice(account)
  const { alert } = (await raiseSos(account, deviceId)).body
  await waitUntilSent(account)
  return { account, deviceId, alert, first: alert.deliveries[0] as Message }
}

const undelivered = (account: TestAccount) => readEvents(account, 'alert.undelivered')

describe('an emergency has reached somebody', () => {
  test('not by an acceptance: without a receipt the account is notified five minutes later', async () => {
    const { account } = await raiseAccepted()
    await passTime(account, 3 * MINUTE_MS)
    expect(await undelivered(account)).toEqual([])
    await crashLedger(account)
    await passTime(account, 2 * MINUTE_MS + 1)
    expect(await undelivered(account)).toMatchObject([{ reason: 'not-delivered', notices: 4 }])
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'notice')).toEqual(NOTICES)
    for (let n = 0; n < 3; n++) await passTime(account, 5 * MINUTE_MS)
    expect(await undelivered(account)).toHaveLength(1)
  })

  test('not by a push that no browser shows: nothing waits for its receipt', async () => {
    const account = await openAccount()
    const notify = { email: false, sms: false, push: true }
    const user = await createBoundUser(account, { notify }, { scopes: ['read'] })
    expect((await subscribe(user, await makeLocalBrowser())).status).toBe(201)
    await raiseSos(account, await createDevice(account))
    await waitUntilSent(account)
    expect(await readMessages(account)).toMatchObject([{ channel: 'Push', status: 'sent' }])
    await passTime(account, 2 * MINUTE_MS + 1)
    expect(await undelivered(account)).toMatchObject([{ reason: 'not-delivered' }])
  })

  test('by a receipt of its delivery, and then the account is not notified', async () => {
    const { account, first } = await raiseAccepted()
    await report(account, first, 'delivered')
    await passTime(account, 8 * MINUTE_MS)
    expect(await undelivered(account)).toEqual([])
    expect(await recipientsOf(account, 'notice')).toEqual([])
  })

  test.each(['bounced', 'failed', 'complained'])(
    'not by one that is %s: the account is notified at once',
    async (what) => {
      const { account, first } = await raiseAccepted()
      await report(account, first, what)
      expect((await readMessages(account))[0]).toMatchObject({ status: 'failed' })
      await runDurableObjectAlarm(ledgerStub(account))
      expect(await undelivered(account)).toMatchObject([{ reason: 'not-delivered', notices: 4 }])
    },
  )

  test.each(['bounced', 'complained'])(
    'no longer once a delivered one is %s, long after its delivery too',
    async (what) => {
      const { account, first } = await raiseAccepted({ escalation: null })
      await report(account, first, 'delivered')
      for (let n = 0; n < 3; n++) await passTime(account, 15 * MINUTE_MS)
      expect(await undelivered(account)).toEqual([])
      await report(account, first, what)
      await crashLedger(account)
      await passTime(account, 1)
      expect(await undelivered(account)).toHaveLength(1)
      // Receipts may arrive in any order.
      await report(account, first, 'delivered')
      const messages: Message[] = await readMessages(account)
      expect(messages.find(({ id }) => id === first.id)?.status).toBe('failed')
    },
  )

  test('by another recipient, so that a bounce changes nothing', async () => {
    const account = await openAccountWithPeople()
    await createUser(account, { email: 'second@example.com' })
    const { alert } = (await raiseSos(account, await createDevice(account))).body
    await waitUntilSent(account)
    const [first, second] = alert.deliveries
    await report(account, first, 'bounced')
    // What is still on its way has half a minute.
    await passTime(account, 20_000)
    expect(await undelivered(account)).toEqual([])
    await report(account, second, 'delivered')
    await passTime(account, 8 * MINUTE_MS)
    expect(await undelivered(account)).toEqual([])
    await report(account, second, 'complained')
    await passTime(account, 1)
    expect(await undelivered(account)).toHaveLength(1)
  })
})

describe('when the notices fail too', () => {
  test('the account is notified again, three times at most, and the rounds still come', async () => {
    const { account, first } = await raiseAccepted({ escalation: { afterMinutes: 12, rounds: 2 } })
    await report(account, first, 'bounced')
    for (let n = 0; n < 5; n++) {
      await passTime(account, 2 * MINUTE_MS + 1)
      await waitUntilSent(account)
      await reportAll(account, 'notice', 'bounced')
    }
    expect(await undelivered(account)).toHaveLength(3)
    expect(await recipientsOf(account, 'notice')).toEqual(
      [...NOTICES, ...NOTICES, ...NOTICES].sort(),
    )
    for (let n = 0; n < 3; n++) await passTime(account, 12 * MINUTE_MS)
    await waitUntilSent(account)
    expect(await readEvents(account, 'alert.escalated')).toHaveLength(2)
    expect((await recipientsOf(account, 'escalation')).length).toBeGreaterThan(2)
    expect(await undelivered(account)).toHaveLength(3)
  })

  test('but not while one of them has reached somebody or is on its way', async () => {
    const { account, first } = await raiseAccepted({ escalation: null })
    await report(account, first, 'bounced')
    await passTime(account, 1)
    await waitUntilSent(account)
    const messages: Message[] = await readMessages(account)
    const [left, ...others] = messages.filter(({ kind }) => kind === 'notice')
    for (const notice of others) await report(account, notice, 'bounced')
    await passTime(account, 10 * MINUTE_MS)
    expect(await undelivered(account)).toHaveLength(1)
    await report(account, left as Message, 'delivered')
    await passTime(account, 10 * MINUTE_MS)
    expect(await undelivered(account)).toHaveLength(1)
  })
})

test('a bounce and an acknowledgement at once: nobody is notified after the acknowledgement', async () => {
  for (let n = 0; n < 4; n++) {
    const { account, alert, first } = await raiseAccepted()
    const acknowledge = () => account.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    const bounce = async () => {
      await report(account, first, 'bounced')
      await runDurableObjectAlarm(ledgerStub(account))
    }
    await Promise.all(n % 2 === 0 ? [acknowledge(), bounce()] : [bounce(), acknowledge()])
    await passTime(account, 8 * MINUTE_MS)
    const { events } = (await account.call('GET', '/api/events?limit=100')).body
    const at = (type: string) => events.findIndex((event: { type: string }) => event.type === type)
    expect(at('alert.acknowledged')).toBeGreaterThan(-1)
    expect(at('alert.undelivered')).toBeLessThan(at('alert.acknowledged'))
  }
})
