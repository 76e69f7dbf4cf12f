import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../support/accounts.ts'
import { raiseAlert } from '../support/alerts/alerts.ts'
import { readMessages } from '../support/alerts/messages.ts'
import {
  readProviderRecord,
  scriptProvider,
  uniqueEmail,
  uniquePhone,
} from '../support/alerts/recipients.ts'
import { createDevice } from '../support/devices.ts'
import { call } from '../support/http.ts'
import { ledgerStub } from '../support/ledger.ts'
import { eventually } from '../support/time.ts'
import { createUser } from '../support/users.ts'

const LINK = /https:\/\/perigee\.test\/a\/([0-9a-z]{16})/g

const scene = async () => {
  const account = await openAccount()
  const [email, phone] = [uniqueEmail(), uniquePhone()]
  await createUser(account, { email, phone, notify: { email: true, sms: true } })
  return { account, email, phone, id: await createDevice(account) }
}
const untilSent = (account: TestAccount) =>
  eventually(async () => {
    await runDurableObjectAlarm(ledgerStub(account))
    for (const { status } of await readMessages(account)) expect(status).toBe('sent')
  })
const linksIn = (received: unknown): string[] => [
  ...new Set([...JSON.stringify(received).matchAll(LINK)].map(([, link]) => link as string)),
]

test('a provider gets the link, and the API shows it to nobody', async () => {
  const { account, email, phone, id } = await scene()
  const { alert } = (await raiseAlert(account, id, { alertName: 'SOSButton' })).body
  await untilSent(account)
  const byEmail = linksIn(await readProviderRecord(email))
  const bySms = linksIn(await readProviderRecord(phone))
  expect([byEmail.length, bySms.length]).toEqual([1, 1])
  expect(byEmail).not.toEqual(bySms)

  for (const { text } of await readMessages(account)) {
    expect(text).toContain('https://perigee.test/a/…')
    expect(linksIn(text)).toEqual([])
  }
  const { results } = await env.DB.prepare('SELECT * FROM messages WHERE account_id = ?')
    .bind(account.id)
    .all()
  for (const link of [...byEmail, ...bySms]) expect(JSON.stringify(results)).not.toContain(link)
  const kept = await runInDurableObject(ledgerStub(account), (_, state) =>
    state.storage.sql.exec('SELECT * FROM messages').toArray(),
  )
  for (const link of [...byEmail, ...bySms]) expect(JSON.stringify(kept)).not.toContain(link)

  const done = await call('POST', `/a/${bySms[0]}`)
  expect(done.status).toBe(200)
  const read = await account.call('GET', `/api/alerts/${alert.id}`)
  expect(read.body.alert.acknowledged).toBe(true)
})

test('an e-mail’s link can be clicked', async () => {
  const { account, email, id } = await scene()
  await raiseAlert(account, id, { alertName: 'SOSButton' })
  await untilSent(account)
  const record = JSON.stringify(await readProviderRecord(email))
  const [link] = linksIn(record)
  expect(record).toContain(`<a href=\\"https://perigee.test/a/${link}\\">`)
})

test('every attempt to send a message has the same link', async () => {
  const { account, email, id } = await scene()
  await scriptProvider(email, 'reset', 'reset')
  await raiseAlert(account, id, { alertName: 'SOSButton', notifications: ['Email'] })
  await eventually(async () => {
    await runInDurableObject(ledgerStub(account), (_, state) => {
      state.storage.sql.exec('UPDATE messages SET next_try = 0 WHERE next_try IS NOT NULL')
    })
    await runDurableObjectAlarm(ledgerStub(account))
    for (const { status } of await readMessages(account)) expect(status).toBe('sent')
  })
  expect(linksIn(await readProviderRecord(email))).toHaveLength(1)
})
