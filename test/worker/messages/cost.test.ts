import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { listAlerts } from '../../../src/alerts/list.ts'
import { findAlert } from '../../../src/alerts/store.ts'
import type { Database } from '../../../src/db/open.ts'
import { readAlertContext } from '../../../src/db/queries/alertContext.ts'
import { runBatch } from '../../../src/db/statement.ts'
import { insertAlert } from '../../../src/ledger/outbox/projection/alerts.ts'
import { insertMessages, updateMessage } from '../../../src/ledger/outbox/projection/messages.ts'
import { listMessages } from '../../../src/messages/store.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { createDevice } from '../../support/devices.ts'
import { createUser } from '../../support/users.ts'

describe('cost', () => {
  /** Every statement that is prepared while `work` runs, with what it was bound to. */
  const statementsOf = async (work: (db: Database) => Promise<unknown>) => {
    const seen: { sql: string; values: unknown[] }[] = []
    const prepare = (sql: string) => ({
      bind: (...values: unknown[]) => {
        seen.push({ sql, values })
        return env.DB.prepare(sql).bind(...values)
      },
    })
    await work({
      $client: { prepare, batch: (list: D1PreparedStatement[]) => env.DB.batch(list) },
    } as unknown as Database)
    return seen
  }

  test.each<
    [
      string,
      (db: Database, account: TestAccount, deviceId: string, alertId: string) => Promise<unknown>,
    ]
  >([
    [
      'raising',
      (db, { id: accountId }, deviceId) =>
        readAlertContext(
          db,
          { accountId, groupId: 'grp_1', deviceId },
          { channels: ['Email'], now: 1 },
        ),
    ],
    [
      'reading one',
      (db, { id: accountId }, _, alertId) =>
        findAlert(db, { accountId, groupId: 'grp_1' }, alertId),
    ],
    ...(['dateTime', '-dateTime'] as const).flatMap((sort) =>
      [true, false].flatMap((ofDevice) =>
        [undefined, 'SOSButton'].map(
          (
            name,
          ): [
            string,
            (db: Database, account: TestAccount, deviceId: string) => Promise<unknown>,
          ] => [
            `listing ${ofDevice ? 'a device' : 'the account'} by ${sort}${name ? ' and name' : ''}`,
            (db, { id: accountId }, deviceId) =>
              listAlerts(
                db,
                { accountId, groupId: ofDevice ? null : 'grp_1' },
                {
                  deviceId: ofDevice ? deviceId : null,
                  from: 0,
                  to: 9e15,
                  name,
                  sort,
                  after: [1, 'alr_1'],
                  limit: 10,
                },
              ),
          ],
        ),
      ),
    ),
    ...[false, true].map(
      (
        ofAlert,
      ): [
        string,
        (db: Database, account: TestAccount, deviceId: string, alertId: string) => Promise<unknown>,
      ] => [
        `listing messages${ofAlert ? ' of an alert' : ''}`,
        (db, { id: accountId }, _, alertId) =>
          listMessages(
            db,
            { accountId, groupId: 'grp_1' },
            {
              status: 'failed',
              channel: 'SMS',
              deviceId: 'dev_1',
              alertId: ofAlert ? alertId : undefined,
              includesNotices: true,
              after: undefined,
              limit: 10,
            },
          ),
      ],
    ),
  ])('%s uses an index and sorts nothing', async (what, work) => {
    const account = await openAccount()
    await createUser(account)
    const deviceId = await createDevice(account)
    const { alert } = (await raiseAlert(account, deviceId)).body
    for (const { sql, values } of await statementsOf((db) =>
      work(db, account, deviceId, alert.id),
    )) {
      const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .bind(...values)
        .all<{ detail: string }>()
      for (const { detail } of results) {
        expect(detail, sql).not.toMatch(
          /^SCAN (?!\w+ VIRTUAL TABLE|CONSTANT ROW|\(subquery-\d+\)|a$|m$)/,
        )
        // Users are sorted by nothing but their key; pages are sorted as they are read.
        if (what !== 'raising') expect(detail, sql).not.toMatch(/TEMP B-TREE/)
      }
    }
  })

  test('an unknown alert id reads no message', async () => {
    const account = await openAccount()
    const key = 1_000_000
    await env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
       INSERT INTO messages (account_id, id, device_key, channel, recipient, subject, text, status, attempts, changed, seq)
       SELECT ?1, 'msg_many' || printf('%04d', i), ?2, 'SMS', '', '', '', 'sent', 1, 1, 1 FROM n`,
    )
      .bind(account.id, key)
      .run()
    const viewer = { accountId: account.id, groupId: null }
    for (const id of ['x', '', 'alr_', 'alr_m', 'alr_many']) {
      for (const work of [
        (db: Database) => findAlert(db, viewer, id),
        (db: Database) =>
          listMessages(db, viewer, {
            alertId: id,
            status: undefined,
            channel: undefined,
            deviceId: undefined,
            includesNotices: true,
            after: undefined,
            limit: 10,
          }),
      ]) {
        const statements = await statementsOf(work)
        const results = await env.DB.batch(
          statements.map(({ sql, values }) => env.DB.prepare(sql).bind(...values)),
        )
        expect(
          results.reduce((sum, { meta }) => sum + meta.rows_read, 0),
          id,
        ).toBeLessThan(20)
      }
    }
  })

  test('a search for a rare alert name reads a bounded number of rows per page', async () => {
    const account = await openAccount()
    const deviceId = await createDevice(account)
    await env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 11000)
       INSERT INTO alerts (account_id, device_key, id, time, name, text, messages)
       SELECT ?1, (SELECT key FROM devices WHERE id = ?2), 'alr_rare' || printf('%05d', i), i, iif(i IN (7, 5000, 5001, 10999), 'Rare', 'Often'), '', 0 FROM n`,
    )
      .bind(account.id, deviceId)
      .run()
    for (const sort of ['dateTime', '-dateTime'] as const) {
      const found: number[] = []
      let pages = 0
      for (let after: (string | number)[] | null = null; pages === 0 || after; pages++) {
        const listing = { deviceId, from: 0, to: 9e15, name: 'Rare', sort, after, limit: 1000 }
        const viewer = { accountId: account.id, groupId: null }
        const page = await listAlerts({ $client: env.DB } as unknown as Database, viewer, listing)
        const statements = await statementsOf((db) => listAlerts(db, viewer, listing))
        for (const { sql, values } of statements) {
          const { meta } = await env.DB.prepare(sql)
            .bind(...values)
            .all()
          expect(meta.rows_read, sql).toBeLessThan(10_100)
        }
        found.push(...(page?.alerts ?? []).map(({ dateTime }) => dateTime))
        after = page?.next ?? null
      }
      expect(found).toEqual(sort === 'dateTime' ? [7, 5000, 5001, 10999] : [10999, 5001, 5000, 7])
      expect(pages).toBe(3)
    }
  })

  test('an alert writes one row and three index entries, a message one row and one index entry, its outcome one more, each with the account’s usage', async () => {
    const account = await openAccount()
    await createDevice(account)
    const key = await env.DB.prepare('SELECT key FROM devices WHERE account_id = ?')
      .bind(account.id)
      .first<number>('key')
    const common = { key: key ?? 0, at: 1, seq: 7 }
    const alert = {
      id: 'alr_cost',
      name: 'SOSButton',
      text: '',
      dateTime: 1,
      latitude: null,
      longitude: null,
      positionTime: null,
      positionSource: 'none',
      emergency: false,
      late: false,
    } as const
    const message = {
      kind: 'alert',
      channel: 'SMS',
      to: '+351910000023',
      status: 'queued',
      reason: null,
      resetAt: null,
      subject: '',
      text: 'x',
      timeZone: 'UTC',
    } as const
    const messages = ['msg_cost0000', 'msg_cost0001'].map((id) => ({ ...message, id }))
    const state = {
      kind: 'message-state',
      id: 'msg_cost0000',
      status: 'sent',
      reason: null,
      provider: 'outbox',
      attempts: 1,
      at: 2,
    } as const
    const db = { $client: env.DB } as unknown as Database
    const written = async () => {
      const results = await runBatch(db, [
        ...insertAlert(db, account.id, { ...common, kind: 'alert', alert, messages: 2 }),
        ...insertMessages(db, account.id, { ...common, kind: 'messages', messages }),
        ...updateMessage(db, account.id, { ...state, seq: 8 }),
      ])
      return results.map(({ meta }) => meta.rows_written)
    }
    expect(await written()).toEqual([5, 6, 2])
    expect(await written()).toEqual([0, 0, 0])
  })
})
