import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { listAlerts } from '../../src/alerts/list.ts'
import { findAlert } from '../../src/alerts/store.ts'
import type { Database } from '../../src/db/open.ts'
import { readAlertContext } from '../../src/db/queries/alertContext.ts'
import { insertAlert } from '../../src/db/queries/alerts.ts'
import { insertMessages, updateMessage } from '../../src/db/queries/messages.ts'
import type { Viewer } from '../../src/db/queries/visibility.ts'
import { listMessages } from '../../src/messages/store.ts'
import { sweep } from '../../src/sweep/sweep.ts'
import { openAccount, type TestAccount } from '../support/accounts.ts'
import { raiseAlert } from '../support/alerts.ts'
import { createDevice } from '../support/devices.ts'
import { callAsOperator } from '../support/http.ts'
import { readMessages, waitUntilSent } from '../support/messages.ts'
import { createUser } from '../support/users.ts'

const both = { email: true, sms: true }
const ids = (messages: { id: string }[]) => messages.map(({ id }) => id)

describe('messages', () => {
  test('show the exact text that would have gone out, and their status', async () => {
    const account = await openAccount()
    const ana = await createUser(account, {
      timeZone: 'Asia/Kolkata',
      phone: '+351910000020',
      notify: both,
    })
    const id = await createDevice(account, { name: 'Łódź <7>' })
    const raised = {
      alertName: 'SOSButton',
      text: 'Help',
      dateTime: '2026-07-14T09:30:00Z',
      latitude: 1.5,
      longitude: -2,
    }
    const { alert } = (await raiseAlert(account, id, raised)).body
    await waitUntilSent(account)
    const [sms, mail] = await readMessages(account)
    const stands = {
      alertId: alert.id,
      deviceId: id,
      status: 'sent',
      reason: null,
      resetAt: null,
      provider: 'outbox',
      attempts: 1,
      kind: 'alert',
    }
    expect(mail).toEqual({
      ...stands,
      id: alert.deliveries[0].id,
      channel: 'Email',
      to: ana.email,
      subject: 'SOSButton: Łódź <7>',
      text: expect.stringContaining('Tue, 14 Jul 2026, 15:00:00 GMT+5:30 (Asia/Kolkata)'),
      lastModified: expect.any(String),
    })
    expect(mail.text).toMatch(/^https:\/\/perigee\.test\/a\/[0-9a-z]{16}$/m)
    expect(sms).toMatchObject({
      ...stands,
      channel: 'SMS',
      to: '+351910000020',
      subject: '',
      text: expect.stringMatching(
        /^SOSButton: Lodz <7>, 14 Jul, 15:00 GMT\+5:30\. 1\.50000,-2\.00000 https:\/\/perigee\.test\/a\/[0-9a-z]{16} Help$/,
      ),
    })
  })

  test('are listed newest alert first, filtered by status, channel, device and alert, in pages', async () => {
    const account = await openAccount()
    await createUser(account, { phone: '+351910000021', notify: both })
    const [first, second] = [
      await createDevice(account, { limits: { dailySmsLimit: 1 } }),
      await createDevice(account),
    ]
    const alerts = []
    for (const id of [first, first, second]) alerts.push((await raiseAlert(account, id)).body.alert)
    await waitUntilSent(account)
    const all = ids(await readMessages(account))
    expect(all).toEqual(
      alerts.toReversed().flatMap(({ deliveries }) => ids(deliveries).toReversed()),
    )
    expect(ids(await readMessages(account, '?status=suppressed'))).toEqual([
      alerts[1].deliveries[1].id,
    ])
    expect(ids(await readMessages(account, '?channel=SMS&status=sent'))).toHaveLength(2)
    expect(ids(await readMessages(account, `?deviceId=${second}`))).toEqual(
      ids(alerts[2].deliveries).toReversed(),
    )
    expect(ids(await readMessages(account, `?alertId=${alerts[0].id}`))).toEqual(
      ids(alerts[0].deliveries).toReversed(),
    )
    const [own] = alerts
    for (const id of [
      'alr_none',
      'alr_',
      own.id.slice(0, -1),
      own.id.slice(0, 8),
      own.id.replace('alr', 'msg'),
      own.deliveries[0].id,
    ]) {
      expect(await readMessages(account, `?alertId=${id}`), id).toEqual([])
    }
    const walked: string[] = []
    for (let query = '?limit=4'; query; ) {
      const { body } = await account.call('GET', `/api/account/messages${query}`)
      walked.push(...ids(body.messages))
      query = body.nextCursor && `?limit=4&cursor=${body.nextCursor}`
    }
    expect(walked).toEqual(all)
    for (const [query, pointer] of [
      ['?status=lost', '#/query/status'],
      ['?channel=Fax', '#/query/channel'],
    ]) {
      const { status, body } = await account.call('GET', `/api/account/messages${query}`)
      expect([status, body.errors[0].pointer]).toEqual([400, pointer])
    }
  })

  test('that are queued, sent or unknown cannot be retried', async () => {
    const [account, other] = [await openAccount(), await openAccount()]
    await createUser(account)
    const { alert } = (await raiseAlert(account, await createDevice(account))).body
    await waitUntilSent(account)
    const path = `/api/account/messages/${alert.deliveries[0].id}/retry`
    expect((await account.call('POST', path)).body.code).toBe('message-not-failed')
    expect((await other.call('POST', path)).status).toBe(404)
    expect((await account.call('POST', '/api/account/messages/msg_none/retry')).status).toBe(404)
  })
})

describe('a message is not retried if its recipient has since been', () => {
  const edit = (account: TestAccount, id: string, body: object) =>
    account.call('PATCH', `/api/users/${id}`, {
      body,
      headers: { 'Content-Type': 'application/merge-patch+json' },
    })

  test.each<[string, (account: TestAccount, id: string) => Promise<{ status: number }>]>([
    ['disabled', (account, id) => edit(account, id, { disabled: true })],
    ['expired', (account, id) => edit(account, id, { expires: '2021-01-01T00:00:00Z' })],
    ['deleted', (account, id) => account.call('DELETE', `/api/users/${id}`)],
    [
      'unsubscribed from the channel',
      (account, id) => edit(account, id, { notify: { email: false, sms: true } }),
    ],
    [
      'given another address',
      (account, id) => edit(account, id, { email: 'elsewhere@example.com' }),
    ],
    [
      'moved to a group without the device',
      async (account, id) => {
        const { body: south } = await account.call('POST', '/api/groups', {
          body: { name: 'South' },
        })
        return edit(account, id, { group: south.id })
      },
    ],
  ])('%s', async (_, leave) => {
    const account = await openAccount()
    const ana = await createUser(account, { phone: '+351910000024', notify: both })
    const bob = await createUser(account)
    const { deliveries } = (
      await raiseAlert(
        account,
        await createDevice(account, { limits: { dailyEmailLimit: 0, dailySmsLimit: 0 } }),
      )
    ).body.alert
    const retry = async (to: string) => {
      const { id } = deliveries.find((delivery: { to: string }) => delivery.to === to)
      const { status, body } = await account.call('POST', `/api/account/messages/${id}/retry`)
      return [status, body.code]
    }
    expect(await retry(ana.email)).toEqual([409, 'daily-limit-reached'])
    expect((await leave(account, ana.id)).status).toBeLessThan(300)
    expect(await retry(ana.email)).toEqual([409, 'recipient-gone'])
    expect(await retry(bob.email)).toEqual([409, 'daily-limit-reached'])
  })
})

describe('deletion', () => {
  const rowsOf = async (accountId: string) => {
    const [alerts, messages] = await env.DB.batch<{ n: number }>(
      ['alerts', 'messages'].map((table) =>
        env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE account_id = ?`).bind(accountId),
      ),
    )
    return [alerts?.results[0]?.n, messages?.results[0]?.n]
  }

  const seeded = async () => {
    const account = await openAccount()
    await createUser(account, { phone: '+351910000022', notify: both })
    const [kept, gone] = [await createDevice(account), await createDevice(account)]
    for (const id of [kept, gone, gone]) await raiseAlert(account, id)
    await waitUntilSent(account)
    return { account, kept, gone }
  }

  test('of a device removes its alerts and their messages only', async () => {
    const { account, kept, gone } = await seeded()
    expect(await rowsOf(account.id)).toEqual([3, 6])
    await account.call('DELETE', `/api/devices/${gone}`)
    await sweep(env, Date.now())
    expect(await rowsOf(account.id)).toEqual([1, 2])
    expect(
      (await account.call('GET', `/api/devices/${kept}/alerts`)).body.alerts[0].deliveries,
    ).toHaveLength(2)
  })

  test('of an account removes all its alerts and messages', async () => {
    const { account } = await seeded()
    await callAsOperator('DELETE', `/admin/accounts/${account.id}`)
    await sweep(env, Date.now())
    expect(await rowsOf(account.id)).toEqual([0, 0])
  })

  const DAY = 86_400_000

  test('when they arrived longer ago than the account keeps them: a late alert stays', async () => {
    const { account, kept } = await seeded()
    await account.call('PATCH', '/api/account', { body: { retentionDays: 30 } })
    const arrival = Date.now()
    for (const days of [400, 29])
      await raiseAlert(account, kept, {
        alertName: 'SOSButton',
        dateTime: new Date(arrival - days * DAY).toISOString(),
      })
    await waitUntilSent(account)
    expect(await rowsOf(account.id)).toEqual([5, 10])
    await sweep(env, arrival)
    expect(await rowsOf(account.id)).toEqual([5, 10])
    const { body } = await account.call('GET', `/api/devices/${kept}/alerts`)
    const { id: last, received_at: arrivedAt } = (await env.DB.prepare(
      'SELECT id, received_at FROM alerts WHERE account_id = ? ORDER BY received_at DESC LIMIT 1',
    )
      .bind(account.id)
      .first<{ id: string; received_at: number }>()) ?? { id: '', received_at: 0 }
    expect(ids(body.alerts)).toContain(last)
    expect(arrivedAt).toBeGreaterThanOrEqual(arrival)
    await sweep(env, arrivedAt + 30 * DAY)
    expect((await account.call('GET', `/api/alerts/${last}`)).status).toBe(200)
    await sweep(env, arrivedAt + 30 * DAY + 1)
    expect(await rowsOf(account.id)).toEqual([0, 0])
  })

  test('in pages, even when one alert has thousands of messages', async () => {
    const { account, gone } = await seeded()
    // The first alert of the device that is deleted has 12,000 messages more.
    await env.DB.prepare(
      `INSERT INTO messages (account_id, id, device_key, channel, recipient, subject, text, status, attempts, changed, seq)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
       SELECT m.account_id, substr(m.id, 1, 26) || 'x' || printf('%05d', i), m.device_key, 'Email', 'a@a.io', '', '', 'sent', 1, 0, 0
       FROM (SELECT m.* FROM messages m JOIN devices d ON d.key = m.device_key WHERE d.id = ? ORDER BY m.id LIMIT 1) m, n`,
    )
      .bind(gone)
      .run()
    expect(await rowsOf(account.id)).toEqual([3, 12_006])
    await account.call('DELETE', `/api/devices/${gone}`)
    const batch = vi.spyOn(env.DB, 'batch')
    await sweep(env, Date.now())
    const results = await Promise.all(batch.mock.results.map(({ value }) => value))
    batch.mockRestore()
    const deleted = results.flat().map(({ meta }: D1Result) => meta.changes)
    expect(Math.max(...deleted)).toBe(5000)
    expect(await rowsOf(account.id)).toEqual([1, 2])
  })
})

describe('paging returns every lasting row exactly once while other rows', () => {
  /** The same database, where something happens after each round trip. */
  const withChanges = (happens: () => Promise<unknown>): Database => {
    const disturbed = async <T>(work: Promise<T>): Promise<T> => {
      const answer = await work
      await happens()
      return answer
    }
    const prepare = (sql: string) => ({
      bind: (...values: unknown[]) => {
        const statement = env.DB.prepare(sql).bind(...values)
        const [all, first] = [statement.all.bind(statement), statement.first.bind(statement)]
        return Object.assign(statement, {
          all: () => disturbed(all()),
          first: (column: string) => disturbed(first(column)),
        })
      },
    })
    return {
      $client: { prepare, batch: (list: D1PreparedStatement[]) => disturbed(env.DB.batch(list)) },
    } as unknown as Database
  }

  type Place = (string | number)[] | null
  type Read = (
    db: Database,
    viewer: Viewer,
    after: Place,
  ) => Promise<{ rows: { id: string }[]; next: Place }>
  const READ: Record<'alerts' | 'messages', Read> = {
    alerts: async (db, viewer, after) => {
      const span = { deviceId: null, from: 0, to: 9e15, name: undefined }
      const page = await listAlerts(db, viewer, { ...span, sort: '-dateTime', after, limit: 1000 })
      return { rows: page?.alerts ?? [], next: page?.next ?? null }
    },
    messages: async (db, viewer, after) => {
      const all = {
        status: undefined,
        channel: undefined,
        deviceId: undefined,
        alertId: undefined,
        includesNotices: false,
      }
      const place = after === null ? undefined : String(after[0])
      const { messages, next } = await listMessages(db, viewer, {
        ...all,
        after: place,
        limit: 1000,
      })
      return { rows: messages, next }
    },
  }
  /** One in ten is of the device, the others of one that is being erased. */
  const INSERT = {
    alerts: `INSERT INTO alerts (account_id, device_key, id, time, name, text, messages)
      SELECT ?1, iif(i % 10, -1, ?2), 'alr_' || ?1 || printf('%06d', i), i, 'Often', '', 0`,
    messages: `INSERT INTO messages (account_id, device_key, id, channel, recipient, subject, text, status, attempts, changed, seq)
      SELECT ?1, iif(i % 10, -1, ?2), 'msg_' || ?1 || printf('%06d', i), 'SMS', '', '', '', 'sent', 1, 1, 1`,
  }
  const [STOOD, ADDED] = [5500, 50]

  test.each(
    (['alerts', 'messages'] as const).flatMap((table) =>
      ['come', 'go'].flatMap((change) =>
        [true, false].map((confined) => ({ table, change, confined })),
      ),
    ),
  )(
    'of $table $change, for a user confined to a group: $confined',
    async ({ table, change, confined }) => {
      const account = await openAccount()
      const deviceId = await createDevice(account)
      const { body: group } = await account.call('POST', '/api/groups', {
        body: { name: 'North', devices: [deviceId] },
      })
      const key = await env.DB.prepare('SELECT key FROM devices WHERE id = ?')
        .bind(deviceId)
        .first<number>('key')
      const add = (from: number, to: number) =>
        env.DB.prepare(
          `WITH RECURSIVE n(i) AS (SELECT ?3 UNION ALL SELECT i + 1 FROM n WHERE i < ?4) ${INSERT[table]} FROM n`,
        )
          .bind(account.id, key, from, to)
          .run()
      const idOf = (i: number) =>
        `${table === 'alerts' ? 'alr' : 'msg'}_${account.id}${String(i).padStart(6, '0')}`
      let newest = change === 'come' ? STOOD : STOOD + 20 * ADDED
      await add(1, newest)
      const happens = async () => {
        const before = newest
        newest = change === 'come' ? newest + ADDED : Math.max(STOOD, newest - ADDED)
        if (newest > before) await add(before + 1, newest)
        else
          await env.DB.prepare(`DELETE FROM ${table} WHERE account_id = ? AND id > ?`)
            .bind(account.id, idOf(newest))
            .run()
      }
      const viewer = { accountId: account.id, groupId: confined ? group.id : null }
      const seen: string[] = []
      for (let after: Place = null, begun = false; !begun || after; begun = true) {
        const page = await READ[table](withChanges(happens), viewer, after)
        seen.push(...ids(page.rows))
        after = page.next
      }
      const stood = Array.from({ length: STOOD / 10 }, (_, index) => idOf(STOOD - index * 10))
      expect(seen.filter((id) => id <= idOf(STOOD))).toEqual(stood)
    },
  )
})

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

  test('an alert writes one row and three index entries, a message one row, and its outcome one more', async () => {
    const account = await openAccount()
    await createDevice(account)
    const key = await env.DB.prepare('SELECT key FROM devices WHERE account_id = ?')
      .bind(account.id)
      .first<number>('key')
    const common = { accountId: account.id, key: key ?? 0 }
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
    } as const
    const messages = ['msg_cost0000', 'msg_cost0001'].map((id) => ({ ...message, id }))
    const state = {
      accountId: account.id,
      id: 'msg_cost0000',
      status: 'sent',
      reason: null,
      provider: 'outbox',
      attempts: 1,
      at: 2,
    } as const
    const db = { $client: env.DB } as unknown as Database
    const written = async () => {
      const results = await env.DB.batch([
        insertAlert(db, { ...common, alert, messages: 2 }),
        insertMessages(db, { ...common, messages, at: 1, seq: 7 }),
        updateMessage(db, { ...state, seq: 8 }),
      ])
      return results.map(({ meta }) => meta.rows_written)
    }
    expect(await written()).toEqual([4, 2, 1])
    expect(await written()).toEqual([0, 0, 0])
  })
})
