import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { eraseAccount, fetchToken, openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { callAsOperator } from '../../support/http.ts'
import { daysAgo, iso } from '../../support/time.ts'
import { asToken, NOTHING, names, reconcile } from './restores.ts'

describe('a restored ledger', () => {
  const LEDGER_TABLES = [
    'account',
    'devices',
    'endings',
    'message_counts',
    'log',
    'outbox',
  ] as const
  const inLedger = <T>(account: TestAccount, work: (sql: SqlStorage) => T): Promise<T> =>
    runInDurableObject(env.LEDGER.get(env.LEDGER.idFromName(account.id)), (_, state) =>
      work(state.storage.sql),
    )

  /** Copies a ledger; the returned function restores it, as point-in-time recovery does. */
  const snapshotLedger = async (account: TestAccount) => {
    const tables = ['sqlite_sequence', ...LEDGER_TABLES]
    const dump = await inLedger(account, (sql) =>
      tables.map((table) => [table, sql.exec(`SELECT * FROM ${table}`).toArray()] as const),
    )
    return () =>
      inLedger(account, (sql) => {
        for (const [table, rows] of dump.toReversed()) {
          sql.exec(`DELETE FROM ${table}`)
          for (const row of rows) {
            const names = Object.keys(row)
            sql.exec(
              `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
              ...Object.values(row),
            )
          }
        }
      })
  }

  test.each([true, false])('wins over the cell, with `restored` %s', async (restored) => {
    const account = await openAccount({ licenses: 10 })
    const edited = await createDevice(account, 'Before')
    const deleted = await createDevice(account, 'Deleted')
    const restore = await snapshotLedger(account)
    await account.call('PATCH', `/api/devices/${edited}`, { body: { name: 'After' } })
    await account.call('DELETE', `/api/devices/${deleted}`)
    const newer = await createDevice(account, 'Newer')
    const report = { location: { dateTime: iso(daysAgo(1)), latitude: 1, longitude: 2 } }
    await account.call('POST', `/api/devices/${newer}/locations`, { body: report })
    await restore()

    expect((await reconcile(account, { restored })).body.mended).toMatchObject({
      devices: 2,
      removed: 1,
    })
    expect(await names(account)).toEqual(['Before', 'Deleted'])
    expect((await reconcile(account)).body.mended).toEqual(NOTHING)
    await account.call('PATCH', `/api/devices/${edited}`, { body: { name: 'Later' } })
    expect(await names(account)).toEqual(['Deleted', 'Later'])

    const next = await createDevice(account, 'Next')
    expect((await account.call('GET', `/api/devices/${next}/locations`)).body.locations).toEqual([])
    await account.call('POST', `/api/devices/${deleted}/locations`, { body: report })
    await sweep(env, Date.now())
    expect(
      (await account.call('GET', `/api/devices/${deleted}/locations`)).body.locations,
    ).toHaveLength(1)
  })

  test('brings back an account that has been erased since', async () => {
    const account = await openAccount({ licenses: 10 })
    await createDevice(account, 'Kept')
    const restore = await snapshotLedger(account)
    await eraseAccount(account)
    expect((await callAsOperator('GET', `/admin/accounts/${account.id}`)).status).toBe(404)
    await restore()
    await reconcile(account, { restored: true })
    await sweep(env, Date.now())
    expect(
      (await callAsOperator('GET', `/admin/accounts/${account.id}`)).body.account.licenses,
    ).toMatchObject({ total: 10, used: 1 })
    const { apiKey } = (
      await callAsOperator('POST', `/admin/accounts/${account.id}/keys`, {
        body: { name: 'Back', scopes: ['write'] },
      })
    ).body
    expect(
      await names({ ...account, call: asToken(await fetchToken(account.userName, apiKey)) }),
    ).toEqual(['Kept'])
  })

  test('is not listed again if another account has its user name by now', async () => {
    const account = await openAccount()
    const restore = await snapshotLedger(account)
    await eraseAccount(account)
    const { status } = await callAsOperator('POST', '/admin/accounts', {
      body: { userName: account.userName, name: 'Next', licenses: 1, timeZone: 'UTC' },
    })
    expect(status).toBe(201)
    await restore()
    const reply = await reconcile(account, { restored: true })
    expect([reply.status, reply.body.code]).toEqual([409, 'user-name-taken'])
    await sweep(env, Date.now())
    expect(
      await env.DB.prepare('SELECT 1 FROM accounts WHERE id = ?').bind(account.id).first(),
    ).toBeNull()
  })

  test('removes devices that were created since, in pages', async () => {
    const account = await openAccount({ licenses: 2000 })
    const restore = await snapshotLedger(account)
    for (let n = 0; n < 600; n += 100)
      await Promise.all(Array.from({ length: 100 }, (_, i) => createDevice(account, `D${n + i}`)))
    await restore()
    const { body } = await reconcile(account, { restored: true })
    expect(body).toMatchObject({ checked: 0, mended: { removed: 600 }, nextCursor: null })
    expect(await names(account)).toEqual([])
  })

  describe('by the restore endpoint', () => {
    const restoreLedger = (id: string, body: object) =>
      callAsOperator('POST', `/admin/accounts/${id}/restore`, { body })

    test('has the state of the given time after the object restarts', async () => {
      const account = await openAccount()
      await createDevice(account, 'Kept')
      const asked: unknown[] = []
      await runInDurableObject(
        env.LEDGER.get(env.LEDGER.idFromName(account.id)),
        (_, { storage }) => {
          storage.getBookmarkForTime = async (time) => `bookmark of ${new Date(time).toISOString()}`
          storage.onNextSessionRestoreBookmark = async (bookmark) => {
            asked.push(bookmark)
            return 'the way back'
          }
        },
      )
      const reply = await restoreLedger(account.id, { time: '2026-11-01T12:00:00+01:00' })
      expect(reply.body).toEqual({ success: true, undo: 'the way back' })
      expect(asked).toEqual(['bookmark of 2026-11-01T11:00:00.000Z'])
      expect(
        await inLedger(
          account,
          (sql) => sql.exec('SELECT next_device FROM account').one().next_device,
        ),
      ).toBe(2)
      expect(await names(account)).toEqual(['Kept'])
      // The mocks are gone, because another object has replaced this one.
      expect((await restoreLedger(account.id, { undo: 'the way back' })).body.code).toBe(
        'history-unavailable',
      )
    })

    test('can be undone with the bookmark from the reply', async () => {
      const account = await openAccount()
      const asked: unknown[] = []
      await runInDurableObject(
        env.LEDGER.get(env.LEDGER.idFromName(account.id)),
        (_, { storage }) => {
          storage.onNextSessionRestoreBookmark = async (bookmark) => {
            asked.push(bookmark)
            return 'forth'
          }
        },
      )
      expect((await restoreLedger(account.id, { undo: 'back' })).body.undo).toBe('forth')
      expect(asked).toEqual(['back'])
    })

    test.each([{}, { time: '2026-11-01T12:00:00Z', undo: 'x' }, { time: 'yesterday' }])(
      'is refused with the body %j',
      async (body) => {
        const account = await openAccount()
        const reply = await restoreLedger(account.id, body)
        expect([reply.status, reply.body.errors?.[0]?.pointer]).toEqual([400, '/time'])
      },
    )

    test('is refused for an unknown account', async () => {
      expect(
        (await restoreLedger('acc_00000000000000000000', { time: '2026-11-01T12:00:00Z' })).status,
      ).toBe(404)
    })
  })
})
