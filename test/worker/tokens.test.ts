import { expect, test } from 'vitest'
import { openAccount } from './support.ts'

test('a user name and an API key get a token that reads the account', async () => {
  const account = await openAccount({ licenses: 3 })
  const reply = await account.call('GET', '/api/account')
  expect(reply.status).toBe(200)
  expect(reply.body).toMatchObject({ success: true, account: { id: account.id, licenses: { total: 3, used: 0, available: 3 } } })
})
