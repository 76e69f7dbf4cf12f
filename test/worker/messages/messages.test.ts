import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { readMessages, waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice } from '../../support/devices.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { createUser } from '../../support/users.ts'

const both = { email: true, sms: true }
const ids = (messages: { id: string }[]) => messages.map(({ id }) => id)

describe('messages', () => {
  test('show the exact text that would have gone out, and their status', async () => {
    const account = await openAccount()
    const ana = await createUser(account, {
      timeZone: 'Asia/Kolkata',
      phone: '+351910000020',
      notify: both,
    })
    const id = await createDevice(account, { name: 'Łódź <7>' })
    const raised = {
      alertName: 'SOSButton',
      text: 'Help',
      dateTime: '2026-07-14T09:30:00Z',
      latitude: 1.5,
      longitude: -2,
    }
    const { alert } = (await raiseAlert(account, id, raised)).body
    await waitUntilSent(account)
    const [sms, mail] = await readMessages(account)
    const stands = {
      alertId: alert.id,
      deviceId: id,
      status: 'sent',
      reason: null,
      resetAt: null,
      provider: 'outbox',
      attempts: 1,
      kind: 'alert',
      commandId: null,
    }
    expect(mail).toEqual({
      ...stands,
      id: alert.deliveries[0].id,
      channel: 'Email',
      to: ana.email,
      subject: 'SOS button: Łódź <7>',
      text: expect.stringContaining('Tue, 14 Jul 2026, 15:00:00 GMT+5:30 (Asia/Kolkata)'),
      lastModified: expect.any(String),
    })
    expect(mail.text).toMatch(/^https:\/\/perigee\.test\/a\/[0-9a-z]{16}$/m)
    expect(sms).toMatchObject({
      ...stands,
      channel: 'SMS',
      to: '+351910000020',
      subject: '',
      text: expect.stringMatching(
        /^SOS button: Lodz <7>, 14 Jul, 15:00 GMT\+5:30\. 1\.50000,-2\.00000 https:\/\/perigee\.test\/a\/[0-9a-z]{16} 382 km S of Sekondi Help$/,
      ),
    })
  })

  test('are listed newest alert first, filtered by status, channel, device and alert, in pages', async () => {
    const account = await openAccount()
    await createUser(account, { phone: '+351910000021', notify: both })
    const [first, second] = [
      await createDevice(account, { limits: { dailySmsLimit: 1 } }),
      await createDevice(account),
    ]
    const alerts = []
    for (const id of [first, first, second]) alerts.push((await raiseAlert(account, id)).body.alert)
    await waitUntilSent(account)
    const all = ids(await readMessages(account))
    expect(all).toEqual(
      alerts.toReversed().flatMap(({ deliveries }) => ids(deliveries).toReversed()),
    )
    expect(ids(await readMessages(account, '?status=suppressed'))).toEqual([
      alerts[1].deliveries[1].id,
    ])
    expect(ids(await readMessages(account, '?channel=SMS&status=sent'))).toHaveLength(2)
    expect(ids(await readMessages(account, `?deviceId=${second}`))).toEqual(
      ids(alerts[2].deliveries).toReversed(),
    )
    expect(ids(await readMessages(account, `?alertId=${alerts[0].id}`))).toEqual(
      ids(alerts[0].deliveries).toReversed(),
    )
    const [own] = alerts
    for (const id of [
      'alr_none',
      'alr_',
      own.id.slice(0, -1),
      own.id.slice(0, 8),
      own.id.replace('alr', 'msg'),
      own.deliveries[0].id,
    ]) {
      expect(await readMessages(account, `?alertId=${id}`), id).toEqual([])
    }
    const walked: string[] = []
    for (let query = '?limit=4'; query; ) {
      const { body } = await account.call('GET', `/api/account/messages${query}`)
      walked.push(...ids(body.messages))
      query = body.nextCursor && `?limit=4&cursor=${body.nextCursor}`
    }
    expect(walked).toEqual(all)
    for (const [query, pointer] of [
      ['?status=lost', '#/query/status'],
      ['?channel=Fax', '#/query/channel'],
    ]) {
      const { status, body } = await account.call('GET', `/api/account/messages${query}`)
      expect([status, body.errors[0].pointer]).toEqual([400, pointer])
    }
  })

  test('that are queued, sent or unknown cannot be retried', async () => {
    const [account, other] = [await openAccount(), await openAccount()]
    await createUser(account)
    const { alert } = (await raiseAlert(account, await createDevice(account))).body
    await waitUntilSent(account)
    const path = `/api/account/messages/${alert.deliveries[0].id}/retry`
    expect((await account.call('POST', path)).body.code).toBe('message-not-failed')
    expect((await other.call('POST', path)).status).toBe(404)
    expect((await account.call('POST', '/api/account/messages/msg_none/retry')).status).toBe(404)
  })

  test('that were withdrawn can be retried', async () => {
    const account = await openAccount()
    await createUser(account)
    const { alert } = (await raiseAlert(account, await createDevice(account))).body
    await waitUntilSent(account)
    const withdrawn = "UPDATE messages SET status = 'suppressed', reason = 'acknowledged'"
    await env.DB.prepare(`${withdrawn} WHERE account_id = ?`).bind(account.id).run()
    await runInDurableObject(ledgerStub(account), (_, { storage }) => {
      storage.sql.exec(withdrawn)
    })
    const path = `/api/account/messages/${alert.deliveries[0].id}/retry`
    expect((await account.call('POST', path)).body.message).toMatchObject({ status: 'queued' })
  })
})

describe('a message is not retried if its recipient has since been', () => {
  const edit = (account: TestAccount, id: string, body: object) =>
    account.call('PATCH', `/api/users/${id}`, {
      body,
      headers: { 'Content-Type': 'application/merge-patch+json' },
    })

  test.each<[string, (account: TestAccount, id: string) => Promise<{ status: number }>]>([
    ['disabled', (account, id) => edit(account, id, { disabled: true })],
    ['expired', (account, id) => edit(account, id, { expires: '2021-01-01T00:00:00Z' })],
    ['deleted', (account, id) => account.call('DELETE', `/api/users/${id}`)],
    [
      'unsubscribed from the channel',
      (account, id) => edit(account, id, { notify: { email: false, sms: true } }),
    ],
    [
      'given another address',
      (account, id) => edit(account, id, { email: 'elsewhere@example.com' }),
    ],
    [
      'moved to a group without the device',
      async (account, id) => {
        const { body: south } = await account.call('POST', '/api/groups', {
          body: { name: 'South' },
        })
        return edit(account, id, { group: south.id })
      },
    ],
  ])('%s', async (_, leave) => {
    const account = await openAccount()
    const ana = await createUser(account, { phone: '+351910000024', notify: both })
    const bob = await createUser(account)
    const { deliveries } = (
      await raiseAlert(
        account,
        await createDevice(account, { limits: { dailyEmailLimit: 0, dailySmsLimit: 0 } }),
      )
    ).body.alert
    const retry = async (to: string) => {
      const { id } = deliveries.find((delivery: { to: string }) => delivery.to === to)
      const { status, body } = await account.call('POST', `/api/account/messages/${id}/retry`)
      return [status, body.code]
    }
    expect(await retry(ana.email)).toEqual([409, 'daily-limit-reached'])
    expect((await leave(account, ana.id)).status).toBeLessThan(300)
    expect(await retry(ana.email)).toEqual([409, 'recipient-gone'])
    expect(await retry(bob.email)).toEqual([409, 'daily-limit-reached'])
  })
})
