import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { ledgerOf } from '../../src/ledger/stub.ts'
import { openAccount } from '../support/accounts.ts'
import { readMessages } from '../support/alerts/messages.ts'
import { readProviderRecord, uniqueEmail } from '../support/alerts/recipients.ts'
import { call } from '../support/http.ts'
import { ledgerStub } from '../support/ledger.ts'
import { eventually } from '../support/time.ts'
import { createUser } from '../support/users.ts'

test('an invitation is sent with a clickable link, and its secret is in no list of messages', async () => {
  const account = await openAccount()
  const email = uniqueEmail()
  const user = await createUser(account, { email })
  // Stored before such names were refused.
  const name = 'Evil https://evil.example/password#x'
  await ledgerOf(env, account.id).editAccount({ name }, null)
  const invited = await account.call('POST', `/api/users/${user.id}/invite`)
  expect(invited.status, invited.text).toBe(200)
  const { sent } = await eventually(async () => {
    await runDurableObjectAlarm(ledgerStub(account))
    const record = await readProviderRecord(email)
    expect(record.sent).toHaveLength(1)
    return record
  })
  const { text, html, subject } = (sent[0] as { body: Record<string, string> }).body
  const [link = ''] = /^https:\S+$/m.exec(text ?? '') ?? []
  expect(link).toMatch(/^https:\/\/perigee\.test\/password#invitation\.0\.usr_/)
  expect(html).toContain(`<a href="${link}">${link}</a>`)
  expect(subject).toBe('Invitation to Evil …')
  expect(text).toContain('sign in to Evil ….')
  expect(`${text}${html}`).not.toContain('evil.example')

  await eventually(async () => {
    await runDurableObjectAlarm(ledgerStub(account))
    expect(await readMessages(account)).toMatchObject([{ status: 'sent', provider: 'resend' }])
  })
  const shown = await account.call('GET', '/api/account/messages')
  expect(shown.text).not.toContain(new URL(link).hash.slice(1))
  expect(shown.body.messages[0].text).toContain('https://perigee.test/password#…')

  const password = 'staple anvil plinth'
  const reply = await call('POST', '/api/Auth/Password', { body: { link, password } })
  expect(reply.body).toMatchObject({ success: true, account: account.userName, email })
})
