import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { reconcilePage } from '../../../src/ledger/restore/reconcile.ts'
import { openAccount } from '../../support/accounts.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { recordCell, rowsReadBy } from '../db/recordedCell.ts'

const COUNT = 5000

test('each page of reconcile reads its own rows, however many devices and erasures there are', async () => {
  const account = await openAccount()
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${COUNT})`
  const key = '(SELECT number FROM accounts WHERE id = ?1) * 16777216 + i'
  for (const sql of [
    `${numbers} INSERT INTO devices (key, id, account_id, name, name_key, description, min, model,
       tags, expires, daily_email_limit, daily_sms_limit, creation, last_modified, version, seq)
     SELECT ${key}, ?1 || i, ?1, '', 'x' || i, '', '', '', '{}', 0, 1, 1, i, i, 1, 0 FROM n`,
    `${numbers} INSERT INTO erasures (account_id, id, device_key, creation)
     SELECT ?1, 'gone' || i, ${key}, i FROM n`,
  ])
    await env.DB.prepare(sql).bind(account.id).run()
  const { DB, statements } = recordCell()
  const removed = await runInDurableObject(ledgerStub(account), async (_, state) => {
    let total = 0
    for (let after: number | null = 0; after !== null; ) {
      const page = await reconcilePage(state.storage, { ...env, DB }, after, false)
      if (!page.ok) throw new Error(page.refusal)
      total += page.corrected.removed
      after = page.next
    }
    return total
  })
  expect(removed).toBe(COUNT)
  // Each device once, and once all that is left of devices, to find the last key.
  expect(await rowsReadBy(statements)).toBeLessThan(3 * COUNT)
})
