import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { migrate } from '../db/objectMigrations.ts'
import type { StoredEntry } from '../db/queries/audit.ts'
import type { DisabledReason, WebhookDelivery } from '../domain/event/webhook.ts'

/* The tables of the feed's own SQLite, as `STEPS` leave them. */

/** One row, once the account that the feed belongs to is known. */
export const feedState = sqliteTable('feed_state', {
  accountId: text('account_id').primaryKey(),
  cell: integer().notNull(),
  /** The account's last event at the last poll. */
  head: integer().notNull(),
  /** When `head` last moved. */
  lastEventAt: integer('last_event_at').notNull(),
  /** When the listener lease in the cell ends, for streams and for streams that want locations. */
  streamsUntil: integer('streams_until').notNull(),
  locationStreamsUntil: integer('location_streams_until').notNull(),
})

/** The webhooks' secrets are stored only here. */
export const secrets = sqliteTable('secrets', {
  id: text().primaryKey(),
  webhookId: text('webhook_id').notNull(),
  secret: text().notNull(),
  creation: integer().notNull(),
  /** When a replaced secret stops signing; null for the current one. */
  until: integer(),
})

/** What receivers of other formats know us by. */
export const outputTokens = sqliteTable('output_tokens', {
  webhookId: text('webhook_id').primaryKey(),
  token: text().notNull(),
  /** The format and host that may get it. */
  receiver: text().notNull(),
})

export const webhookWorkers = sqliteTable('webhook_workers', {
  webhookId: text('webhook_id').primaryKey(),
  /** The last event that was delivered or filtered out. */
  cursor: integer().notNull(),
  since: integer().notNull(),
  url: text().notNull(),
  /** Since when no attempt has succeeded; null after a success, or a day without an attempt. */
  failingSince: integer('failing_since'),
  /** When an attempt last succeeded. */
  succeededAt: integer('succeeded_at'),
})

export const deliveries = sqliteTable('deliveries', {
  number: integer().primaryKey({ autoIncrement: true }),
  id: text().notNull(),
  webhookId: text('webhook_id').notNull(),
  sequences: text({ mode: 'json' }).$type<number[]>().notNull(),
  status: text().$type<WebhookDelivery['status']>().notNull(),
  attempts: integer().notNull().default(0),
  attemptsByHand: integer('manual_attempts').notNull().default(0),
  responseCode: integer('response_code'),
  failure: text().$type<WebhookDelivery['failure']>(),
  durationMs: integer('duration'),
  answer: text(),
  creation: integer().notNull(),
  lastAttempt: integer('last_attempt'),
  /** Null once the delivery is final. */
  nextAttempt: integer('next_attempt'),
})

export const disableNotices = sqliteTable('disable_notices', {
  webhookId: text('webhook_id').notNull(),
  creation: integer().notNull(),
  reason: text().$type<DisabledReason>().notNull(),
  due: integer().notNull(),
})

/** Entries of the audit on their way to the cell. */
export const auditEntries = sqliteTable('audit_entries', {
  id: text().primaryKey(),
  entry: text({ mode: 'json' }).$type<StoredEntry>().notNull(),
})

/** The steps that created these tables. New ones go at the end. */
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
  'CREATE TABLE audit_entries (id TEXT PRIMARY KEY, entry TEXT NOT NULL) STRICT, WITHOUT ROWID;',
  'CREATE TABLE output_tokens (webhook_id TEXT PRIMARY KEY, token TEXT NOT NULL) STRICT, WITHOUT ROWID;',
  "ALTER TABLE output_tokens ADD COLUMN receiver TEXT NOT NULL DEFAULT '';",
  'ALTER TABLE webhook_workers ADD COLUMN succeeded_at INTEGER;',
]

export const migrateTables = (storage: DurableObjectStorage): void => migrate(storage, STEPS)
