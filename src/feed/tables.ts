import { migrate } from '../db/objectMigrations.ts'

/** The feed's own SQLite. The webhooks' secrets are stored only here. */
export const STEPS = [
  `CREATE TABLE owner (
     account_id TEXT PRIMARY KEY, cell INTEGER NOT NULL,
     head INTEGER NOT NULL DEFAULT 0, news_at INTEGER NOT NULL DEFAULT 0,
     streams_until INTEGER NOT NULL DEFAULT 0, location_streams_until INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE TABLE secrets (
     id TEXT PRIMARY KEY, webhook_id TEXT NOT NULL, secret TEXT NOT NULL,
     creation INTEGER NOT NULL, until INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX secrets_webhook ON secrets (webhook_id);
   CREATE TABLE couriers (
     webhook_id TEXT PRIMARY KEY, cursor INTEGER NOT NULL, since INTEGER NOT NULL,
     url TEXT NOT NULL, failing_since INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE deliveries (
     number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
     webhook_id TEXT NOT NULL, sequences TEXT NOT NULL,
     status TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
     response_code INTEGER, failure TEXT, duration INTEGER, answer TEXT,
     creation INTEGER NOT NULL, last_attempt INTEGER, next_attempt INTEGER
   ) STRICT;
   CREATE INDEX deliveries_webhook ON deliveries (webhook_id, number);
   CREATE INDEX deliveries_pending ON deliveries (next_attempt, webhook_id)
     WHERE next_attempt IS NOT NULL;
   CREATE TABLE notices (
     webhook_id TEXT NOT NULL, creation INTEGER NOT NULL, reason TEXT NOT NULL,
     attempts INTEGER NOT NULL DEFAULT 0, next_attempt INTEGER NOT NULL,
     told TEXT NOT NULL DEFAULT '[]', PRIMARY KEY (webhook_id, creation)
   ) STRICT, WITHOUT ROWID;`,
  'ALTER TABLE deliveries ADD COLUMN by_hand INTEGER NOT NULL DEFAULT 0;',
  `CREATE TABLE disable_notices (
     webhook_id TEXT NOT NULL, creation INTEGER NOT NULL, reason TEXT NOT NULL, due INTEGER NOT NULL,
     PRIMARY KEY (webhook_id, creation)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO disable_notices SELECT webhook_id, creation, reason, next_attempt FROM notices WHERE told = '[]';
   DROP TABLE notices;`,
  `ALTER TABLE owner RENAME TO feed_state;
   ALTER TABLE feed_state RENAME COLUMN news_at TO last_event_at;
   ALTER TABLE couriers RENAME TO webhook_workers;
   ALTER TABLE deliveries RENAME COLUMN by_hand TO manual_attempts;`,
]

export const migrateTables = (storage: DurableObjectStorage): void => migrate(storage, STEPS)
