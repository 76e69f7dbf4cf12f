import { appendEvent } from '../db/events.ts'
import type { Database } from '../db/open.ts'
import { fold } from '../domain/fold.ts'
import { endsOf } from '../domain/license.ts'
import type { Effect, Posted } from './outbox.ts'

/*
 * Effects as D1 statements. All may be carried out twice: rows carry the number of the effect that wrote them,
 * a deleted device leaves a tombstone, an event enters by its id.
 */

type Of<K extends Effect['kind']> = Extract<Posted, { kind: K }>

const account = (db: D1Database, { account: a, nextExpiry, seq }: Of<'account'>) =>
  db
    .prepare(
      `INSERT INTO accounts (id, number, user_name, name, time_zone, day, licenses, used, disabled, next_expiry, creation, last_modified, version, seq, retention_days)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
       ON CONFLICT (id) DO UPDATE SET name = ?4, time_zone = ?5, day = ?6, licenses = ?7, used = ?8, disabled = ?9,
         next_expiry = ?10, last_modified = ?12, version = ?13, seq = ?14, retention_days = ?15 WHERE seq < ?14`,
    )
    .bind(
      a.id,
      a.number,
      a.userName,
      a.name,
      a.timeZone,
      a.day,
      a.total,
      a.used,
      a.disabled ? 1 : 0,
      nextExpiry,
      a.creation,
      a.lastModified,
      a.version,
      seq,
      a.retentionDays,
    )

const device = (db: D1Database, { accountId, device: d, seq }: Of<'device'>) =>
  db
    .prepare(
      `INSERT INTO devices (key, id, account_id, name, name_key, description, min, identifier, identifier_key, model, tags, expires,
         expiration_date, ends, daily_email_limit, daily_sms_limit, creation, last_modified, version, seq)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20
       WHERE NOT EXISTS (SELECT 1 FROM tombstones WHERE account_id = ?3 AND id = ?2)
       ON CONFLICT (key) DO UPDATE SET name = ?4, name_key = ?5, description = ?6, min = ?7, identifier = ?8, identifier_key = ?9,
         model = ?10, tags = ?11, expires = ?12, expiration_date = ?13, ends = ?14, daily_email_limit = ?15, daily_sms_limit = ?16,
         last_modified = ?18, version = ?19, seq = ?20 WHERE seq < ?20`,
    )
    .bind(
      d.key,
      d.id,
      accountId,
      d.name,
      fold(d.name),
      d.description,
      d.min,
      d.identifier,
      d.identifier === null ? null : fold(d.identifier),
      d.model,
      JSON.stringify(d.tags),
      d.limits.expires ? 1 : 0,
      d.limits.expirationDate,
      endsOf(d.limits),
      d.limits.dailyEmailLimit,
      d.limits.dailySmsLimit,
      d.creation,
      d.lastModified,
      d.version,
      seq,
    )

const deviceGone = (db: D1Database, { accountId, id, key, at, seq }: Of<'device-gone'>) => [
  db
    .prepare('INSERT INTO tombstones (id, account_id, seq, creation) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
    .bind(id, accountId, seq, at),
  db
    .prepare('INSERT INTO erasures (id, account_id, device_key, creation) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
    .bind(id, accountId, key, at),
  db.prepare('DELETE FROM group_devices WHERE device_key = ?').bind(key),
  db.prepare('DELETE FROM devices WHERE key = ?').bind(key),
]

const accountGone = (db: D1Database, { accountId, at }: Of<'account-gone'>) => [
  db.prepare('INSERT INTO erasures (id, account_id, creation) VALUES (?1, ?1, ?2) ON CONFLICT DO NOTHING').bind(accountId, at),
  db.prepare('DELETE FROM accounts WHERE id = ?').bind(accountId),
]

const directoryGone = (db: D1Database, { accountId, cell }: Of<'directory-gone'>) => [
  db
    .prepare('UPDATE cells SET accounts = accounts - 1 WHERE cell = ?1 AND EXISTS (SELECT 1 FROM directory WHERE account_id = ?2)')
    .bind(cell, accountId),
  db.prepare('DELETE FROM directory WHERE account_id = ?').bind(accountId),
]

const statements = (db: D1Database, effect: Posted): D1PreparedStatement | D1PreparedStatement[] => {
  switch (effect.kind) {
    case 'account':
      return account(db, effect)
    case 'device':
      return device(db, effect)
    case 'device-gone':
      return deviceGone(db, effect)
    case 'event':
      return appendEvent(db, effect)
    case 'account-gone':
      return accountGone(db, effect)
    case 'directory-gone':
      return directoryGone(db, effect)
  }
}

export const carryOut = async (database: Database, effects: Posted[]): Promise<void> => {
  const db = database.$client
  await db.batch(effects.flatMap((effect) => statements(db, effect)))
}
