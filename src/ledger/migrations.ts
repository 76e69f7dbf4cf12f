import { migrate } from '../db/objectMigrations.ts'

/** The migrations of the ledger's own SQLite. A change is one more step: each runs once, in order. */
export const STEPS = [
  `CREATE TABLE account (
     id TEXT PRIMARY KEY, number INTEGER NOT NULL, cell INTEGER NOT NULL,
     user_name TEXT NOT NULL, name TEXT NOT NULL, time_zone TEXT NOT NULL, day TEXT NOT NULL,
     total INTEGER NOT NULL, used INTEGER NOT NULL, disabled INTEGER NOT NULL,
     creation INTEGER NOT NULL, last_modified INTEGER NOT NULL, version INTEGER NOT NULL,
     next_device INTEGER NOT NULL DEFAULT 1, next_expiry INTEGER,
     events_seen INTEGER NOT NULL DEFAULT 0, erased INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE TABLE devices (
     key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, identifier_key TEXT, ends TEXT,
     recorded INTEGER NOT NULL DEFAULT 0, record TEXT NOT NULL, created_by TEXT,
     creation INTEGER NOT NULL, last_modified INTEGER NOT NULL, version INTEGER NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX devices_identifier ON devices (identifier_key)
     WHERE identifier_key IS NOT NULL;
   CREATE INDEX devices_ends ON devices (ends) WHERE ends IS NOT NULL;
   CREATE INDEX devices_due ON devices (ends) WHERE ends IS NOT NULL AND recorded = 0;
   CREATE INDEX devices_maker ON devices (created_by) WHERE created_by IS NOT NULL;
   CREATE TABLE endings (day TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE creators (user_id TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE usage (
     device_key INTEGER NOT NULL, day TEXT NOT NULL, emails INTEGER NOT NULL DEFAULT 0,
     sms INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (device_key, day)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE log (
     sequence INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, device_id TEXT,
     what TEXT NOT NULL, used INTEGER NOT NULL, total INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE outbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, effect TEXT NOT NULL) STRICT;`,
  'ALTER TABLE account ADD COLUMN retention_days INTEGER NOT NULL DEFAULT 365',
  `CREATE TABLE messages (
     id TEXT PRIMARY KEY, key TEXT NOT NULL, device_key INTEGER NOT NULL, channel TEXT NOT NULL,
     recipient TEXT NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL, urgent INTEGER NOT NULL,
     status TEXT NOT NULL, reason TEXT, provider TEXT, day TEXT NOT NULL,
     accepted INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, next_try INTEGER,
     unsure_since INTEGER, changed INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX messages_due ON messages (channel, urgent, next_try) WHERE next_try IS NOT NULL;
   CREATE INDEX messages_done ON messages (changed) WHERE next_try IS NULL;
   CREATE TABLE receipts (
     message_id TEXT NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (message_id, mark)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE raised (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
   ALTER TABLE usage ADD COLUMN emails_suppressed INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE usage ADD COLUMN sms_suppressed INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE usage ADD COLUMN emails_reached INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE usage ADD COLUMN sms_reached INTEGER NOT NULL DEFAULT 0;`,
  'CREATE TABLE notices (id TEXT PRIMARY KEY, accepted INTEGER NOT NULL) STRICT, WITHOUT ROWID',
  `ALTER TABLE account ADD COLUMN locations_per_day INTEGER;
   ALTER TABLE account ADD COLUMN storage_bytes INTEGER;`,
  `CREATE INDEX messages_device ON messages (device_key);
   CREATE TABLE deleted (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;`,
  `ALTER TABLE account ADD COLUMN emergency TEXT;
   ALTER TABLE devices ADD COLUMN expired_emergency_at INTEGER;
   ALTER TABLE messages ADD COLUMN kind TEXT NOT NULL DEFAULT 'alert';
   ALTER TABLE messages ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
   ALTER TABLE messages ADD COLUMN user_id TEXT;
   ALTER TABLE messages ADD COLUMN contact TEXT;
   UPDATE messages SET kind = 'notice' WHERE device_key = 0;
   ALTER TABLE usage ADD COLUMN emails_emergency INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE usage ADD COLUMN sms_emergency INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE raised ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE raised ADD COLUMN remembered INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE raised ADD COLUMN joined TEXT;
   ALTER TABLE raised ADD COLUMN undelivered TEXT;
   UPDATE raised SET at = unixepoch() * 1000;
   CREATE INDEX raised_at ON raised (remembered, at);
   CREATE TABLE emergencies (
     id TEXT PRIMARY KEY, device_key INTEGER NOT NULL, name TEXT NOT NULL, time INTEGER NOT NULL,
     raised_at INTEGER NOT NULL, details TEXT NOT NULL, updates TEXT NOT NULL DEFAULT '[]',
     messages INTEGER NOT NULL, check_at INTEGER, round INTEGER NOT NULL DEFAULT 0,
     next_round INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX emergencies_device ON emergencies (device_key, name);
   CREATE INDEX emergencies_check ON emergencies (check_at) WHERE check_at IS NOT NULL;
   CREATE INDEX emergencies_round ON emergencies (next_round) WHERE next_round IS NOT NULL;
   CREATE TABLE acknowledgements (
     alert_id TEXT PRIMARY KEY, at INTEGER NOT NULL, by TEXT NOT NULL, cancelled_at INTEGER,
     cancelled_by TEXT
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX acknowledgements_at ON acknowledgements (at);`,
  'ALTER TABLE messages ADD COLUMN link TEXT',
  `ALTER TABLE notices ADD COLUMN link_kind TEXT;
   ALTER TABLE notices ADD COLUMN user_id TEXT;`,
  `CREATE TABLE source_secrets (source_id TEXT PRIMARY KEY, secrets TEXT NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE source_devices (
     source_id TEXT NOT NULL, day TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (source_id, day)
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE rule_cooldowns (
     rule_id TEXT NOT NULL, device_id TEXT NOT NULL, zone_id TEXT NOT NULL, time INTEGER NOT NULL,
     PRIMARY KEY (rule_id, device_id, zone_id, time)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX rule_cooldowns_time ON rule_cooldowns (time);`,
  // A row for each channel: a new channel needs no column.
  `CREATE TABLE message_counts (
     device_key INTEGER NOT NULL, day TEXT NOT NULL, channel TEXT NOT NULL, sent INTEGER NOT NULL,
     suppressed INTEGER NOT NULL, emergency INTEGER NOT NULL, reached INTEGER NOT NULL,
     PRIMARY KEY (device_key, day, channel)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO message_counts
     SELECT device_key, day, 'Email', emails, emails_suppressed, emails_emergency, emails_reached
       FROM usage WHERE emails + emails_suppressed + emails_reached > 0
     UNION ALL SELECT device_key, day, 'SMS', sms, sms_suppressed, sms_emergency, sms_reached
       FROM usage WHERE sms + sms_suppressed + sms_reached > 0;
   DROP TABLE usage;`,
  'ALTER TABLE account ADD COLUMN messages_per_day TEXT',
  'ALTER TABLE messages ADD COLUMN text_of TEXT',
  'ALTER TABLE account ADD COLUMN max_users INTEGER',
  `CREATE TABLE command_numbers (day TEXT NOT NULL, number TEXT NOT NULL, PRIMARY KEY (day, number))
     STRICT, WITHOUT ROWID;`,
  `ALTER TABLE messages ADD COLUMN provider_id TEXT;
   ALTER TABLE messages ADD COLUMN awaits_receipt INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE emergencies ADD COLUMN reports INTEGER NOT NULL DEFAULT 0;`,
  `CREATE TABLE presses (
     raise_id TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL, at INTEGER NOT NULL,
     alert_id TEXT NOT NULL, PRIMARY KEY (raise_id, source, digest, at)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX presses_alert ON presses (alert_id, source);
   CREATE INDEX presses_at ON presses (at);
   CREATE TABLE cancellations (
     device_key INTEGER NOT NULL, source TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL,
     time INTEGER NOT NULL, at INTEGER NOT NULL, waits INTEGER NOT NULL,
     PRIMARY KEY (device_key, source, name, digest)
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE alert_states (
     alert_id TEXT PRIMARY KEY, acknowledged_at INTEGER, acknowledged_by TEXT,
     resolved_at INTEGER, resolved_by TEXT, cancelled_at INTEGER, cancelled_by TEXT,
     reopened INTEGER NOT NULL, notes INTEGER NOT NULL, seq INTEGER NOT NULL,
     changed INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX alert_states_changed ON alert_states (changed);
   INSERT INTO alert_states SELECT alert_id, at, by, NULL, NULL, cancelled_at, cancelled_by, 0, 0,
     ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'outbox'), 0), at FROM acknowledgements;
   DROP TABLE acknowledgements;
   ALTER TABLE emergencies ADD COLUMN state TEXT NOT NULL DEFAULT 'open';
   ALTER TABLE emergencies ADD COLUMN again_at INTEGER;
   CREATE INDEX emergencies_again ON emergencies (again_at) WHERE again_at IS NOT NULL;`,
  `CREATE TABLE drills (alert_id TEXT PRIMARY KEY, at INTEGER NOT NULL, day TEXT NOT NULL)
     STRICT, WITHOUT ROWID;
   CREATE INDEX drills_at ON drills (at);
   CREATE INDEX drills_day ON drills (day);`,
  'ALTER TABLE presses ADD COLUMN noted INTEGER NOT NULL DEFAULT 0',
  `CREATE TABLE notes (id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE INDEX notes_at ON notes (at);`,
  `ALTER TABLE account ADD COLUMN status TEXT NOT NULL DEFAULT 'active';
   UPDATE account SET status = 'disabled' WHERE disabled = 1;
   ALTER TABLE account ADD COLUMN status_message TEXT NOT NULL DEFAULT '';
   ALTER TABLE account ADD COLUMN deleted_at INTEGER;
   ALTER TABLE account ADD COLUMN support_may_write INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE account ADD COLUMN requests_per_minute INTEGER;
   ALTER TABLE account ADD COLUMN max_retention_days INTEGER;
   ALTER TABLE account ADD COLUMN max_zones INTEGER;
   CREATE TABLE deleted_devices (id TEXT PRIMARY KEY, at INTEGER NOT NULL, device TEXT NOT NULL)
     STRICT, WITHOUT ROWID;
   CREATE INDEX deleted_devices_at ON deleted_devices (at);
   CREATE TABLE message_usage (
     day TEXT NOT NULL, channel TEXT NOT NULL, provider TEXT NOT NULL,
     messages INTEGER NOT NULL, segments INTEGER NOT NULL, PRIMARY KEY (day, channel, provider)
   ) STRICT, WITHOUT ROWID;`,
  'ALTER TABLE outbox ADD COLUMN at INTEGER NOT NULL DEFAULT 0',
  // Since when messages are counted: a row without a provider.
  `INSERT INTO message_usage VALUES (date('now'), 'Email', '', 0, 0)`,
  `CREATE TABLE imports (session TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
   CREATE TABLE import_files (
     name TEXT PRIMARY KEY, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, rows INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  'ALTER TABLE account ADD COLUMN sandbox TEXT',
]

export const migrateTables = (storage: DurableObjectStorage): void => migrate(storage, STEPS)
