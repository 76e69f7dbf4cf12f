import { runDurableObjectAlarm } from 'cloudflare:test'
import { expect } from 'vitest'
import type { Caller, TestAccount } from '../accounts.ts'
import { ledgerStub } from '../ledger.ts'
import { eventually } from '../time.ts'

export const readMessages = async (account: Caller, query = '') =>
  (await account.call('GET', `/api/account/messages${query}`)).body.messages

/** Runs the ledger's alarm, which sends messages, until none is queued. */
export const waitUntilSent = async (account: TestAccount): Promise<void> => {
  await eventually(async () => {
    await runDurableObjectAlarm(ledgerStub(account))
    expect(await readMessages(account, '?status=queued')).toEqual([])
  })
}
