import { env, runInDurableObject } from 'cloudflare:test'
import { getTableColumns, getTableName, is, Table } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { migrate } from '../../../src/db/objectMigrations.ts'
import * as feedTables from '../../../src/feed/tables.ts'
import { STEPS } from '../../../src/ledger/migrations.ts'
import * as ledgerTables from '../../../src/ledger/tables.ts'

/** Runs on the SQLite of a ledger that nothing else uses. */
const onStorage = <T>(
  name: string,
  work: (storage: DurableObjectStorage) => T,
  objects: DurableObjectNamespace = env.LEDGER,
): Promise<T> =>
  runInDurableObject(objects.get(objects.idFromName(name)), (_, { storage }) => work(storage))

test.each([
  { name: 'ledger', objects: env.LEDGER, tables: ledgerTables, count: 26 },
  { name: 'feed', objects: env.FEED, tables: feedTables, count: 7 },
])('the declared tables of the $name are those that the migrations make', async (object) => {
  const declared = Object.values<unknown>(object.tables).filter((value) => is(value, Table))
  expect(declared).toHaveLength(object.count)
  const read = ({ sql }: DurableObjectStorage) =>
    declared.map((table) =>
      sql
        .exec('SELECT name, type FROM pragma_table_info(?) ORDER BY name', getTableName(table))
        .toArray(),
    )
  const migrated = await onStorage('tables', read, object.objects)
  const expected = declared.map((table) =>
    Object.values(getTableColumns(table))
      .map((column) => ({ name: column.name, type: column.getSQLType().toUpperCase() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  )
  expect(migrated).toEqual(expected)
})

test('counters of a column each become a row for each channel', async () => {
  const rows = await onStorage('counters', async (storage) => {
    const { sql } = storage
    await storage.deleteAll()
    const step = STEPS.findIndex((text) => text.includes('DROP TABLE usage'))
    migrate(storage, STEPS.slice(0, step))
    sql.exec(`INSERT INTO usage (device_key, day, emails, emails_suppressed, emails_reached,
      emails_emergency, sms) VALUES (7, '2026-11-01', 10, 2, 1, 3, 4), (7, '2026-11-02', 0, 0, 0, 0, 0),
      (0, '2026-11-02', 0, 0, 0, 0, 5)`)
    migrate(storage, STEPS)
    return [...sql.exec('SELECT * FROM message_counts ORDER BY device_key, channel').raw()]
  })
  expect(rows).toEqual([
    [0, '2026-11-02', 'SMS', 5, 0, 0, 0],
    [7, '2026-11-01', 'Email', 10, 2, 3, 1],
    [7, '2026-11-01', 'SMS', 4, 0, 0, 0],
  ])
})

test('acknowledgements become states with the same meaning', async () => {
  const rows = await onStorage('acknowledgements', async (storage) => {
    const { sql } = storage
    await storage.deleteAll()
    const step = STEPS.findIndex((text) => text.includes('DROP TABLE acknowledgements'))
    migrate(storage, STEPS.slice(0, step))
    sql.exec(`INSERT INTO acknowledgements (alert_id, at, by, cancelled_at, cancelled_by)
      VALUES ('alr_1', 10, 'usr_1', NULL, NULL), ('alr_2', 20, 'usr_1', 30, 'usr_2')`)
    migrate(storage, STEPS)
    const columns = 'acknowledged_at, acknowledged_by, resolved_at, cancelled_at, cancelled_by'
    const states = `SELECT ${columns}, reopened, notes FROM alert_states ORDER BY alert_id`
    return [...sql.exec(states).raw()]
  })
  expect(rows).toEqual([
    [10, 'usr_1', null, null, null, 0, 0],
    [20, 'usr_1', null, 30, 'usr_2', 0, 0],
  ])
})
