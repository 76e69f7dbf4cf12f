import { openCell, openDirectory } from '../db/open.ts'
import type { Account } from '../domain/account.ts'
import { deviceKey, keysBeside } from '../domain/device.ts'
import { fold } from '../domain/fold.ts'
import type { Env } from '../env.ts'

export type Row = Record<string, string | number | null>

/** What the cell holds of an account, as far as one page of the ledger's devices goes. */
export interface CellState {
  account: Row | undefined
  listed: boolean
  /** Another account has come by its user name or its number since. */
  taken: 'user-name-taken' | 'account-number-taken' | null
  head: number
  devices: Row[]
  /** Devices of the ledger's that the cell holds for deleted. */
  tombstoned: Set<string>
  /** The greatest key that a device of the account has, or left something under. */
  lastKey: number
}

const LAST_KEY = `SELECT max(key) AS key FROM (SELECT max(key) AS key FROM devices WHERE key BETWEEN ?1 AND ?2
  UNION ALL SELECT max(device_key) FROM locations WHERE device_key BETWEEN ?1 AND ?2
  UNION ALL SELECT max(device_key) FROM alerts WHERE device_key BETWEEN ?1 AND ?2
  UNION ALL SELECT max(device_key) FROM erasures WHERE account_id = ?3)`

/** Of the cell's devices at most so many, those with the least keys. */
export const readCellState = async (
  env: Env,
  account: Account,
  ids: string[],
  after: number,
  upTo: number,
  most: number,
): Promise<CellState> => {
  const db = openCell(env, account.cell).$client
  const [firstOwn, lastOwn] = keysBeside(deviceKey(account.number, 0))
  const [accounts, heads, devices, tombstoned, lastKey] = await db.batch<Row>([
    db.prepare('SELECT * FROM accounts WHERE id = ?').bind(account.id),
    db.prepare('SELECT sequence FROM event_heads WHERE account_id = ?').bind(account.id),
    db
      .prepare(
        'SELECT * FROM devices WHERE key > ? AND key <= ? AND account_id = ? ORDER BY key LIMIT ?',
      )
      .bind(after, Math.min(upTo, lastOwn), account.id, most),
    db
      .prepare(
        'SELECT id FROM tombstones WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))',
      )
      .bind(account.id, JSON.stringify(ids)),
    db.prepare(LAST_KEY).bind(firstOwn, lastOwn, account.id),
  ])
  const { results: entries } = await openDirectory(env)
    .$client.prepare(
      'SELECT account_id AS id, number FROM directory WHERE account_id = ? OR user_name_key = ? OR number = ?',
    )
    .bind(account.id, fold(account.userName), account.number)
    .all<{ id: string; number: number }>()
  const rival = entries.find(({ id }) => id !== account.id)
  return {
    account: accounts?.results[0],
    listed: entries.some(({ id }) => id === account.id),
    taken: rival
      ? rival.number === account.number
        ? 'account-number-taken'
        : 'user-name-taken'
      : null,
    head: Number(heads?.results[0]?.sequence ?? 0),
    devices: devices?.results ?? [],
    tombstoned: new Set(tombstoned?.results.map(({ id }) => String(id))),
    lastKey: Number(lastKey?.results[0]?.key ?? 0),
  }
}
