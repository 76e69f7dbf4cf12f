import { env } from 'cloudflare:workers'
import { openAccount, type TestAccount } from '../../support/accounts.ts'

/* An account with so many rows of every kind that a query which reads them all is seen. */

export const [USERS, GROUPS, DEVICES, LARGE, FULL] = [10_000, 1000, 50_000, 5000, 10_000]
/** As many as the service keeps of a source or a device. */
const [SOURCES, IDENTIFIERS, REPORTS, QUARANTINED, PAYLOADS, COMMANDS] = [
  50, 1000, 100, 1000, 10_000, 20_000,
]
const [EVENTS, ALERTS, EXPIRED_KEYS, LIVE_KEYS, WEBHOOKS, ACCOUNTS] = [
  30_000, 20_000, 900, 100, 50, 2000,
]

export interface LargeAccount extends TestAccount {
  /** The id of the n-th row of its kind. */
  nth: (prefix: string, n: number) => string
  /** The key of the first device. */
  firstKey: number
  /** Has 5000 devices. All other groups have twenty. */
  largeGroup: string
  /** Has 10,000 devices, every fifth of the account. */
  fullGroup: string
}

const upTo = (count: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`

export const openLargeAccount = async (): Promise<LargeAccount> => {
  const account = await openAccount({ licenses: 10 })
  await env.DB.prepare('UPDATE accounts SET max_users = 100000 WHERE id = ?').bind(account.id).run()
  const nth = (prefix: string, n: number) =>
    `${prefix}_${account.id.slice(4, 13)}${String(n).padStart(6, '0')}`
  const number = await env.DB.prepare('SELECT number FROM accounts WHERE id = ?')
    .bind(account.id)
    .first<number>('number')
  const firstKey = (number ?? 0) * 2 ** 24
  const idOf = (prefix: string, i = 'i') =>
    `'${nth(prefix, 0).slice(0, -6)}' || printf('%06d', ${i})`
  const [largeGroup, fullGroup] = [nth('grp', 0), nth('grp', GROUPS)]
  const member = 'INSERT INTO group_devices (group_id, device_key, account_id, name_key, creation)'
  for (const sql of [
    // Every thousandth device is expired.
    `${upTo(DEVICES)} INSERT INTO devices (key, id, account_id, name, name_key, description, min,
       model, tags, identifier, identifier_key, expires, expiration_date, ends, daily_email_limit,
       daily_sms_limit, creation, last_modified, version, seq)
     SELECT ${firstKey} + i, ${idOf('dev')}, ?1, 'Tern ' || i, 'tern ' || i, '', '', '', '{}',
       'IMEI' || i, 'imei' || i, i % 1000 = 7, iif(i % 1000 = 7, '2020-01-01', NULL),
       iif(i % 1000 = 7, '2020-01-01', NULL), 1, 1, i, i, 1, 0 FROM n`,
    `${upTo(GROUPS)} INSERT INTO groups (id, account_id, name, name_key, description, creation,
       last_modified, version)
     SELECT ${idOf('grp')}, ?1, 'Fleet ' || i, 'fleet ' || i, '', i, i, 1 FROM n`,
    `INSERT INTO groups (id, account_id, name, name_key, description, creation, last_modified,
       version) VALUES ('${fullGroup}', ?1, 'All', 'all', '', 0, 0, 1)`,
    `${member} SELECT '${largeGroup}', key, ?1, name_key, creation FROM devices
     WHERE account_id = ?1 AND creation < ${LARGE}`,
    `${member} SELECT g.id, d.key, ?1, d.name_key, d.creation FROM groups g
     JOIN devices d ON d.key BETWEEN ${firstKey} + 20 * g.creation AND ${firstKey} + 20 * g.creation + 19
     WHERE g.account_id = ?1 AND g.id > '${largeGroup}' AND g.id < '${fullGroup}'`,
    `${member} SELECT '${fullGroup}', key, ?1, name_key, creation FROM devices
     WHERE account_id = ?1 AND creation % ${DEVICES / FULL} = 0`,
    `${upTo(USERS)} INSERT INTO users (id, account_id, name, name_key, email, email_key, country,
       time_zone, notify_email, notify_sms, description, message, disabled, disabled_message, tags,
       privileges, group_id, device_id, creation, modification, version)
     SELECT ${idOf('usr')}, ?1, 'User ' || i, 'user ' || i, 'user' || i || '@a.io',
       'user' || i || '@a.io', 'PT', 'UTC', 1, 0, '', '', 0, '', '{}', '["read"]',
       iif(i % 10 = 0, '${nth('grp', 1)}', NULL), iif(i % 10 = 1, '${nth('dev', 1)}', NULL),
       i, i, 1 FROM n`,
    // Half of the events are of device 500. Every 3000th is an alert.
    `${upTo(EVENTS)} INSERT INTO events (account_id, sequence, id, type, time, device_id, data)
     SELECT ?1, i + 100, ${idOf('evt')}, iif(i % 3000 = 2999, 'alert.raised', 'location.reported'),
       i, ${idOf('dev', 'iif(i % 2, i % 1000, 500)')}, '{"time":1,"count":1}' FROM n`,
    `INSERT INTO event_heads (account_id, sequence) VALUES (?1, ${EVENTS + 100})
     ON CONFLICT DO UPDATE SET sequence = excluded.sequence`,
    // Half of the alerts are of device 600.
    `${upTo(ALERTS)} INSERT INTO alerts (id, account_id, device_key, time, name, text, messages)
     SELECT ${idOf('alr')}, ?1, ${firstKey} + iif(i % 2, i % 1000, 600), i,
       iif(i % 4000 = 0, 'SOSButton', 'Offline'), '', 1 FROM n`,
    `${upTo(ALERTS)} INSERT INTO messages (account_id, id, device_key, channel, recipient, subject,
       text, status, attempts, changed, seq)
     SELECT ?1, ${idOf('msg')} || '0000', ${firstKey} + iif(i % 2, i % 1000, 600), 'Email', '', '',
       '', 'sent', 1, i, 0 FROM n`,
    `${upTo(EXPIRED_KEYS + LIVE_KEYS)} INSERT INTO keys (id, account_id, name, scopes, hash,
       creation, expires)
     SELECT ${idOf('key')}, ?1, 'k', '["read"]', '', 0, iif(i < ${EXPIRED_KEYS}, 1, NULL) FROM n`,
    `${upTo(WEBHOOKS)} INSERT INTO webhooks (id, account_id, url, events, devices, groups,
       description, enabled, wants_locations, since, creation, last_modified, version)
     SELECT ${idOf('whk')}, ?1, '', '[]', '[]', '[]', '', 0, 0, 0, 0, 0, 1 FROM n`,
    `${upTo(10_000)} INSERT INTO locations (device_key, time, latitude, longitude, received_at)
     SELECT ${firstKey} + 1, i, 0, 0, i FROM n WHERE ?1 IS NOT NULL`,
    `${upTo(SOURCES)} INSERT INTO sources (id, account_id, name, provider, enabled, settings,
       new_devices, keep_raw, hash, creation, last_modified, version)
     SELECT ${idOf('src')}, ?1, 'S', 'flespi', 1, '{}', 'hold', 0, '', 0, 0, 1 FROM n`,
    // Two sources are full: what one holds must not be read for the other.
    `${upTo(2 * IDENTIFIERS)} INSERT INTO unclaimed (source_id, identifier_key, account_id,
       identifier, first_received, last_received)
     SELECT ${idOf('src', 'i % 2')}, 'u' || printf('%06d', i / 2), ?1, 'U' || i, i, i FROM n`,
    `${upTo(2 * IDENTIFIERS * REPORTS)} INSERT INTO unclaimed_reports (source_id, identifier_key,
       account_id, key, kind, received_at, item)
     SELECT ${idOf('src', 'i % 2')}, 'u' || printf('%06d', i / 2 % ${IDENTIFIERS}), ?1, 'k' || i,
       iif(i % 4 < 2, 'location', 'none'), i,
       '{"kind":"location","location":{"dateTime":1,"latitude":1,"longitude":1}}' FROM n`,
    `${upTo(2 * QUARANTINED)} INSERT INTO quarantine (id, account_id, device_key, time, reason,
       received_at, packed)
     SELECT ${idOf('qua')}, ?1, ${firstKey} + i % 2, i, 'speed', i / 4,
       '[1,1,1,null,null,null,null,null,null,null]' FROM n`,
    // Every thousandth payload has failed.
    `${upTo(2 * PAYLOADS)} INSERT INTO source_payloads (id, account_id, source_id, received_at,
       reason, size)
     SELECT ${idOf('pay')}, ?1, ${idOf('src', 'i % 2')}, i, iif(i % 1000 < 2, 'wrong', NULL), 9
     FROM n`,
    `${upTo(2 * COMMANDS)} INSERT INTO commands (id, account_id, device_key, is_received, format,
       command, sms, status, creation)
     SELECT ${idOf('cmd')}, ?1, ${firstKey} + i % 2, 1, 'Text', '', i % 8 < 2, 'delivered', i / 4
     FROM n`,
    `${upTo(ACCOUNTS)} INSERT INTO directory (user_name_key, account_id, cell)
     SELECT 'other' || i, ${idOf('acc')}, 0 FROM n WHERE ?1 IS NOT NULL`,
    `INSERT INTO accounts (id, number, user_name, name, time_zone, day, licenses, used, creation,
       last_modified, version, seq)
     SELECT account_id, number, user_name_key, '', 'UTC', '2026-01-01', 1, 0, 0, 0, 1, 0
     FROM directory WHERE account_id <> ?1`,
  ])
    await env.DB.prepare(sql).bind(account.id).run()
  return { ...account, nth, firstKey, largeGroup, fullGroup }
}
