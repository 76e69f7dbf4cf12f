import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/*
 * Large fleets, written straight into the files of a server that is stopped: through the API it would take hours. Every row is a
 * copy of one that the service itself made, so that a new column needs no line here.
 */

const PAST = '2026-01-01'
const quoted = (value) => `'${value}'`

function* databasesIn(folder, kind) {
  const root = join(folder, '.wrangler/state/v3', kind)
  for (const group of readdirSync(root)) {
    for (const file of readdirSync(join(root, group))) {
      if (file.endsWith('.sqlite') && file !== 'metadata.sqlite')
        yield new DatabaseSync(join(root, group, file))
    }
  }
}

/** The database of a kind in which this query finds something. */
function holding(folder, kind, sql, ...values) {
  for (const database of databasesIn(folder, kind)) {
    try {
      if (database.prepare(sql).get(...values)) return database
    } catch {
      // Another kind of object: it has no such table.
    }
    database.close()
  }
  throw new Error(`no ${kind} holds it: ${sql}`)
}

/** Copies the row that `where` finds, as often as asked; `changed` gives columns their own SQL, in which `i` is the copy's number. */
function multiply(database, table, where, copies, changed) {
  const columns = database
    .prepare(`SELECT name FROM pragma_table_info(${quoted(table)})`)
    .all()
    .map(({ name }) => name)
  const values = columns.map((name) => changed[name] ?? `t.${name}`)
  database.exec(
    `INSERT INTO ${table} (${columns.join(', ')}) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${copies})
     SELECT ${values.join(', ')} FROM n CROSS JOIN (SELECT * FROM ${table} WHERE ${where}) t`,
  )
}

/** Opens both sides of an account for writing, and settles what depends on the number of devices when done. */
export function withAccount(folder, accountId, deeds) {
  const cell = holding(folder, 'd1', 'SELECT 1 FROM accounts WHERE id = ?', accountId)
  const ledger = holding(folder, 'do', 'SELECT 1 FROM account WHERE id = ?', accountId)
  try {
    for (const database of [cell, ledger]) database.exec('PRAGMA synchronous = OFF; BEGIN')
    deeds({ cell, ledger })
    for (const database of [cell, ledger]) database.exec('COMMIT')
  } finally {
    cell.close()
    ledger.close()
  }
}

/** Adds `count` devices like the one given, each with a track; `due` of them have expired and nobody has recorded it. */
export function addDevices(
  { cell, ledger },
  accountId,
  like,
  count,
  { locations = 0, due = 0 } = {},
) {
  const { key } = ledger.prepare('SELECT key FROM devices WHERE id = ?').get(like)
  const isDue = `i <= ${due}`
  const id = `printf('dev_%d_%07d', ${key}, i)`
  const name = "printf('Tern %07d', i)"
  const ends = `CASE WHEN ${isDue} THEN ${quoted(PAST)} END`
  const limits = `CASE WHEN ${isDue} THEN json_set(t.record, '$.limits.expires', json('true'), '$.limits.expirationDate', ${quoted(PAST)}) ELSE t.record END`
  multiply(ledger, 'devices', `key = ${key}`, count, {
    key: `${key} + i`,
    id,
    ends,
    recorded: '0',
    record: `json_set(${limits}, '$.name', ${name})`,
  })
  multiply(cell, 'devices', `key = ${key}`, count, {
    key: `${key} + i`,
    id,
    name,
    name_key: `lower(${name})`,
    ends,
    expires: isDue,
    expiration_date: ends,
  })
  if (locations > 0)
    multiply(cell, 'locations', `device_key = ${key}`, count * locations, {
      device_key: `${key} + 1 + (i - 1) / ${locations}`,
      time: 't.time + i * 60000',
    })
  const granted = count - due
  ledger.exec(`UPDATE account SET used = used + ${granted}, next_device = next_device + ${count}`)
  cell.prepare(`UPDATE accounts SET used = used + ${granted} WHERE id = ?`).run(accountId)
  if (due > 0) ledger.exec(`INSERT INTO endings (day, count) VALUES (${quoted(PAST)}, ${due})`)
  makeDue({ cell, ledger }, accountId)
}

/** Makes recorded expiries due again. */
export function makeDue({ cell, ledger }, accountId) {
  const { due } = ledger.prepare('SELECT count(*) AS due FROM devices WHERE ends IS NOT NULL').get()
  if (due === 0) return
  ledger.exec(
    `UPDATE devices SET recorded = 0 WHERE ends IS NOT NULL; UPDATE account SET next_expiry = 1`,
  )
  cell.prepare('UPDATE accounts SET next_expiry = 1 WHERE id = ?').run(accountId)
}

/** Gives a device a track of `count` locations. */
export function addTrack({ cell }, deviceId, count) {
  const { key } = cell.prepare('SELECT key FROM devices WHERE id = ?').get(deviceId)
  multiply(cell, 'locations', `device_key = ${key}`, count, {
    time: 't.time + i * 1000',
    latitude: 't.latitude + i',
  })
}
