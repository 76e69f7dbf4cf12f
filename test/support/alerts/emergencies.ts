import { runDurableObjectAlarm } from 'cloudflare:test'
import { vi } from 'vitest'
import { type Caller, openAccount, type TestAccount } from '../accounts.ts'
import { ledgerStub } from '../ledger.ts'
import { createUser } from '../users.ts'
import { raiseAlert } from './alerts.ts'
import { readMessages } from './messages.ts'

export const MINUTE_MS = 60_000

/** Changes the account's settings for emergencies. */
export const patchAccount = async (account: Caller, body: object) => {
  const reply = await account.call('PATCH', '/api/account', { body })
  if (reply.status !== 200) throw new Error(`no change: ${reply.text}`)
  return reply.body.account
}

export const HARBOUR = {
  name: 'Harbour office',
  email: 'harbour@example.com',
  phone: '+351910000099',
}

/** An account with an administrator, a reader who gets e-mails, and an emergency contact. */
export const openAccountWithPeople = async (settings: object = {}): Promise<TestAccount> => {
  const account = await openAccount()
  const silent = { email: false, sms: false }
  await createUser(account, {
    email: 'admin@example.com',
    phone: '+351910000090',
    privileges: ['admin'],
    notify: silent,
  })
  await createUser(account, { email: 'reader@example.com' })
  await patchAccount(account, { emergencyContacts: [HARBOUR], ...settings })
  return account
}

/** Raises an SOS; two of the same device would join unless their times differ by over an hour. */
export const raiseSos = (account: Caller, deviceId: string, alert: object = {}) =>
  raiseAlert(account, deviceId, { alertName: 'SOSButton', ...alert })

/** Moves the clock of the Worker and its objects ahead, and runs the ledger's alarm. */
export const passTime = async (account: { id: string }, ms: number): Promise<void> => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  await runDurableObjectAlarm(ledgerStub(account))
}

/** The account's messages of a kind, as `channel recipient`, sorted. */
export const recipientsOf = async (account: Caller, kind: string, status?: string) =>
  (await readMessages(account))
    .filter((message: { kind: string; status: string }) => message.kind === kind)
    .filter((message: { status: string }) => status === undefined || message.status === status)
    .map(({ channel, to }: { channel: string; to: string }) => `${channel} ${to}`)
    .toSorted()
