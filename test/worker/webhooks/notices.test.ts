import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { AccountFeed } from '../../../src/feed/feed.ts'
import { recordDisableIntent } from '../../../src/feed/webhooks/disableNotice.ts'
import { AccountLedger } from '../../../src/ledger/ledger.ts'
import { none } from '../../../src/notify/none.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { fetchTokenWithScopes, openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { feedStub, passTime } from '../../support/feed/feed.ts'
import {
  callWithNewToken,
  createWebhook,
  DAY_MS,
  deliveriesOf,
  HOUR_MS,
  MINUTE_MS,
  openAccountWithReceiver,
  receiver,
  waitForDelivery,
  webhookOf,
} from '../../support/feed/webhooks.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { eventually } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('the notice about a disabled webhook', () => {
  test('a webhook that fails for five days is disabled, and administrators get an e-mail', async () => {
    const { account, id } = await openAccountWithReceiver('500')
    const people = {
      administrator: { privileges: ['admin'] },
      reader: {},
      muted: { privileges: ['admin'], notify: { email: false } },
      inactive: { privileges: ['admin'], disabled: true },
    }
    for (const [name, more] of Object.entries(people)) {
      const body = { name, email: `${name}@example.com`, country: 'PT', timeZone: 'UTC', ...more }
      expect((await account.call('POST', '/api/users', { body })).status).toBe(201)
    }
    const startedAt = Date.now()
    const mailed = vi.spyOn(none, 'send')
    await waitForDelivery(account, id, { attempts: 1 })
    for (let day = 1; day <= 4; day++) {
      vi.useFakeTimers({ toFake: ['Date'], now: startedAt + day * DAY_MS })
      await runDurableObjectAlarm(feedStub(account))
      await waitForDelivery(account, id, { attempts: 1 + day })
      expect(await webhookOf(account, id)).toMatchObject({ enabled: true })
    }
    vi.useFakeTimers({ toFake: ['Date'], now: startedAt + 5 * DAY_MS + HOUR_MS })
    await callWithNewToken(account, 'POST', '/api/devices', { name: 'Later' })
    await runDurableObjectAlarm(feedStub(account))
    await eventually(async () =>
      expect(await webhookOf(account, id)).toMatchObject({
        enabled: false,
        disabledReason: 'failing',
      }),
    )
    const [newest] = await deliveriesOf(account, id)
    expect(newest).toMatchObject({ status: 'failed', nextAttempt: null })

    await eventually(async () => {
      await runDurableObjectAlarm(ledgerStub(account))
      expect(mailed).toHaveBeenCalled()
    })
    expect(mailed.mock.calls.map(([, { to, subject, text }]) => [to, subject, text])).toEqual([
      [
        'administrator@example.com',
        'Webhook disabled: receiver.example',
        expect.stringContaining('failed for five days'),
      ],
    ])
    mailed.mockRestore()
  })

  test('the e-mail is among the messages for 30 days, for callers who may see webhooks', async () => {
    const account = await openAccount()
    const administrator = {
      name: 'Ana',
      email: 'ana@example.com',
      country: 'PT',
      timeZone: 'UTC',
      privileges: ['admin'],
    }
    expect((await account.call('POST', '/api/users', { body: administrator })).status).toBe(201)
    const { webhook } = await createWebhook(account, { url: receiver().url('410') })
    const device = await createDevice(account, 'Tern')
    const messagesOf = async (query = '', token = account.token) =>
      (await account.call('GET', `/api/account/messages${query}`, { token })).body.messages
    const [notice] = await eventually(async () => {
      const messages = await messagesOf()
      expect(messages).toMatchObject([{ status: 'sent' }])
      return messages
    })
    expect(notice).toMatchObject({
      alertId: null,
      deviceId: null,
      channel: 'Email',
      to: 'ana@example.com',
      subject: 'Webhook disabled: receiver.example',
      text: expect.stringContaining(`The webhook ${webhook.id} to receiver.example`),
      status: 'sent',
      reason: null,
      provider: 'outbox',
      attempts: 1,
    })
    expect(await messagesOf('?status=sent&channel=Email')).toEqual([notice])
    expect(await messagesOf(`?deviceId=${device}`)).toEqual([])
    expect(await messagesOf('', await fetchTokenWithScopes(account, ['read']))).toEqual([])
    expect((await account.call('POST', `/api/account/messages/${notice.id}/retry`)).status).toBe(
      404,
    )
    await sweep(env, Date.now() + 29 * DAY_MS)
    expect(await messagesOf()).toEqual([notice])
    await sweep(env, Date.now() + 31 * DAY_MS)
    expect(await messagesOf()).toEqual([])
  })
})

describe('sending the notice', () => {
  const openAccountWithWebhook = async () => {
    const account = await openAccount()
    const administrator = {
      name: 'Ana',
      email: 'ana@example.com',
      country: 'PT',
      timeZone: 'UTC',
      privileges: ['admin'],
    }
    await account.call('POST', '/api/users', { body: administrator })
    const { webhook } = await createWebhook(account, { url: receiver().url(), events: ['key.*'] })
    return { account, webhook }
  }
  const run = (statement: string, id: string) => env.DB.prepare(statement).bind(id).run()
  const disableWebhook = ({ id }: { id: string }) =>
    run(`UPDATE webhooks SET enabled = 0, disabled_reason = 'gone' WHERE id = ?`, id)
  const recordNotice = (account: TestAccount, webhook: { id: string }, now: number) =>
    runInDurableObject(feedStub(account), (_, { storage }) =>
      recordDisableIntent(storage.sql, webhook.id, 'gone', now),
    )
  const messagesOf = async (account: TestAccount) =>
    (await callWithNewToken(account, 'GET', '/api/account/messages')).body.messages

  /** Polls and returns the milliseconds to the next alarm; null if there is none. */
  const pollAndReadAlarm = (account: TestAccount) =>
    runInDurableObject(feedStub(account), async (feed: AccountFeed, { storage }) => {
      await storage.deleteAlarm()
      await feed.alarm()
      const at = await storage.getAlarm()
      return at && at - Date.now()
    })

  test('a poll while the webhook is being disabled does not drop the notice', async () => {
    const { account, webhook } = await openAccountWithWebhook()
    await recordNotice(account, webhook, Date.now())
    await pollAndReadAlarm(account)
    await disableWebhook(webhook)
    await passTime(account, MINUTE_MS)
    await eventually(async () => expect(await messagesOf(account)).toHaveLength(1))
  })

  test('the notice is dropped if the webhook was not disabled after all', async () => {
    const { account, webhook } = await openAccountWithWebhook()
    await recordNotice(account, webhook, Date.now() - MINUTE_MS)
    await pollAndReadAlarm(account)
    await eventually(async () => {
      const notices = await runInDurableObject(feedStub(account), (_, { storage: { sql } }) =>
        sql.exec('SELECT * FROM disable_notices').toArray(),
      )
      expect(notices).toEqual([])
    })
    expect(await messagesOf(account)).toEqual([])
  })

  test('a pending notice does not wake the feed of a disabled or erased account', async () => {
    const { account, webhook } = await openAccountWithWebhook()
    await run('UPDATE accounts SET disabled = 1 WHERE id = ?', account.id)
    await recordNotice(account, webhook, Date.now() - MINUTE_MS)
    expect(await pollAndReadAlarm(account)).toBeGreaterThan(4 * MINUTE_MS)
    await run('DELETE FROM accounts WHERE id = ?', account.id)
    expect(await pollAndReadAlarm(account)).toBeNull()
  })

  test('is requested again after a minute if the ledger’s answer is lost, and sent once', async () => {
    const { account, webhook } = await openAccountWithWebhook()
    await disableWebhook(webhook)
    const { sendNotice } = AccountLedger.prototype
    const requests = vi.spyOn(AccountLedger.prototype, 'sendNotice')
    requests.mockImplementationOnce(async function (this: AccountLedger, notice) {
      await sendNotice.call(this, notice)
      throw new Error('the answer is lost')
    })
    await recordNotice(account, webhook, Date.now() - MINUTE_MS)
    await pollAndReadAlarm(account)
    await eventually(() => expect(requests).toHaveBeenCalledTimes(1))
    expect(await pollAndReadAlarm(account)).toBeGreaterThan(MINUTE_MS / 2)
    await passTime(account, MINUTE_MS)
    await eventually(() => expect(requests).toHaveBeenCalledTimes(2))
    await eventually(async () => expect(await pollAndReadAlarm(account)).toBeNull())
    expect(await messagesOf(account)).toHaveLength(1)
    requests.mockRestore()
  })
})
