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
  const { status, statusMessage, deletedAt, supportMayWrite, ...account } = outcome.account
  const { requestsPerMinute, maxRetentionDays, maxZones, ...budgets } = account.budgets
  return { ...outcome, account: { ...account, budgets } as unknown as Account }
}

const edits: object[] = []
const LEDGER = {
  idFromName: (name: string) => name,
  get: (id: string) => ({
    readAccount: async () => asBefore(await ledgerOf(env, id).readAccount()),
    editAccount: async (change: object, versions: number[]) => {
      edits.push(change)
      return asBefore(await ledgerOf(env, id).editAccount(change, versions))
    },
    undeleteAccount: () => {
      throw new TypeError('The RPC receiver does not implement the method "undeleteAccount".')
    },
  }),
} as unknown as DurableObjectNamespace

describe('an object of the release before', () => {
  let account: TestAccount
  beforeAll(async () => {
    account = await openAccount()
  })
  const operate = (method: string, path = '', body?: object) => {
    const options = { token: env.ADMIN_TOKEN ?? '', body }
    return callWithBindings({ LEDGER }, method, `/admin/accounts/${account.id}${path}`, options)
  }

  test.each(['active', 'disabled'] as const)('is %s by what it says', async (status) => {
    await ledgerOf(env, account.id).editAccount({ status }, null)
    const { body } = await operate('GET')
    expect(body.account).toMatchObject({ status, statusMessage: '', deletedAt: null })
    await ledgerOf(env, account.id).editAccount({ status: 'active' }, null)
  })

  test.each([
    { status: 'readOnly' },
    { disabled: true },
    { statusMessage: 'Your invoice is due.' },
    { budgets: { maxZones: 3 } },
    { licenses: 9, status: 'notice' },
  ])('does not get %j, which it would not keep', async (patch) => {
    edits.length = 0
    const reply = await operate('PATCH', '', patch)
    expect(reply.status).toBe(503)
    expect(reply.headers.get('Retry-After')).toBe('60')
    expect(reply.body).toMatchObject({ code: 'unavailable' })
    expect(reply.body.detail).toContain('Try again in some minutes')
    expect(edits).toEqual([])
  })

  test('gets what it knows', async () => {
    const { status, body } = await operate('PATCH', '', { licenses: 12 })
    expect(status).toBe(200)
    expect(body.account).toMatchObject({ status: 'active', licenses: { total: 12 } })
    const { token } = account
    const options = { token, body: { supportMayWrite: true } }
    expect((await callWithBindings({ LEDGER }, 'PATCH', '/api/account', options)).status).toBe(503)
    const named = { token, body: { name: 'Harbour' } }
    expect((await callWithBindings({ LEDGER }, 'PATCH', '/api/account', named)).status).toBe(200)
  })

  test('is asked for something that it does not know: 503, and why', async () => {
    const { status, body } = await operate('POST', '/undelete')
    expect([status, body.detail]).toEqual([503, expect.stringContaining('new release')])
    const { token } = account
    const exported = await callWithBindings({ LEDGER }, 'POST', '/api/account/export', { token })
    expect(exported.status).toBe(503)
  })
})

test('a Worker of the release before disables an account, and keeps its limits', async () => {
  const account = await openAccount()
  const ledger = ledgerOf(env, account.id)
  const read = async () => {
    const outcome = await ledger.readAccount()
    if (!outcome.ok) throw new Error(outcome.refusal)
    return outcome.account
  }
  const before = await read()
  expect(before).toMatchObject({ disabled: false })
  expect(Object.keys(before.budgets).sort()).toEqual([
    'locationsPerDay',
    'maxUsers',
    'messagesPerDay',
    'storageBytes',
  ])
  await ledger.editAccount({ budgets: { ...before.budgets, maxZones: 7 } }, null)
  const { budgets } = before
  await ledger.editAccount({ disabled: true, budgets } as object, null)
  expect(await read()).toMatchObject({
    status: 'disabled',
    disabled: true,
    budgets: { maxZones: 7 },
  })
  await ledger.editAccount({ status: 'readOnly' }, null)
  await ledger.editAccount({ disabled: false, name: 'Quay' } as object, null)
  expect(await read()).toMatchObject({ status: 'readOnly', name: 'Quay' })
})
