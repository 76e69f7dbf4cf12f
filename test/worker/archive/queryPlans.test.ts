import { env } from 'cloudflare:workers'
import { beforeAll, expect, test } from 'vitest'
import {
  countTracks,
  readMonthsOf,
  readTracks,
  type Tracks,
} from '../../../src/archive/exportTracks.ts'
import { CELL_PARTS, type CellPart } from '../../../src/archive/parts.ts'
import {
  isBeingErased,
  isSettled,
  readContacts,
  readKeys,
  readLastKey,
  readPage,
  readSequence,
} from '../../../src/archive/store.ts'
import { deviceKey, keysBeside } from '../../../src/domain/account/device.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { recordCell, rowsReadBy } from '../db/recordedCell.ts'
import { scansOf } from '../db/scans.ts'

const LOCATIONS = 20_000
let account: TestAccount
let of: Omit<Tracks, 'db'>
let devices: string[]

beforeAll(async () => {
  account = await openAccount()
  devices = [await createDevice(account), await createDevice(account), await createDevice(account)]
  const stored = await env.DB.prepare('SELECT number FROM accounts WHERE id = ?')
    .bind(account.id)
    .first<number>('number')
  const keys = keysBeside(deviceKey(stored ?? 0, 0))
  of = { accountId: account.id, keys, from: 0, to: Date.now(), keptSince: 0 }
  await env.DB.prepare(
    `INSERT INTO locations (device_key, time, latitude, longitude, received_at)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
     SELECT key, i, 1, 1, 1 FROM devices, n WHERE account_id = ?1`,
  )
    .bind(account.id, LOCATIONS)
    .run()
})

const record = async <T>(read: (db: Tracks['db']) => Promise<T>) => {
  const { db, statements } = recordCell()
  const result = await read(db)
  expect(await scansOf(statements)).toEqual([])
  return { result, rows: await rowsReadBy(statements) }
}

test.for(Object.keys(CELL_PARTS) as (keyof typeof CELL_PARTS)[])('a page of %s', async (name) => {
  const part: CellPart = CELL_PARTS[name]
  const after = part.order.map((column) => (column.dataType === 'number' ? 1 : 'a'))
  for (const position of [null, after]) {
    const condition = isSettled(name, { keys: of.keys, began: Date.now() })
    const query = { accountId: account.id, keys: of.keys, after: position, condition }
    await record((db) => readPage(db, part, query))
  }
})

test('a page of tracks reads a page of rows, wherever it begins', async () => {
  const key = await record((db) => readLastKey(db, of.keys))
  expect(key.rows).toBeLessThan(10)
  for (const after of [
    [of.keys[0], -1],
    [key.result - 1, LOCATIONS - 10],
    [key.result, LOCATIONS / 2],
  ] as [number, number][]) {
    const { result, rows } = await record((db) => readTracks({ ...of, db }, after))
    expect(result.length).toBe(4900)
    expect(rows).toBeLessThan(25_000)
  }
  const late = { from: LOCATIONS - 10 }
  const some = await record((db) => readTracks({ ...of, ...late, db }, [of.keys[0], -1]))
  expect([some.result.length, some.rows < 200]).toEqual([33, true])
  expect((await record((db) => countTracks({ ...of, ...late, db }))).rows).toBeLessThan(100)
})

test('what an export and an import look up', async () => {
  const { id } = account
  await record((db) => readMonthsOf({ ...of, db }))
  await record((db) => readSequence(db, id))
  await record((db) => readContacts(db, id, devices))
  await record((db) => readKeys(db, id, devices))
  await record((db) => isBeingErased(db, id))
})
