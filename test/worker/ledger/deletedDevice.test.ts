import { runInDurableObject } from 'cloudflare:test'
import { expect, test } from 'vitest'
import { deleteMessagesOf } from '../../../src/ledger/messages/messageQueue.ts'
import { openAccount } from '../../support/accounts.ts'
import { ledgerStub } from '../../support/ledger.ts'

const COUNT = 2000

test('deleting a device reads its own messages and none of the others', async () => {
  const account = await openAccount()
  const read = await runInDurableObject(ledgerStub(account), (_, { storage }) => {
    const { sql } = storage
    sql.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO messages (id, key, device_key, channel, recipient, subject, text, urgent, status,
         day, accepted, changed)
       SELECT 'msg_' || i, 'msg_' || i, i, 'Email', '', '', '', 0, 'sent', '2026-01-01', 0, 0 FROM n`,
      COUNT,
    )
    let rows = 0
    const counted = {
      exec: (query: string, ...values: unknown[]) => {
        const cursor = sql.exec(query, ...values)
        cursor.toArray()
        rows += cursor.rowsRead
        return cursor
      },
    }
    deleteMessagesOf(counted as SqlStorage, 7)
    const { left } = sql.exec<{ left: number }>('SELECT count(*) AS left FROM messages').one()
    return { rows, left }
  })
  expect(read.left).toBe(COUNT - 1)
  expect(read.rows).toBeLessThan(20)
})
