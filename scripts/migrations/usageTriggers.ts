import { getTableName, is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import * as schema from '../../src/db/schema.ts'
import { MOVE_TRIGGERS } from './moveTriggers.ts'

/*
 * The triggers that count in `account_usage.storage_bytes` what an account stores in every table but
 * `locations`, which isolates count. Entries of indexes are estimated.
 */

/** An index entry repeats an id or two and the primary key. */
const ENTRY_BYTES = 64
const NUMBER_BYTES = 8
const ROW_BYTES = 16

/** Of the directory in cell 0, the counts themselves, and what the service notes for the operator. */
const NOT_COUNTED: SQLiteTable[] = [
  schema.directory,
  schema.sourceDirectory,
  schema.moves,
  schema.movedAccounts,
  schema.moveChanges,
  schema.accountUsage,
  schema.usageDays,
  schema.usageMonths,
  schema.archivedMonths,
  schema.audit,
  schema.keyNetworks,
  schema.backlogs,
]

/** The bytes of a row as SQL: its texts, and an estimate for its numbers and index entries. */
const rowBytes = (table: SQLiteTable, row: string): string => {
  const { columns, indexes } = getTableConfig(table)
  const texts = columns.filter((column) => column.getSQLType() === 'text')
  const numbers = columns.length - texts.length
  const entries = indexes.length + columns.filter(({ isUnique }) => isUnique).length
  const fixed = ROW_BYTES + numbers * NUMBER_BYTES + entries * ENTRY_BYTES
  const terms = texts.map(({ name, notNull, primary }) => {
    const bytes = `octet_length(${row}.${name})`
    return notNull || primary ? bytes : `ifnull(${bytes}, 0)`
  })
  return [fixed, ...terms].join(' + ')
}

/** The tables whose rows are counted, with the column that names their account. */
const COUNTED_TABLES = (Object.values(schema) as unknown[])
  .filter((value): value is SQLiteTable => is(value, SQLiteTable))
  .flatMap((table) => {
    const hasAccount = getTableConfig(table).columns.some(({ name }) => name === 'account_id')
    if (table === schema.accounts) return [{ table, owner: 'id' }]
    return hasAccount && !NOT_COUNTED.includes(table) ? [{ table, owner: 'account_id' }] : []
  })

const addBytes = (bytes: string, owner: string) =>
  `UPDATE account_usage SET storage_bytes = max(0, storage_bytes + ${bytes})
    WHERE account_id = ${owner};`

/** The account's count begins with its row. */
const beginCount = (bytes: string) =>
  `INSERT INTO account_usage (account_id, day, locations, storage_bytes)
    VALUES (NEW.id, NEW.day, 0, ${bytes})
    ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;`

/** Adds what every account stores already in a table, when it is counted for the first time. */
const countStored = (table: SQLiteTable, owner: string): string => {
  const name = getTableName(table)
  const accounts = name === 'accounts' ? '' : ` JOIN accounts ON accounts.id = ${name}.${owner}`
  return `INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(${rowBytes(table, name)})
FROM ${name}${accounts} WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;`
}

/** The triggers of each table, as statements by their names. */
export const USAGE_TRIGGERS = COUNTED_TABLES.map(({ table, owner }) => {
  const name = getTableName(table)
  const [before, after] = [rowBytes(table, 'OLD'), rowBytes(table, 'NEW')]
  const create = (event: string, condition: string, action: string) => {
    const trigger = `${name}_usage_${event.toLowerCase()}`
    const head = `CREATE TRIGGER ${trigger} AFTER ${event} ON ${name}${condition}`
    return [trigger, `${head} BEGIN\n  ${action}\nEND;`] as const
  }
  const added = table === schema.accounts ? beginCount(after) : addBytes(after, `NEW.${owner}`)
  const difference = `(${after})\n    - (${before})`
  return {
    name,
    count: countStored(table, owner),
    triggers: [
      create('INSERT', '', added),
      create('UPDATE', ` WHEN ${difference} <> 0`, addBytes(difference, `NEW.${owner}`)),
      create('DELETE', '', addBytes(`-(${before})`, `OLD.${owner}`)),
    ],
  }
})

/** What a migration after `migrations` begins and ends with: a dropped column may have no trigger. */
export const pendingTriggers = (migrations: string): { first: string[]; last: string[] } => {
  const first: string[] = []
  const last: string[] = []
  const newest = (name: string) => migrations.lastIndexOf(`CREATE TRIGGER ${name} `)
  const add = (triggers: readonly (readonly [string, string])[]): void => {
    for (const [name, statement] of triggers) {
      if (migrations.startsWith(statement, newest(name))) continue
      if (newest(name) !== -1) first.push(`DROP TRIGGER ${name};`)
      last.push(statement)
    }
  }
  for (const { count, triggers } of USAGE_TRIGGERS) {
    if (triggers.every(([name]) => newest(name) === -1)) last.push(count)
    add(triggers)
  }
  add(MOVE_TRIGGERS)
  return { first, last }
}
