import { expect, test } from 'vitest'
import { checkHead, checkRow } from '../../../src/archive/checks.ts'
import { linesOf } from '../../../src/domain/archive/archive.ts'
import { openAccount } from '../../support/accounts.ts'
import { exportAs, filesOf, fillAccount, textOf } from '../../support/db/archive.ts'

/* An archive may come from a customer: what others would suffer from is not taken over. */

const target = { accountId: 'acc_x', cell: 0, sequence: 0 }

test('settings, watches and users must be such as the API takes', async () => {
  const account = await openAccount()
  await fillAccount(account)
  const files = await filesOf(await exportAs(account.token))
  const head = JSON.parse(textOf(files, 'account.json'))
  const withHead = (change: object) => () =>
    checkHead({ ...head, account: { ...head.account, ...change } })
  expect(withHead({})).not.toThrow()
  expect(withHead({ escalation: 'off' })).not.toThrow()
  expect(withHead({ escalation: { afterMinutes: 0, rounds: 3 } })).toThrow('escalation')
  expect(withHead({ escalation: { afterMinutes: 1, rounds: 1e9 } })).toThrow('escalation')
  expect(withHead({ emergencyContacts: [{ name: 'A', phone: 'none' }] })).toThrow('phone')
  const tooFew = { ...head.account.budgets, requestsPerMinute: 1 }
  expect(withHead({ budgets: tooFew })).toThrow('requestsPerMinute')

  const rowOf = (part: string) =>
    JSON.parse(textOf(files, `${part}-00001.ndjson`).split('\n')[0] ?? '')
  const { record } = rowOf('watches')
  const withWatch = (change: object) => () =>
    checkRow('watches', { record: { ...record, ...change } }, target)
  expect(withWatch({})).not.toThrow()
  expect(withWatch({ due: Date.now(), everyMinutes: null })).not.toThrow()
  for (const change of [
    { everyMinutes: 0 },
    { everyMinutes: -1 },
    { graceMinutes: 1e300 },
    { graceMinutes: null },
    { remindMinutes: 'soon' },
    { due: 1e300, everyMinutes: null },
    { due: 1.5, everyMinutes: null },
    { notifications: ['Fax'] },
  ])
    expect(withWatch(change), JSON.stringify(change)).toThrow('not valid')

  const user = rowOf('users')
  const withUser = (change: object) => () => checkRow('users', { ...user, ...change }, target)
  expect(withUser({})).not.toThrow()
  for (const change of [{ timeZone: 'Mars/North' }, { email: 'x' }, { privileges: ['operator'] }])
    expect(withUser(change), JSON.stringify(change)).toThrow('not valid')
})

test('a file of very short lines is refused before they take memory', () => {
  const bytes = new TextEncoder().encode('{}\n'.repeat(100_001))
  expect(() => linesOf({ name: 'events-00001.ndjson', bytes })).toThrow('too many lines')
})
