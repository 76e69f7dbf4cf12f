import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/*
 * Writes large fleets into the files of a stopped server: through the API it would take hours.
 * Every row is a copy of one that the service has written, so that a new column needs no change
 * here.
 */

const PAST_DATE = '2026-01-01'
const quote = (value) => `'${value}'`

function* openDatabases(folder, kind) {
  const root = join(folder, '.wrangler/state/v3', kind)
  for (const group of readdirSync(root)) {
    for (const file of readdirSync(join(root, group))) {
      if (file.endsWith('.sqlite') && file !== 'metadata.sqlite')
        yield new DatabaseSync(join(root, group, file))
    }
  }
}

/** Opens the database of this kind (`d1` or `do`) in which the query finds a row. */
function findDatabase(folder, kind, sql, ...values) {
  for (const database of openDatabases(folder, kind)) {
    try {
      if (database.prepare(sql).get(...values)) return database
    } catch {
      // An object of another class, without this table.
    }
    database.close()
  }
  throw new Error(`no ${kind} database has a row for: ${sql}`)
}

/**
 * Copies the row that `where` finds. `changed` maps columns to SQL expressions, in which `i` is the
 * copy's number.
 */
function copyRow(database, table, { where, copies, changed }) {
  const columns = database
    .prepare(`SELECT name FROM pragma_table_info(${quote(table)})`)
    .all()
    .map(({ name }) => name)
  const values = columns.map((name) => changed[name] ?? `t.${name}`)
  database.exec(
    `INSERT INTO ${table} (${columns.join(', ')}) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${copies})
     SELECT ${values.join(', ')} FROM n CROSS JOIN (SELECT * FROM ${table} WHERE ${where}) t`,
  )
}

/**
 * Opens the databases of the account's cell and ledger, and runs `edit` in a transaction on each.
 */
export function editAccountFiles(folder, accountId, edit) {
  const cell = findDatabase(folder, 'd1', 'SELECT 1 FROM accounts WHERE id = ?', accountId)
  const ledger = findDatabase(folder, 'do', 'SELECT 1 FROM account WHERE id = ?', accountId)
  try {
    for (const database of [cell, ledger]) database.exec('PRAGMA synchronous = OFF; BEGIN')
    edit({ cell, ledger })
    for (const database of [cell, ledger]) database.exec('COMMIT')
  } finally {
    cell.close()
    ledger.close()
  }
}

/**
 * Copies a device `count` times, each with so many locations. `due` of them have expired without
 * being recorded.
 */
export function addDevices(
  { cell, ledger },
  { accountId, deviceId, count, locations = 0, due = 0 },
) {
  const { key } = ledger.prepare('SELECT key FROM devices WHERE id = ?').get(deviceId)
  const isDue = `i <= ${due}`
  const id = `printf('dev_%d_%07d', ${key}, i)`
  const name = "printf('Tern %07d', i)"
  const ends = `CASE WHEN ${isDue} THEN ${quote(PAST_DATE)} END`
  const limits = `CASE WHEN ${isDue} THEN json_set(t.record, '$.limits.expires', json('true'), '$.limits.expirationDate', ${quote(PAST_DATE)}) ELSE t.record END`
  copyRow(ledger, 'devices', {
    where: `key = ${key}`,
    copies: count,
    changed: {
      key: `${key} + i`,
      id,
      ends,
      recorded: '0',
      record: `json_set(${limits}, '$.name', ${name})`,
    },
  })
  copyRow(cell, 'devices', {
    where: `key = ${key}`,
    copies: count,
    changed: {
      key: `${key} + i`,
      id,
      name,
      name_key: `lower(${name})`,
      ends,
      expires: isDue,
      expiration_date: ends,
    },
  })
  if (locations > 0)
    copyRow(cell, 'locations', {
      where: `device_key = ${key}`,
      copies: count * locations,
      changed: {
        device_key: `${key} + 1 + (i - 1) / ${locations}`,
        time: 't.time + i * 60000',
      },
    })
  const granted = count - due
  ledger.exec(`UPDATE account SET used = used + ${granted}, next_device = next_device + ${count}`)
  cell.prepare(`UPDATE accounts SET used = used + ${granted} WHERE id = ?`).run(accountId)
  if (due > 0) ledger.exec(`INSERT INTO endings (day, count) VALUES (${quote(PAST_DATE)}, ${due})`)
  makeDueAgain({ cell, ledger }, accountId)
}

/** Makes expiries due again that have been recorded. */
export function makeDueAgain({ cell, ledger }, accountId) {
  const { due } = ledger.prepare('SELECT count(*) AS due FROM devices WHERE ends IS NOT NULL').get()
  if (due === 0) return
  ledger.exec(
    `UPDATE devices SET recorded = 0 WHERE ends IS NOT NULL; UPDATE account SET next_expiry = 1`,
  )
  cell.prepare('UPDATE accounts SET next_expiry = 1 WHERE id = ?').run(accountId)
}

/** Adds `count` locations to a device. */
export function addTrack({ cell }, deviceId, count) {
  const { key } = cell.prepare('SELECT key FROM devices WHERE id = ?').get(deviceId)
  copyRow(cell, 'locations', {
    where: `device_key = ${key}`,
    copies: count,
    changed: { time: 't.time + i * 1000', latitude: 't.latitude + i' },
  })
}
