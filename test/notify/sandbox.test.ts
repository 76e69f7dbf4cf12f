import { runDurableObjectAlarm } from 'cloudflare:test'
import { expect, test } from 'vitest'
import { openAccount, openSandbox, type TestAccount } from '../support/accounts.ts'
import { raiseAlert } from '../support/alerts/alerts.ts'
import { readMessages } from '../support/alerts/messages.ts'
import { readProviderRecord, uniqueEmail, uniquePhone } from '../support/alerts/recipients.ts'
import { createDevice } from '../support/devices.ts'
import { ledgerStub } from '../support/ledger.ts'
import { eventually } from '../support/time.ts'
import { createUser } from '../support/users.ts'

/** Raises an SOS, invites its recipient, and waits until all messages are sent. */
const alarm = async (account: TestAccount) => {
  const [email, phone] = [uniqueEmail(), uniquePhone()]
  const { id } = await createUser(account, { email, phone, notify: { email: true, sms: true } })
  await raiseAlert(account, await createDevice(account), { alertName: 'SOSButton' })
  expect((await account.call('POST', `/api/users/${id}/invite`)).status).toBe(200)
  await eventually(async () => {
    await runDurableObjectAlarm(ledgerStub(account))
    for (const { status } of await readMessages(account)) expect(status).toBe('sent')
  })
  const records = await Promise.all([readProviderRecord(email), readProviderRecord(phone)])
  const sent = records.map(({ requests }) => requests.length)
  return { sent, messages: await readMessages(account) }
}

test('no provider gets a message of a sandbox; its list has the links', async () => {
  const { sent, messages } = await alarm(await openSandbox())
  expect(sent).toEqual([0, 0])
  expect(messages).toHaveLength(3)
  for (const { provider, text } of messages) {
    expect(provider).toBe('sandbox')
    expect(text).toMatch(/^\[Sandbox\] /)
    expect(text).toMatch(/https:\/\/perigee\.test\/(a\/[0-9a-z]{16}|password#invitation\.)/)
  }
})

test('those of any other account are sent', async () => {
  const { sent, messages } = await alarm(await openAccount())
  expect(sent).toEqual([2, 1])
  for (const { provider, text } of messages) {
    expect(provider).not.toBe('sandbox')
    expect(text).not.toContain('[Sandbox]')
  }
})
