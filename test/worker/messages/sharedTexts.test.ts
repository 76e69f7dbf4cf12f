import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { readMessages, waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice } from '../../support/devices.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { createUser } from '../../support/users.ts'

const TEXT = 'The anchor drags. '.repeat(50).trim()

test('a text is stored once per alert, channel and time zone, whoever gets it', async () => {
  const account = await openAccount()
  for (let n = 0; n < 8; n++)
    await createUser(account, {
      timeZone: n % 2 === 0 ? 'Europe/Lisbon' : 'Pacific/Auckland',
      phone: `+35191000004${n}`,
      notify: { email: true, sms: n < 4 },
    })
  const device = await createDevice(account, { limits: { dailyEmailLimit: 3 } })
  const { alert } = (await raiseAlert(account, device, { text: TEXT })).body
  expect(alert.deliveries).toHaveLength(12)

  const stored = 'SELECT count(*) AS messages, sum(length(text) > 0) AS texts FROM messages'
  const cell = env.DB.prepare(`${stored} WHERE account_id = ?`).bind(account.id)
  expect(await cell.first()).toEqual({ messages: 12, texts: 4 })
  const ledger = await runInDurableObject(ledgerStub(account), (_, { storage }) =>
    storage.sql.exec(stored).one(),
  )
  expect(ledger).toEqual({ messages: 7, texts: 4 })

  await waitUntilSent(account)
  const messages = await readMessages(account, `?alertId=${alert.id}`)
  expect(messages).toHaveLength(12)
  for (const { channel, subject, text, status } of messages) {
    expect(subject).toBe(channel === 'Email' ? 'Low battery: Tern 7' : '')
    expect(text).toContain(channel === 'Email' ? TEXT : 'The anchor drags.')
    expect(text).toMatch(status === 'sent' ? /\/a\/[0-9a-z]{16}/ : /\/a\/…/)
  }

  const last = messages.find(({ status }: { status: string }) => status === 'suppressed')
  await account.call('PATCH', `/api/devices/${device}`, {
    body: { limits: { dailyEmailLimit: 9 } },
  })
  const retried = await account.call('POST', `/api/account/messages/${last.id}/retry`)
  expect(retried.body.message).toMatchObject({ status: 'queued', text: last.text })
  const queued = await runInDurableObject(ledgerStub(account), (_, { storage }) =>
    storage.sql.exec('SELECT subject, text FROM messages WHERE id = ?', last.id).one(),
  )
  expect(queued).toEqual({ subject: last.subject, text: expect.stringContaining(TEXT) })
})
