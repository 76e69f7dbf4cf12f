import { sql } from 'drizzle-orm'
import {
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'
import type { Device } from '../domain/account/device.ts'
import type { SessionAgent } from '../domain/account/session.ts'
import type { QuarantineReason, SourceItem, SourceProvider } from '../domain/account/source.ts'
import type { Privilege } from '../domain/account/user.ts'
import type { Actor, Change } from '../domain/admin/audit.ts'
import type { MovePosition, MoveState, MoveStep } from '../domain/admin/move.ts'
import type { OperatorRole } from '../domain/admin/operator.ts'
import type { AccountStatus } from '../domain/admin/status.ts'
import type { DisabledReason } from '../domain/event/webhook.ts'
import type { ZoneShape } from '../domain/geo/zone.ts'
import type {
  AlertAction,
  AlertUpdate,
  Channel,
  MessageKind,
  PositionSource,
  Status,
} from '../domain/message/alert.ts'
import type { PendingRaise } from '../domain/message/pendingRaise.ts'
import type { OutputFormat, OutputSettings } from '../domain/output/output.ts'
import type { RuleRecord, RuleType } from '../domain/rule/rule.ts'
import type { ShareRecord } from '../domain/share/share.ts'
import type { UsageDays } from '../domain/usage/usage.ts'
import type { WatchRecord, WatchState } from '../domain/watch/watch.ts'

/*
 * Every D1 table. All cells have the same tables; only cell 0 uses `directory`, `source_directory`,
 * `cells`, `moves`, `operators`, `push_keys` and `oauth_records`.
 * Instants are milliseconds, days are YYYY-MM-DD. There are no foreign keys and no cascades: rows
 * are erased in pages.
 */

const accountId = text('account_id').notNull()
const owned = { id: text().primaryKey(), accountId }
/** `version` counts the edits. */
const edited = {
  creation: integer().notNull(),
  lastModified: integer('last_modified').notNull(),
  version: integer().notNull(),
}

/** User name → account and cell. `number` is never reused, not even after a restore. */
export const directory = sqliteTable(
  'directory',
  {
    number: integer().primaryKey({ autoIncrement: true }),
    userNameKey: text('user_name_key').notNull().unique(),
    accountId: text('account_id').notNull().unique(),
    cell: integer().notNull(),
    /** When creating the account began; null once it exists. */
    openingAt: integer('opening_at'),
    /** Of a sandbox, the account whose administrator opened it. */
    sandboxOf: text('sandbox_of'),
  },
  (table) => [
    index('directory_opening').on(table.openingAt).where(sql`opening_at IS NOT NULL`),
    index('directory_sandbox').on(table.sandboxOf).where(sql`sandbox_of IS NOT NULL`),
  ],
)

/** How many accounts each cell has, updated with every account, and how large the sweep found it. */
export const cells = sqliteTable('cells', {
  cell: integer().primaryKey(),
  accounts: integer().notNull().default(0),
  /** Null until the first sweep. Written when it has changed by 1 % or more. */
  sizeBytes: integer('size_bytes'),
})

/** Projection of the ledger's account record, as of its effect `seq`. */
export const accounts = sqliteTable(
  'accounts',
  {
    id: text().primaryKey(),
    number: integer().notNull(),
    userName: text('user_name').notNull(),
    name: text().notNull(),
    timeZone: text('time_zone').notNull(),
    /** The latest day that the ledger has seen: a clock set back makes no expired device active. */
    day: text().notNull(),
    licenses: integer().notNull(),
    /** Licenses in use on `day`. */
    used: integer().notNull(),
    /** Of releases before the degrees of suspension; follows `status`. */
    disabled: integer({ mode: 'boolean' }).notNull().default(false),
    status: text().$type<AccountStatus>().notNull().default('active'),
    /** What the operator says about the status. */
    statusMessage: text('status_message').notNull().default(''),
    /** When the operator deleted it. It is erased 30 days later. */
    deletedAt: integer('deleted_at'),
    /** Whether the operator's support may change something. */
    supportMayWrite: integer('support_may_write', { mode: 'boolean' }).notNull().default(false),
    /** How long locations (from their `dateTime`) and alerts (from their arrival) are kept. */
    retentionDays: integer('retention_days').notNull().default(365),
    /** The operator's budgets; null for the default. */
    locationsPerDay: integer('locations_per_day'),
    storageBytes: integer('storage_bytes'),
    maxUsers: integer('max_users'),
    requestsPerMinute: integer('requests_per_minute'),
    maxRetentionDays: integer('max_retention_days'),
    maxZones: integer('max_zones'),
    /** `MessageOverrides` of domain/message/messageBudget.ts as JSON. */
    messagesPerDay: text('messages_per_day'),
    /** `EmergencySettings` of domain/message/emergency.ts as JSON; null for the defaults. */
    emergency: text(),
    /** `Sandbox` of domain/sandbox/sandbox.ts as JSON; null for an account that is none. */
    sandbox: text(),
    /** `erasesAt` of the sandbox, for the sweep. */
    sandboxErasesAt: integer('sandbox_erases_at'),
    /** When the next device expires whose expiry the sweep has not recorded yet. */
    nextExpiry: integer('next_expiry'),
    /**
     * A random token, new with every change of what reports are evaluated by; null without rules for
     * reports. Not of the ledger's record. A counter would repeat after a restore.
     */
    rulesVersion: text('rules_version'),
    ...edited,
    seq: integer().notNull(),
  },
  (table) => [
    index('accounts_number').on(table.number),
    index('accounts_next_expiry').on(table.nextExpiry).where(sql`next_expiry IS NOT NULL`),
    index('accounts_deleted').on(table.deletedAt).where(sql`deleted_at IS NOT NULL`),
    index('accounts_sandbox').on(table.number).where(sql`sandbox IS NOT NULL`),
    index('accounts_sandbox_end')
      .on(table.sandboxErasesAt)
      .where(sql`sandbox_erases_at IS NOT NULL`),
  ],
)

/**
 * What an account has reported on its latest day, and what it stores. Isolates add their counts now
 * and then, so it is an estimate; the sweep subtracts what it deletes.
 */
export const accountUsage = sqliteTable('account_usage', {
  accountId: text('account_id').primaryKey(),
  day: text().notNull(),
  locations: integer().notNull(),
  storageBytes: integer('storage_bytes').notNull(),
  /** Requests of `day`. */
  requests: integer().notNull().default(0),
})

/** What an account reported on earlier days, as its usage had it at the end of the day. */
export const usageDays = sqliteTable(
  'usage_days',
  {
    accountId,
    day: text().notNull(),
    locations: integer().notNull(),
    requests: integer().notNull(),
    storageBytes: integer('storage_bytes').notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.day] })],
)

/** The usage of a month that is over, which never changes again. It outlives the account. */
export const usageMonths = sqliteTable(
  'usage_months',
  {
    accountId,
    /** YYYY-MM, in the account's zone. */
    month: text().notNull(),
    record: text({ mode: 'json' }).$type<UsageDays>().notNull(),
    creation: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.month] }),
    index('usage_months_month').on(table.month, table.accountId),
  ],
)

/**
 * Who wrote what. Entries of the service itself have no account and are in cell 0. Nothing but their
 * age deletes them, and the erasure of the account, which leaves those of the operator.
 */
export const audit = sqliteTable(
  'audit',
  {
    accountId,
    id: text().notNull(),
    at: integer().notNull(),
    actorType: text('actor_type').$type<Actor['type']>().notNull(),
    actorId: text('actor_id').notNull(),
    actorName: text('actor_name'),
    /** Such as `zone.updated`. */
    action: text().notNull(),
    resourceType: text('resource_type').notNull(),
    resourceId: text('resource_id').notNull(),
    changes: text({ mode: 'json' }).$type<Change[]>().notNull(),
    requestId: text('request_id').notNull(),
    address: text(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index('audit_resource').on(table.accountId, table.resourceId, table.id),
    // For all accounts of the cell: ids begin with the time.
    index('audit_id').on(table.id),
  ],
)

/** The networks that a key has been used from. */
export const keyNetworks = sqliteTable(
  'key_networks',
  {
    keyId: text('key_id').notNull(),
    /** A hash: the row shows no address. */
    network: text().notNull(),
    accountId,
    creation: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.keyId, table.network] }),
    index('key_networks_account').on(table.accountId),
  ],
)

/** People and machines that operate the service, in cell 0 only. */
export const operators = sqliteTable('operators', {
  id: text().primaryKey(),
  name: text().notNull(),
  /** By which Cloudflare Access tells who signs in; null for a machine. */
  email: text(),
  emailKey: text('email_key').unique(),
  role: text().$type<OperatorRole>().notNull(),
  /** Tells a regenerated key from the one before. */
  keyId: text('key_id'),
  /** The SHA-256 of the key's secret; null without a key. */
  hash: text(),
  expires: integer(),
  /** The key before, until its overlap ends. */
  oldHash: text('old_hash'),
  oldExpires: integer('old_expires'),
  /** Precise to ten minutes. */
  lastUsed: integer('last_used'),
  ...edited,
})

/** Accounts that are being moved to another cell, or were, in cell 0 only. */
export const moves = sqliteTable('moves', {
  accountId: text('account_id').primaryKey(),
  fromCell: integer('from_cell').notNull(),
  toCell: integer('to_cell').notNull(),
  step: text().$type<MoveStep>().notNull(),
  /** How far the step has come. */
  position: text({ mode: 'json' }).$type<MovePosition>().notNull(),
  /** Who works on it, and until when nobody else may. */
  lease: text().notNull().default(''),
  leasedUntil: integer('leased_until').notNull().default(0),
  creation: integer().notNull(),
  changed: integer().notNull(),
  /** Why it does not go on; null while it does. */
  fault: text(),
})

/**
 * Accounts that move out of this cell or into it, and those that have left: their tokens still name
 * it. Triggers of every table of an account look at `state` (scripts/migrations/moveTriggers.ts).
 */
export const movedAccounts = sqliteTable(
  'moved_accounts',
  {
    accountId: text('account_id').primaryKey(),
    /** The account's number, which the keys of locations begin with. */
    number: integer().notNull(),
    /** The other cell: where the account goes, is, or comes from. */
    cell: integer().notNull(),
    state: text().$type<MoveState>().notNull(),
    /** When a freeze ends by itself. */
    until: integer().notNull().default(0),
    /** The lease of whoever may copy. */
    lease: text().notNull().default(''),
    creation: integer().notNull(),
  },
  (table) => [uniqueIndex('moved_accounts_number').on(table.number)],
)

/** Keys of rows that were written in this cell while their account moved, by triggers. */
export const moveChanges = sqliteTable(
  'move_changes',
  {
    number: integer().primaryKey({ autoIncrement: true }),
    accountId,
    /** The table's name. */
    name: text().notNull(),
    /** The values of the key as a JSON array. */
    key: text().notNull(),
  },
  (table) => [index('move_changes_key').on(table.accountId, table.name, table.key)],
)

/** Months of tracks that are in the bucket. Their rows in `locations` are deleted afterwards. */
export const archivedMonths = sqliteTable(
  'archived_months',
  {
    accountId,
    /** YYYY-MM, in UTC. */
    month: text().notNull(),
    /** The name of the object. */
    object: text().notNull(),
    locations: integer().notNull(),
    bytes: integer().notNull(),
    creation: integer().notNull(),
    /** The row group of the object whose rows are deleted here next; null once all are. */
    nextGroup: integer('next_group'),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.month] }),
    index('archived_months_moving').on(table.creation).where(sql`next_group IS NOT NULL`),
  ],
)

/** API keys, each with the SHA-256 of its secret. */
export const keys = sqliteTable(
  'keys',
  {
    ...owned,
    name: text().notNull(),
    scopes: text({ mode: 'json' }).$type<string[]>().notNull(),
    hash: text().notNull(),
    userId: text('user_id'),
    creation: integer().notNull(),
    /** Chosen by its creator, or the end of its overlap once it has been regenerated. */
    expires: integer(),
    /** The creator's choice, once `expires` is the end of an overlap; 0 for none. */
    chosenEnd: integer('chosen_end'),
    /** Precise to ten minutes. */
    lastUsed: integer('last_used'),
    /** The operator whose support uses it, and why; null for a key of the account. */
    operatorId: text('operator_id'),
    supportReason: text('support_reason'),
    /** The version of the API that it pins; null for the first. */
    apiVersion: text('api_version'),
  },
  (table) => [
    index('keys_account').on(table.accountId, table.id),
    index('keys_user').on(table.accountId, table.userId, table.id).where(sql`user_id IS NOT NULL`),
    index('keys_expires').on(table.expires).where(sql`expires IS NOT NULL`),
    index('keys_support').on(table.accountId, table.expires).where(sql`operator_id IS NOT NULL`),
  ],
)

/**
 * Replies to requests with an Idempotency-Key, kept for 24 hours. While there is none, `status` is
 * null and `body` is the attempt's id.
 */
export const idempotency = sqliteTable(
  'idempotency',
  {
    accountId,
    principal: text().notNull(),
    key: text().notNull(),
    request: text().notNull(),
    claimedAt: integer('claimed_at').notNull(),
    /**
     * When an attempt without a reply counts as lost; 0 when it ended with a reply that is not
     * kept.
     */
    leasedUntil: integer('leased_until').notNull().default(0),
    status: integer(),
    headers: text({ mode: 'json' }).$type<Record<string, string>>(),
    body: text(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.principal, table.key] }),
    index('idempotency_claimed').on(table.claimedAt),
  ],
)

/** Deleted devices and accounts whose rows are still to be erased, in pages. */
export const erasures = sqliteTable(
  'erasures',
  {
    accountId,
    /** The id of an account or of a device. */
    id: text().notNull(),
    /** The device's key; null when the whole account is erased. */
    deviceKey: integer('device_key'),
    /** When it begins: a deleted device can be restored until then. */
    creation: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index('erasures_creation').on(table.creation),
  ],
)

/** The number of the account's last event. It stays when events are trimmed. */
export const eventHeads = sqliteTable('event_heads', {
  accountId: text('account_id').primaryKey(),
  sequence: integer().notNull(),
  /** The feed's leases: until when it has open streams, and streams that want locations. */
  streamsUntil: integer('streams_until').notNull().default(0),
  locationStreamsUntil: integer('location_streams_until').notNull().default(0),
})

/** The account's event log, numbered without gaps. */
export const events = sqliteTable(
  'events',
  {
    accountId,
    sequence: integer().notNull(),
    id: text().notNull(),
    type: text().notNull(),
    time: integer().notNull(),
    deviceId: text('device_id'),
    data: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.sequence] }),
    uniqueIndex('events_id').on(table.accountId, table.id),
    index('events_time').on(table.time),
    index('events_device')
      .on(table.accountId, table.deviceId, table.sequence)
      .where(sql`device_id IS NOT NULL`),
  ],
)

/**
 * Projection of the ledger's device records, as of `seq`. `key` is `deviceKey` of
 * domain/account/device.ts.
 */
export const devices = sqliteTable(
  'devices',
  {
    key: integer().primaryKey(),
    id: text().notNull().unique(),
    accountId,
    name: text().notNull(),
    nameKey: text('name_key').notNull(),
    description: text().notNull(),
    min: text().notNull(),
    identifier: text(),
    identifierKey: text('identifier_key'),
    model: text().notNull(),
    tags: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
    expires: integer({ mode: 'boolean' }).notNull(),
    expirationDate: text('expiration_date'),
    /** `expirationDate` when `expires` is true, else null. State and licenses depend on it. */
    ends: text(),
    dailyEmailLimit: integer('daily_email_limit').notNull(),
    dailySmsLimit: integer('daily_sms_limit').notNull(),
    /** The parts of the daily limits that only emergencies may use. */
    emailReserve: integer('email_reserve').notNull().default(0),
    smsReserve: integer('sms_reserve').notNull().default(0),
    /** In km/h; 0 for no check. */
    maxSpeed: real('max_speed').notNull().default(1200),
    usageDate: text('usage_date'),
    emailsSent: integer('emails_sent').notNull().default(0),
    smsSent: integer('sms_sent').notNull().default(0),
    /** The source that last reported for the device; null without any. */
    sourceId: text('source_id'),
    /** The latest arrival that is not shown by the last location. */
    lastContact: integer('last_contact'),
    ...edited,
    seq: integer().notNull(),
  },
  (table) => [
    index('devices_name').on(table.accountId, table.nameKey, table.key),
    index('devices_creation').on(table.accountId, table.creation, table.key),
    index('devices_identifier')
      .on(table.accountId, table.identifierKey, table.key)
      .where(sql`identifier_key IS NOT NULL`),
    index('devices_ends').on(table.accountId, table.ends).where(sql`ends IS NOT NULL`),
  ],
)

/** Deleted devices, so that a late repeat of an older effect cannot restore one. */
export const tombstones = sqliteTable(
  'tombstones',
  {
    accountId,
    id: text().notNull(),
    seq: integer().notNull(),
    creation: integer().notNull(),
    /** The groups it was last in: their users still see its last events. */
    groups: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** The device as it was, while it can be restored; null for those of earlier releases. */
    device: text({ mode: 'json' }).$type<Device>(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index('tombstones_creation').on(table.creation),
  ],
)

/** Webhooks of an account. Their secrets, cursors and deliveries are in the account's feed. */
export const webhooks = sqliteTable(
  'webhooks',
  {
    ...owned,
    url: text().notNull(),
    events: text({ mode: 'json' }).$type<string[]>().notNull(),
    devices: text({ mode: 'json' }).$type<string[]>().notNull(),
    groups: text({ mode: 'json' }).$type<string[]>().notNull(),
    description: text().notNull(),
    enabled: integer({ mode: 'boolean' }).notNull(),
    disabledReason: text('disabled_reason').$type<DisabledReason>(),
    /** Whether `events` includes `location.reported`, which is logged only for subscribers. */
    wantsLocations: integer('wants_locations', { mode: 'boolean' }).notNull(),
    /**
     * The account's last event when the webhook was created or enabled: only later ones are
     * delivered.
     */
    since: integer().notNull(),
    /** Null for `json`. */
    format: text().$type<OutputFormat>(),
    settings: text({ mode: 'json' }).$type<OutputSettings>(),
    ...edited,
  },
  (table) => [
    index('webhooks_account').on(table.accountId, table.id),
    index('webhooks_enabled').on(table.accountId, table.wantsLocations).where(sql`enabled = 1`),
  ],
)

export const groups = sqliteTable(
  'groups',
  {
    ...owned,
    name: text().notNull(),
    nameKey: text('name_key').notNull(),
    description: text().notNull(),
    ...edited,
  },
  (table) => [
    uniqueIndex('groups_name').on(table.accountId, table.nameKey),
    index('groups_account').on(table.accountId, table.id),
  ],
)

/**
 * Which device is in which group, indexed both ways. `nameKey` and `creation` are copies of the
 * device's, so that a page of a group's devices is a range of an index.
 */
export const groupDevices = sqliteTable(
  'group_devices',
  {
    groupId: text('group_id').notNull(),
    deviceKey: integer('device_key').notNull(),
    accountId,
    nameKey: text('name_key').notNull().default(''),
    creation: integer().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.groupId, table.deviceKey] }),
    index('group_devices_device').on(table.deviceKey, table.groupId),
    index('group_devices_account').on(table.accountId),
    index('group_devices_name').on(table.groupId, table.nameKey, table.deviceKey),
    index('group_devices_creation').on(table.groupId, table.creation, table.deviceKey),
  ],
)

/** Users of the account. A key bound to a user has at most the privileges of that user. */
export const users = sqliteTable(
  'users',
  {
    ...owned,
    name: text().notNull(),
    nameKey: text('name_key').notNull(),
    email: text().notNull(),
    /** The address for comparison: folded, with the domain in ASCII. */
    emailKey: text('email_key').notNull(),
    country: text().notNull(),
    timeZone: text('time_zone').notNull(),
    phone: text(),
    notifyEmail: integer('notify_email', { mode: 'boolean' }).notNull(),
    notifySms: integer('notify_sms', { mode: 'boolean' }).notNull(),
    notifyPush: integer('notify_push', { mode: 'boolean' }).notNull().default(true),
    notifyVoice: integer('notify_voice', { mode: 'boolean' }).notNull().default(false),
    description: text().notNull(),
    message: text().notNull(),
    disabled: integer({ mode: 'boolean' }).notNull(),
    disabledMessage: text('disabled_message').notNull(),
    tags: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
    privileges: text({ mode: 'json' }).$type<Privilege[]>().notNull(),
    /** The group that the user is confined to; null for the whole account. */
    groupId: text('group_id'),
    deviceId: text('device_id'),
    adminDevices: integer('admin_devices'),
    fromTime: integer('from_time'),
    expires: integer(),
    /** A salted slow hash; null for a user without a password. */
    password: text(),
    creation: integer().notNull(),
    modification: integer().notNull(),
    lastLogin: integer('last_login'),
    /** When a session was last refreshed. It outlives the session. */
    lastRefresh: integer('last_refresh'),
    /** When the user was last sent an invitation. */
    invitedAt: integer('invited_at'),
    version: integer().notNull(),
    /** When the user was last disabled: password links from before are not valid any more. */
    lastDisabled: integer('last_disabled'),
  },
  (table) => [
    index('users_account').on(table.accountId, table.id),
    index('users_name').on(table.accountId, table.nameKey, table.id),
    uniqueIndex('users_email').on(table.accountId, table.emailKey),
    index('users_group').on(table.accountId, table.groupId).where(sql`group_id IS NOT NULL`),
    index('users_device').on(table.accountId, table.deviceId).where(sql`device_id IS NOT NULL`),
  ],
)

/** Sessions of users who signed in with a password. Each refresh counts up and extends the end. */
export const sessions = sqliteTable(
  'sessions',
  {
    ...owned,
    userId: text('user_id').notNull(),
    /** The number of the current cookie. */
    counter: integer().notNull(),
    creation: integer().notNull(),
    /** When the current cookie was made. */
    lastUsed: integer('last_used').notNull(),
    /** `sessionEnd` of domain/account/session.ts. */
    expires: integer().notNull(),
    /** The browser, as it named itself at the sign-in; empty for an agent. */
    userAgent: text('user_agent').notNull(),
    /** The program that the user has let act for them by OAuth; null for a browser. */
    agent: text({ mode: 'json' }).$type<SessionAgent>(),
  },
  (table) => [
    index('sessions_user').on(table.accountId, table.userId, table.lastUsed),
    index('sessions_expires').on(table.expires),
  ],
)

/** Browsers that a user gets notifications in, as the browser described them. */
export const pushSubscriptions = sqliteTable(
  'push_subscriptions',
  {
    /** Derived from account and endpoint: a browser has one row, that of its last user. */
    ...owned,
    userId: text('user_id').notNull(),
    /** The session that made it; it ends with the session, unless that only expires. */
    sessionId: text('session_id'),
    endpoint: text().notNull(),
    p256dh: text().notNull(),
    auth: text().notNull(),
    /** The key of ours that the browser accepts notifications of. */
    keyId: text('key_id').notNull(),
    /** The browser, as it named itself. */
    userAgent: text('user_agent').notNull(),
    creation: integer().notNull(),
  },
  (table) => [
    index('push_subscriptions_user').on(table.accountId, table.userId, table.creation),
    index('push_subscriptions_key').on(table.keyId),
  ],
)

/** The keys that push services know us by, in cell 0 only; the newest is used for new browsers. */
export const pushKeys = sqliteTable('push_keys', {
  id: text().primaryKey(),
  /** Raw, in base64url, as browsers want it. */
  publicKey: text('public_key').notNull(),
  /** A JWK, encrypted with a key that derives from TOKEN_SECRET. */
  privateKey: text('private_key').notNull(),
  creation: integer().notNull(),
})

/**
 * Attempts to sign in with a password, which wait when too many of them fail. Rows are
 * of a user, an account, a browser, a network with a user or an account, or of all networks together,
 * whether the user exists or not.
 */
export const signInAttempts = sqliteTable(
  'sign_in_attempts',
  {
    /** A hash: the row shows neither names nor addresses. */
    id: text().primaryKey(),
    /** How many attempts there were; it sinks with time. */
    level: real().notNull(),
    /** The time of the last attempt. */
    at: integer().notNull(),
    /** When the next attempt may be made; 0 for at once. */
    nextAt: integer('next_at').notNull(),
  },
  (table) => [index('sign_in_attempts_at').on(table.at)],
)

/**
 * Clients that have registered by OAuth, and grants of users to them, in cell 0 only. Secrets are
 * hashes. A grant names its session and a cell, and nothing else of an account.
 */
export const oauthRecords = sqliteTable(
  'oauth_records',
  {
    /** As the OAuth library names it: `client:…` or `grant:…`. */
    id: text().primaryKey(),
    /** JSON of the OAuth library. */
    value: text().notNull(),
    expires: integer().notNull(),
    /** Whether it is a client that no user has let in so far. */
    isUnused: integer('is_unused', { mode: 'boolean' }).notNull(),
  },
  (table) => [
    index('oauth_records_expires').on(table.expires),
    index('oauth_records_unused').on(table.expires).where(sql`is_unused = 1`),
  ],
)

/**
 * Tracks, ordered by device and time. Numbers are integers of the `scale` in domain/track/location.ts;
 * `rest` is JSON with whatever the columns cannot hold, or null.
 */
export const locations = sqliteTable(
  'locations',
  {
    deviceKey: integer('device_key').notNull(),
    time: integer().notNull(),
    latitude: integer().notNull(),
    longitude: integer().notNull(),
    altitude: integer(),
    speed: integer(),
    course: integer(),
    accuracy: integer(),
    battery: integer(),
    source: text(),
    receivedAt: integer('received_at').notNull(),
    rest: text(),
  },
  (table) => [primaryKey({ columns: [table.deviceKey, table.time] })],
)

/** Areas that rules refer to. */
export const zones = sqliteTable(
  'zones',
  {
    ...owned,
    name: text().notNull(),
    description: text().notNull(),
    color: text().notNull(),
    shape: text({ mode: 'json' }).$type<ZoneShape>().notNull(),
    /** How many positions the shape has: the account's number is limited. */
    vertices: integer().notNull(),
    ...edited,
  },
  (table) => [index('zones_account').on(table.accountId, table.id)],
)

/** What the service watches for. `record` has every member that is edited. */
export const rules = sqliteTable(
  'rules',
  {
    ...owned,
    enabled: integer({ mode: 'boolean' }).notNull(),
    /** The type of its condition. */
    type: text().$type<RuleType>().notNull(),
    record: text({ mode: 'json' }).$type<RuleRecord>().notNull(),
    ...edited,
  },
  (table) => [
    index('rules_account').on(table.accountId, table.id),
    index('rules_contact')
      .on(table.accountId, table.id)
      .where(sql`enabled = 1 AND type IN ('silent', 'returns')`),
  ],
)

/** Promises to report: a device has to check in by a deadline, or again and again. */
export const watches = sqliteTable(
  'watches',
  {
    ...owned,
    deviceKey: integer('device_key').notNull(),
    record: text({ mode: 'json' }).$type<WatchRecord>().notNull(),
    state: text().$type<WatchState>().notNull(),
    /** From when on what counts is a check-in: its start, an edit, the last check-in. */
    since: integer().notNull(),
    nextDue: integer('next_due').notNull(),
    /** The deadline for which the reminder was sent. */
    reminded: integer(),
    lastCheckIn: integer('last_check_in'),
    /** The alert of the last missed check-in. */
    alertId: text('alert_id'),
    /** When the sweep has to look at it: the reminder, or the end of the grace. */
    checkAt: integer('check_at').notNull(),
    /** By which people check in without signing in. */
    link: text().notNull(),
    ...edited,
  },
  (table) => [
    index('watches_account').on(table.accountId, table.id),
    index('watches_device').on(table.deviceKey),
    uniqueIndex('watches_link').on(table.link),
    index('watches_active').on(table.checkAt, table.id).where(sql`state = 'active'`),
    index('watches_overdue').on(table.creation, table.id).where(sql`state = 'overdue'`),
  ],
)

/** Addresses by which anybody sees where some devices are. */
export const shares = sqliteTable(
  'shares',
  {
    ...owned,
    record: text({ mode: 'json' }).$type<ShareRecord>().notNull(),
    /** Of the secret in the address. */
    hash: text().notNull(),
    /** Salted hash; null for a share without a password. */
    password: text(),
    /** The group of a confined creator: devices outside of it are not shown. */
    groupId: text('group_id'),
    views: integer().notNull().default(0),
    lastViewed: integer('last_viewed'),
    ...edited,
  },
  (table) => [
    index('shares_account').on(table.accountId, table.id),
    uniqueIndex('shares_hash').on(table.hash),
  ],
)

/** Devices that a rule has found silent, with the contact after which they were. */
export const silentMarks = sqliteTable(
  'silent_marks',
  {
    ruleId: text('rule_id').notNull(),
    deviceKey: integer('device_key').notNull(),
    accountId,
    contact: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.ruleId, table.deviceKey] }),
    index('silent_marks_account').on(table.accountId),
    index('silent_marks_device').on(table.deviceKey),
  ],
)

/** Since when devices have been in or out of zones, or stand, where a rule is about the minutes. */
export const stays = sqliteTable(
  'stays',
  {
    deviceKey: integer('device_key').primaryKey(),
    accountId,
    /** Of each `Signal.stay` an instant and, where the device stands, its place, as JSON. */
    record: text().notNull(),
  },
  (table) => [index('stays_account').on(table.accountId)],
)

/** How far each part of the sweep has come in this cell. */
export const sweepPositions = sqliteTable('sweep_positions', {
  part: text().primaryKey(),
  position: integer().notNull(),
})

/** One row: when the sweep was last in this cell, and when each of its parts last succeeded. */
export const sweepRuns = sqliteTable('sweep_runs', {
  id: integer().primaryKey(),
  at: integer().notNull(),
  parts: text({ mode: 'json' }).$type<Record<string, number>>().notNull(),
})

/**
 * What a ledger or a feed could not carry out for a while, as it says itself every few minutes. A row
 * that was not confirmed for long means nothing.
 */
export const backlogs = sqliteTable(
  'backlogs',
  {
    accountId,
    kind: text().$type<'outbox' | 'webhook'>().notNull(),
    /** The webhook; empty for an outbox. */
    id: text().notNull(),
    /** Since when. */
    since: integer().notNull(),
    confirmed: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.kind, table.id] }),
    index('backlogs_confirmed').on(table.confirmed),
  ],
)

/**
 * Projection of alerts that the ledger accepted. An id begins with the time of its arrival; that of
 * an emergency which a report raises with its `dateTime`.
 */
export const alerts = sqliteTable(
  'alerts',
  {
    ...owned,
    deviceKey: integer('device_key').notNull(),
    /** The alert's `dateTime`. */
    time: integer().notNull(),
    name: text().notNull(),
    text: text().notNull(),
    latitude: real(),
    longitude: real(),
    /** When the position was taken; null if that is not known. */
    positionTime: integer('position_time'),
    positionSource: text('position_source').$type<PositionSource>().notNull().default('none'),
    emergency: integer({ mode: 'boolean' }).notNull().default(false),
    /** Whether `time` was more than an hour ago when the alert arrived. */
    late: integer({ mode: 'boolean' }).notNull().default(false),
    /** When it arrived; null for alerts of earlier releases, whose ids tell it. */
    receivedAt: integer('received_at'),
    /** How many messages it has, sent or not: a page of alerts is cut by their number. */
    messages: integer().notNull(),
    acknowledgedAt: integer('acknowledged_at'),
    /** The user whose key was used, or the key when it belongs to no user. */
    acknowledgedBy: text('acknowledged_by'),
    resolvedAt: integer('resolved_at'),
    resolvedBy: text('resolved_by'),
    cancelledAt: integer('cancelled_at'),
    cancelledBy: text('cancelled_by'),
    /** How often it was reopened, and how many notes its log has: both are limited. */
    reopened: integer().notNull().default(0),
    notes: integer().notNull().default(0),
    /** The user, key or source that raised it; null for a rule's and those of earlier releases. */
    raisedBy: text('raised_by'),
    /** Whether it is a test of the emergency chain. */
    test: integer({ mode: 'boolean' }).notNull().default(false),
    /** Later emergencies that joined this one, in order of time; null without any. */
    updates: text({ mode: 'json' }).$type<AlertUpdate[]>(),
    /** The rule that raised it, and the zone; null without one. */
    ruleId: text('rule_id'),
    zoneId: text('zone_id'),
    /** Its place in words; null without any. */
    place: text(),
    /** The number of the last effect that changed it. */
    seq: integer().notNull().default(0),
  },
  (table) => [
    index('alerts_device').on(table.deviceKey, table.time, table.id),
    index('alerts_account').on(table.accountId, table.time, table.id),
    index('alerts_name').on(table.accountId, table.name, table.time, table.id),
  ],
)

/** What happened to an alert after it was raised, in the order of the effects that wrote it. */
export const alertLog = sqliteTable(
  'alert_log',
  {
    accountId,
    alertId: text('alert_id').notNull(),
    /** The number of the effect. */
    seq: integer().notNull(),
    at: integer().notNull(),
    action: text().$type<AlertAction>().notNull(),
    /** The user, key or source; null for what the service did by itself. */
    by: text(),
    /** A note, the number of a round, or a reason. */
    text: text(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.alertId, table.seq] })],
)

/**
 * Projection of messages, as of `seq`. An id begins with its alert's, so the messages of an alert are
 * one range of the key. Account notices have the device key 0, which no device has.
 */
export const messages = sqliteTable(
  'messages',
  {
    accountId,
    id: text().notNull(),
    deviceKey: integer('device_key').notNull(),
    kind: text().$type<MessageKind>().notNull().default('alert'),
    channel: text().$type<Channel>().notNull(),
    recipient: text().notNull(),
    /** The user whom it was sent to, or the name of the emergency contact. */
    userId: text('user_id'),
    contact: text(),
    /** The message of the same alert that has the subject and the text; null if it is this one. */
    textOf: text('text_of'),
    subject: text().notNull(),
    /** Has a mark in place of its link. */
    text: text().notNull(),
    /** The SHA-256 of the link, and until when it is valid. */
    linkHash: text('link_hash'),
    linkExpires: integer('link_expires'),
    /** The link itself, only where the provider sends nothing. */
    link: text(),
    status: text().$type<Status>().notNull(),
    reason: text(),
    resetAt: integer('reset_at'),
    provider: text(),
    /** The provider's own id of the message, where its reports have nothing else. */
    providerId: text('provider_id'),
    attempts: integer().notNull(),
    changed: integer().notNull(),
    seq: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index('messages_link').on(table.linkHash).where(sql`link_hash IS NOT NULL`),
    index('messages_provider').on(table.providerId).where(sql`provider_id IS NOT NULL`),
    index('messages_notices').on(table.changed).where(sql`device_key = 0`),
    index('messages_commands').on(table.changed).where(sql`kind = 'command'`),
    index('messages_queued').on(table.changed).where(sql`status = 'queued'`),
  ],
)

/**
 * Alerts that a report or a rule raises, stored in its own batch until the ledger has decided on
 * them. `raise` is the whole alert. The sweep hands over what a crash has left.
 */
export const pendingRaises = sqliteTable(
  'pending_raises',
  {
    accountId,
    /** The press's id, or the alert's without one. */
    id: text().notNull(),
    creation: integer().notNull(),
    raise: text({ mode: 'json' }).$type<PendingRaise>().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index('pending_raises_creation').on(table.creation, table.id),
  ],
)

/** Source → account and cell, in cell 0 only. Written before the source and deleted after it. */
export const sourceDirectory = sqliteTable(
  'source_directory',
  {
    ...owned,
    cell: integer().notNull(),
  },
  (table) => [index('source_directory_account').on(table.accountId)],
)

/** Sources of an account. The secrets of their settings are in the account's ledger. */
export const sources = sqliteTable(
  'sources',
  {
    ...owned,
    name: text().notNull(),
    provider: text().$type<SourceProvider>().notNull(),
    enabled: integer({ mode: 'boolean' }).notNull(),
    /** Without secrets. */
    settings: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    newDevices: text('new_devices').$type<'hold' | 'create'>().notNull(),
    keepRaw: integer('keep_raw', { mode: 'boolean' }).notNull(),
    /** The SHA-256 of the secret in its address. */
    hash: text().notNull(),
    /** Precise to a minute. */
    lastReceived: integer('last_received'),
    /** Reports of unclaimed identifiers that did not fit. */
    dropped: integer().notNull().default(0),
    ...edited,
  },
  (table) => [index('sources_account').on(table.accountId, table.id)],
)

/** Identifiers that a source reported and no device of the account has. */
export const unclaimed = sqliteTable(
  'unclaimed',
  {
    sourceId: text('source_id').notNull(),
    identifierKey: text('identifier_key').notNull(),
    accountId,
    identifier: text().notNull(),
    firstReceived: integer('first_received').notNull(),
    lastReceived: integer('last_received').notNull(),
    /** When its reports are to be moved, since a device has the identifier; null for none. */
    importDueAt: integer('claimed_at'),
  },
  (table) => [
    primaryKey({ columns: [table.sourceId, table.identifierKey] }),
    index('unclaimed_account').on(table.accountId, table.identifierKey),
    index('unclaimed_received').on(table.lastReceived),
    index('unclaimed_claimed').on(table.importDueAt).where(sql`claimed_at IS NOT NULL`),
  ],
)

/** What they reported, the newest 100 of each. */
export const unclaimedReports = sqliteTable(
  'unclaimed_reports',
  {
    number: integer().primaryKey({ autoIncrement: true }),
    sourceId: text('source_id').notNull(),
    identifierKey: text('identifier_key').notNull(),
    accountId,
    /** The item's key: a repeat is stored once. */
    key: text().notNull(),
    kind: text().notNull(),
    receivedAt: integer('received_at').notNull(),
    item: text({ mode: 'json' }).$type<SourceItem>().notNull(),
  },
  (table) => [
    uniqueIndex('unclaimed_reports_key').on(table.sourceId, table.identifierKey, table.key),
    // Ends with the number of the row: the newest are found without sorting.
    index('unclaimed_reports_identifier').on(table.sourceId, table.identifierKey),
    index('unclaimed_reports_account').on(table.accountId),
    index('unclaimed_reports_received').on(table.receivedAt),
  ],
)

/** Locations of a source that are kept apart because they cannot be true. */
export const quarantine = sqliteTable(
  'quarantine',
  {
    /** Derived from device and time: a repeat is stored once. */
    ...owned,
    deviceKey: integer('device_key').notNull(),
    time: integer().notNull(),
    reason: text().$type<QuarantineReason>().notNull(),
    receivedAt: integer('received_at').notNull(),
    /** As `packLocation` makes it. */
    packed: text().notNull(),
  },
  (table) => [
    index('quarantine_device').on(table.deviceKey, table.receivedAt, table.id),
    index('quarantine_account').on(table.accountId),
    index('quarantine_received').on(table.receivedAt),
  ],
)

/** Payloads of sources: those that failed, and all where the source says so. */
export const sourcePayloads = sqliteTable(
  'source_payloads',
  {
    ...owned,
    sourceId: text('source_id').notNull(),
    receivedAt: integer('received_at').notNull(),
    /** Why it failed; null when all of it was understood. */
    reason: text(),
    size: integer().notNull(),
    /** What the decoder needs, with the body in base64; null when it is too large to keep. */
    push: text(),
  },
  (table) => [
    index('source_payloads_source').on(table.sourceId, table.id),
    index('source_payloads_failed').on(table.sourceId, table.id).where(sql`reason IS NOT NULL`),
    index('source_payloads_account').on(table.accountId),
    index('source_payloads_received').on(table.receivedAt),
  ],
)

export type CommandStatus = 'queued' | 'sent' | 'delivered' | 'failed' | 'unknown'

/** Commands to devices, and messages that were written on them: a conversation. */
export const commands = sqliteTable(
  'commands',
  {
    ...owned,
    deviceKey: integer('device_key').notNull(),
    isReceived: integer('is_received', { mode: 'boolean' }).notNull(),
    format: text().$type<'Text' | 'Hex' | 'Base64'>().notNull(),
    command: text().notNull(),
    sms: integer({ mode: 'boolean' }).notNull(),
    status: text().$type<CommandStatus>().notNull(),
    answer: text(),
    creation: integer().notNull(),
  },
  (table) => [
    index('commands_device').on(table.deviceKey, table.creation, table.id),
    index('commands_account').on(table.accountId),
    index('commands_creation').on(table.creation),
  ],
)
