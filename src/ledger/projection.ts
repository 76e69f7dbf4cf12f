import { sql } from 'drizzle-orm'
import { insertAlert, insertMessages, updateMessage } from '../db/alerts.ts'
import { appendEvent, isSubscribed } from '../db/events.ts'
import type { Database } from '../db/open.ts'
import { eventHeads } from '../db/schema.ts'
import { compile, placeholders } from '../db/statement.ts'
import type { Account } from '../domain/account.ts'
import type { Device } from '../domain/device.ts'
import { fold } from '../domain/fold.ts'
import { endsOf } from '../domain/license.ts'
import type { Effect, Posted } from './outbox.ts'

/*
 * Effects as D1 statements. All may be carried out twice, and late: rows carry the number of the effect that wrote them,
 * a deleted device leaves a tombstone, an account the order to erase it, an event enters by its id.
 */

type Of<K extends Effect['kind']> = Extract<Posted, { kind: K }>

type Columns = Record<string, string | number | null>

/** The account's row, but for the number of the effect that writes it. */
export const accountColumns = (a: Account, nextExpiry: number | null): Columns => ({
  id: a.id,
  number: a.number,
  user_name: a.userName,
  name: a.name,
  time_zone: a.timeZone,
  day: a.day,
  licenses: a.total,
  used: a.used,
  disabled: a.disabled ? 1 : 0,
  retention_days: a.retentionDays,
  next_expiry: nextExpiry,
  creation: a.creation,
  last_modified: a.lastModified,
  version: a.version,
})

/** A device's row, but for today's counters and what reports write. */
export const deviceColumns = (accountId: string, d: Device): Columns => ({
  key: d.key,
  id: d.id,
  account_id: accountId,
  name: d.name,
  name_key: fold(d.name),
  description: d.description,
  min: d.min,
  identifier: d.identifier,
  identifier_key: d.identifier === null ? null : fold(d.identifier),
  model: d.model,
  tags: JSON.stringify(d.tags),
  expires: d.limits.expires ? 1 : 0,
  expiration_date: d.limits.expirationDate,
  ends: endsOf(d.limits),
  daily_email_limit: d.limits.dailyEmailLimit,
  daily_sms_limit: d.limits.dailySmsLimit,
  creation: d.creation,
  last_modified: d.lastModified,
  version: d.version,
})

/** Writes a row where it is missing, or its account's own and older than this effect. `unless` keeps one from coming into being at all. */
const upsert = (
  db: D1Database,
  table: string,
  key: string,
  columns: Columns,
  seq: number,
  unless: string,
): D1PreparedStatement => {
  const names = [...Object.keys(columns), 'seq']
  const places = names.map((_, index) => `?${index + 1}`)
  const changes = names.filter((name) => name !== key).map((name) => `${name} = excluded.${name}`)
  const owner = 'account_id' in columns ? 'account_id' : 'id'
  return db
    .prepare(
      `INSERT INTO ${table} (${names.join(', ')}) SELECT ${places.join(', ')} WHERE NOT (${unless})
       ON CONFLICT (${key}) DO UPDATE SET ${changes.join(', ')} WHERE ${table}.seq < excluded.seq AND ${table}.${owner} = excluded.${owner}`,
    )
    .bind(...Object.values(columns), seq)
}

const account = (db: D1Database, { account: a, nextExpiry, seq }: Of<'account'>) =>
  upsert(
    db,
    'accounts',
    'id',
    accountColumns(a, nextExpiry),
    seq,
    'EXISTS (SELECT 1 FROM erasures WHERE account_id = ?1 AND id = ?1)',
  )

const device = (db: D1Database, { accountId, device: d, joins, seq }: Of<'device'>) => [
  ...(joins === undefined ? [] : join(db, accountId, d, joins)),
  upsert(
    db,
    'devices',
    'key',
    deviceColumns(accountId, d),
    seq,
    'EXISTS (SELECT 1 FROM tombstones WHERE account_id = ?3 AND id = ?2)',
  ),
]

/** A device joins its maker's group just before its row comes into being: a late repeat finds the row and joins nothing. */
const join = (db: D1Database, accountId: string, d: Device, groupId: string) => [
  db
    .prepare(
      `INSERT INTO group_devices (group_id, device_key, account_id) SELECT id, ?2, ?3 FROM groups WHERE id = ?1 AND account_id = ?3
         AND NOT EXISTS (SELECT 1 FROM devices WHERE key = ?2) AND NOT EXISTS (SELECT 1 FROM tombstones WHERE account_id = ?3 AND id = ?4)
       ON CONFLICT DO NOTHING`,
    )
    .bind(groupId, d.key, accountId, d.id),
  db
    .prepare(
      'UPDATE groups SET version = version + 1, last_modified = max(last_modified, ?2) WHERE id = ?1 AND changes() = 1',
    )
    .bind(groupId, d.creation),
]

/** Counters change without an edit, so they carry the number of their effect too. */
const usage = (
  db: D1Database,
  accountId: string,
  { key, usage: u, contact = 0, seq }: Of<'usage'>,
) =>
  db
    .prepare(
      `UPDATE devices SET usage_date = ?2, emails_sent = ?3, sms_sent = ?4, seq = ?5, last_contact = nullif(max(ifnull(last_contact, 0), ?6), 0)
       WHERE key = ?1 AND account_id = ?7 AND seq < ?5`,
    )
    .bind(key, u.date, u.emailsSent, u.smsSent, seq, contact, accountId)

const contact = (db: D1Database, accountId: string, { key, at }: Of<'contact'>) =>
  db
    .prepare(
      'UPDATE devices SET last_contact = ?2 WHERE key = ?1 AND account_id = ?3 AND ifnull(last_contact, 0) < ?2',
    )
    .bind(key, at, accountId)

/** What still names devices that are no more: only a restored database has any. */
const memberships = (db: D1Database, { accountId }: Of<'memberships'>) => [
  db
    .prepare(
      'DELETE FROM group_devices WHERE account_id = ?1 AND NOT EXISTS (SELECT 1 FROM devices WHERE key = device_key)',
    )
    .bind(accountId),
  db
    .prepare(
      `UPDATE users SET device_id = NULL WHERE account_id = ?1 AND device_id IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM devices WHERE id = device_id)`,
    )
    .bind(accountId),
]

const eventsJump = (db: D1Database, { accountId, to }: Of<'events-jump'>) =>
  db
    .prepare(
      'INSERT INTO event_heads (account_id, sequence) VALUES (?1, ?2) ON CONFLICT (account_id) DO UPDATE SET sequence = max(sequence, ?2)',
    )
    .bind(accountId, to)

/** The plus keeps the planner from looking through all memberships of the account. */
const deviceGone = (db: D1Database, { accountId, id, key, at, seq }: Of<'device-gone'>) => [
  db
    .prepare(
      `INSERT INTO tombstones (id, account_id, seq, creation, groups)
       SELECT ?1, ?2, ?3, ?4, json_group_array(group_id) FROM group_devices WHERE device_key = ?5 AND +account_id = ?2 ON CONFLICT DO NOTHING`,
    )
    .bind(id, accountId, seq, at, key),
  db
    .prepare(
      `INSERT INTO erasures (id, account_id, device_key, creation) SELECT ?1, ?2, ?3, ?4
       WHERE NOT EXISTS (SELECT 1 FROM devices WHERE key = ?3 AND account_id <> ?2) ON CONFLICT DO NOTHING`,
    )
    .bind(id, accountId, key, at),
  db
    .prepare('DELETE FROM group_devices WHERE device_key = ? AND +account_id = ?')
    .bind(key, accountId),
  db
    .prepare('UPDATE users SET device_id = NULL WHERE account_id = ? AND device_id = ?')
    .bind(accountId, id),
  db.prepare('DELETE FROM devices WHERE key = ? AND account_id = ?').bind(key, accountId),
]

/** A device, or the account, that was deleted after the moment to which the ledger was set back: it stands again. */
const undelete = (db: D1Database, { accountId, id }: Of<'undelete'>) => [
  db.prepare('DELETE FROM tombstones WHERE account_id = ? AND id = ?').bind(accountId, id),
  db.prepare('DELETE FROM erasures WHERE account_id = ? AND id = ?').bind(accountId, id),
]

const accountGone = (db: D1Database, { accountId, at }: Of<'account-gone'>) => [
  db
    .prepare(
      'INSERT INTO erasures (id, account_id, creation) VALUES (?1, ?1, ?2) ON CONFLICT DO NOTHING',
    )
    .bind(accountId, at),
  db.prepare('DELETE FROM accounts WHERE id = ?').bind(accountId),
]

const directory = (db: D1Database, { account: a }: Of<'directory'>) => [
  db
    .prepare(
      'INSERT INTO directory (number, user_name_key, account_id, cell) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    )
    .bind(a.number, fold(a.userName), a.id, a.cell),
  db
    .prepare(
      'INSERT INTO cells (cell, accounts) SELECT ?1, 1 WHERE changes() = 1 ON CONFLICT (cell) DO UPDATE SET accounts = accounts + 1',
    )
    .bind(a.cell),
]

const directoryGone = (db: D1Database, { accountId, cell }: Of<'directory-gone'>) => [
  db
    .prepare(
      'UPDATE cells SET accounts = accounts - 1 WHERE cell = ?1 AND EXISTS (SELECT 1 FROM directory WHERE account_id = ?2)',
    )
    .bind(cell, accountId),
  db.prepare('DELETE FROM directory WHERE account_id = ?').bind(accountId),
]

const statements = (
  database: Database,
  accountId: string,
  effect: Posted,
): D1PreparedStatement | D1PreparedStatement[] => {
  const db = database.$client
  switch (effect.kind) {
    case 'account':
      return account(db, effect)
    case 'device':
      return device(db, effect)
    case 'undelete':
      return undelete(db, effect)
    case 'device-gone':
      return deviceGone(db, effect)
    case 'usage':
      return usage(db, accountId, effect)
    case 'contact':
      return contact(db, accountId, effect)
    case 'alert':
      return insertAlert(database, effect)
    case 'messages':
      return insertMessages(database, effect)
    case 'message-state':
      return updateMessage(database, effect)
    case 'memberships':
      return memberships(db, effect)
    case 'event':
      return appendEvent(database, effect)
    case 'events-jump':
      return eventsJump(db, effect)
    case 'account-gone':
      return accountGone(db, effect)
    case 'directory':
      return directory(db, effect)
    case 'directory-gone':
      return directoryGone(db, effect)
  }
}

export interface AppliedEffects {
  /** The account's last event number, as it stands after these effects. */
  lastEvent: number
  /** Something was told, and someone listens. */
  hasSubscribers: boolean
}

interface Head {
  sequence: number
  subscribed: number
}

const p = placeholders('accountId', 'now')
const selectHead = compile<{ accountId: string; now: number }, Head>(
  sql`SELECT ${eventHeads.sequence}, ${isSubscribed(p.accountId, p.now)} AS subscribed
    FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${p.accountId}`,
)

export const applyEffects = async (
  database: Database,
  accountId: string,
  effects: Posted[],
  now: number,
): Promise<AppliedEffects> => {
  const results = await database.$client.batch<Head>([
    ...effects.flatMap((effect) => statements(database, accountId, effect)),
    selectHead(database, { accountId, now }),
  ])
  const { sequence = 0, subscribed = 0 } = results.at(-1)?.results[0] ?? {}
  return {
    lastEvent: sequence,
    hasSubscribers: subscribed === 1 && effects.some(({ kind }) => kind === 'event'),
  }
}
