import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Account } from '../../../src/domain/account/account.ts'
import { type Ledger, ledgerOf } from '../../../src/ledger/stub.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { callWithBindings } from '../../support/bindings.ts'

/* `npm run upgrade:check` runs the previous release itself. These are its replies, without it. */

type AccountOutcome = Awaited<ReturnType<Ledger['readAccount']>>

/** The account as an object of the release before says it. */
const asBefore = (outcome: AccountOutcome): AccountOutcome => {
  if (!outcome.ok) return outcome
  const { sandbox, ...account } = outcome.account
  return { ...outcome, account: account as Account }
}

const LEDGER = {
  idFromName: (name: string) => name,
  get: (id: string) => ({
    readAccount: async () => asBefore(await ledgerOf(env, id).readAccount()),
    openAccount: async ({ sandbox, ...opening }: Parameters<Ledger['openAccount']>[0]) =>
      asBefore(await ledgerOf(env, id).openAccount(opening)),
    keepSandbox: () => {
      throw new TypeError('The RPC receiver does not implement the method "keepSandbox".')
    },
  }),
} as unknown as DurableObjectNamespace

describe('an object of the release before', () => {
  let account: TestAccount
  beforeAll(async () => {
    account = await openAccount()
  })
  const operate = (method: string, path: string, body?: object) =>
    callWithBindings({ LEDGER }, method, path, { token: env.ADMIN_TOKEN ?? '', body })

  test('is of no sandbox', async () => {
    const { status, body } = await operate('GET', `/admin/accounts/${account.id}`)
    expect(status).toBe(200)
    expect(body.account.sandbox).toBeNull()
  })

  test('opens no sandbox: 503, and why', async () => {
    const sandbox = { userName: 'of-before', name: 'Trial', timeZone: 'UTC', sandbox: true }
    const reply = await operate('POST', '/admin/accounts', sandbox)
    expect(reply.status).toBe(503)
    expect(reply.headers.get('Retry-After')).toBe('60')
    expect(reply.body).toMatchObject({ code: 'unavailable' })
    expect(reply.body.detail).toContain('Try again in some minutes')
  })

  test('is asked for something that it does not know: 503, and why', async () => {
    const { status, body } = await operate('POST', `/admin/accounts/${account.id}/keep`)
    expect([status, body.detail]).toEqual([503, expect.stringContaining('new release')])
  })
})
