import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { DeviceRecord } from '../domain/account/device.ts'
import type { AccountStatus } from '../domain/admin/status.ts'
import type { AlertUpdate, Channel, MessageKind, Status } from '../domain/message/alert.ts'
import type { UndeliveredReason } from '../domain/message/emergency.ts'
import type { EmergencyDetails } from './alerts/emergencies.ts'

/*
 * The tables of the ledger's own SQLite, as `migrations.ts` leaves them: types of rows and names of
 * columns come from here. A test compares both.
 */

const flag = (name: string) => integer(name, { mode: 'boolean' }).notNull()

/** One row. */
export const account = sqliteTable('account', {
  id: text().notNull(),
  number: integer().notNull(),
  cell: integer().notNull(),
  userName: text('user_name').notNull(),
  name: text().notNull(),
  timeZone: text('time_zone').notNull(),
  day: text().notNull(),
  total: integer().notNull(),
  used: integer().notNull(),
  /** Of releases before the degrees of suspension. */
  disabled: flag('disabled'),
  creation: integer().notNull(),
  lastModified: integer('last_modified').notNull(),
  version: integer().notNull(),
  nextDevice: integer('next_device').notNull().default(1),
  nextExpiry: integer('next_expiry'),
  /** The last event number that the cell is known to have. */
  eventsSeen: integer('events_seen').notNull().default(0),
  erased: flag('erased').default(false),
  retentionDays: integer('retention_days').notNull().default(365),
  locationsPerDay: integer('locations_per_day'),
  storageBytes: integer('storage_bytes'),
  maxUsers: integer('max_users'),
  /** `MessageOverrides`; null for none. */
  messagesPerDay: text('messages_per_day'),
  /** `EmergencySettings`; null for the default. */
  emergency: text(),
  status: text().$type<AccountStatus>().notNull().default('active'),
  statusMessage: text('status_message').notNull().default(''),
  deletedAt: integer('deleted_at'),
  supportMayWrite: flag('support_may_write').default(false),
  requestsPerMinute: integer('requests_per_minute'),
  maxRetentionDays: integer('max_retention_days'),
  maxZones: integer('max_zones'),
  /** `Sandbox`; null for an account that is none. */
  sandbox: text(),
})

export const devices = sqliteTable('devices', {
  key: integer().notNull(),
  id: text().notNull(),
  identifierKey: text('identifier_key'),
  ends: text(),
  /** Whether its expiry is in the license log. */
  recorded: flag('recorded'),
  record: text({ mode: 'json' }).$type<DeviceRecord>().notNull(),
  /** A bound user, whose cap counts the device. */
  createdBy: text('created_by'),
  creation: integer().notNull(),
  lastModified: integer('last_modified').notNull(),
  version: integer().notNull(),
  /** When it last raised an emergency though it had expired. */
  expiredEmergencyAt: integer('expired_emergency_at'),
})
export type DeviceRow = typeof devices.$inferSelect

/** How many devices end on which day. */
export const endings = sqliteTable('endings', {
  day: text().notNull(),
  count: integer().notNull(),
})

export const creators = sqliteTable('creators', {
  userId: text('user_id').notNull(),
  count: integer().notNull(),
})

/** The messages of a device, a day and a channel; notices and the account have keys of their own. */
export const messageCounts = sqliteTable('message_counts', {
  deviceKey: integer('device_key').notNull(),
  day: text().notNull(),
  channel: text().$type<Channel>().notNull(),
  sent: integer().notNull(),
  suppressed: integer().notNull(),
  /** The part of `sent` that emergencies sent. */
  emergency: integer().notNull(),
  /** Whether the limit was reached on this day. */
  reached: flag('reached'),
})

export const log = sqliteTable('log', {
  sequence: integer().notNull(),
  time: integer().notNull(),
  deviceId: text('device_id'),
  what: text({
    enum: ['granted', 'released', 'expired', 'refused', 'total-changed', 'zone-changed'],
  }).notNull(),
  used: integer().notNull(),
  total: integer().notNull(),
})

export const outbox = sqliteTable('outbox', {
  seq: integer(),
  effect: text().notNull(),
  /** When it was posted; 0 by releases that did not note it. */
  at: integer().notNull().default(0),
})

export const messages = sqliteTable('messages', {
  id: text().notNull(),
  /** The provider's idempotency key: the same on every attempt, a new one for a manual resend. */
  key: text().notNull(),
  deviceKey: integer('device_key').notNull(),
  kind: text().$type<MessageKind>().notNull(),
  channel: text().$type<Channel>().notNull(),
  to: text('recipient').notNull(),
  timeZone: text('time_zone').notNull(),
  userId: text('user_id'),
  contact: text(),
  /** The message of the same alert that has the subject and the text; null if it is this one. */
  textOf: text('text_of'),
  subject: text().notNull(),
  /** Has a mark in place of its link. */
  text: text().notNull(),
  /** Null once no attempt is left to make. */
  link: text(),
  urgent: flag('urgent'),
  status: text().$type<Status>().notNull(),
  reason: text(),
  provider: text(),
  /** The provider's own id of the message, once it is accepted. */
  providerId: text('provider_id'),
  /** Whether the provider reports what becomes of a message that it has accepted. */
  awaitsReceipt: flag('awaits_receipt').default(false),
  /** The account's day on which the message was counted. */
  day: text().notNull(),
  accepted: integer().notNull(),
  attempts: integer().notNull().default(0),
  /** Null once no attempt is left to make. */
  nextTry: integer('next_try'),
  /** Time of the first attempt that the provider may have accepted without our knowing. */
  unsureSince: integer('unsure_since'),
  changed: integer().notNull(),
})
export type MessageRow = typeof messages.$inferSelect

export const receipts = sqliteTable('receipts', {
  messageId: text('message_id').notNull(),
  mark: text().notNull(),
})

/** Notices that were accepted. */
export const notices = sqliteTable('notices', {
  id: text().notNull(),
  accepted: integer().notNull(),
  linkKind: text('link_kind'),
  userId: text('user_id'),
})

/** The ids of alerts that were raised, so that a repeat raises nothing. */
export const raised = sqliteTable('raised', {
  id: text().notNull(),
  at: integer().notNull(),
  /** Kept for as long as alerts are, because a report may be repeated at any time. */
  remembered: flag('remembered'),
  /** The open emergency that it joined. */
  joined: text(),
  undelivered: text().$type<UndeliveredReason>(),
})

/** The reports that raised alerts or joined them, and who else raised them again. */
export const presses = sqliteTable('presses', {
  /** The id of the alert by device, name and `dateTime`; empty without a report. */
  raiseId: text('raise_id').notNull(),
  /** Empty for a report by the API and a rule; a user or key without a report. */
  source: text().notNull(),
  digest: text().notNull(),
  /** When it arrived. */
  at: integer().notNull(),
  alertId: text('alert_id').notNull(),
  /** Whether the alert's log has a line about a cancellation by the source. */
  noted: flag('noted'),
})

/** Cancellations of trackers, for an hour. */
export const cancellations = sqliteTable('cancellations', {
  deviceKey: integer('device_key').notNull(),
  source: text().notNull(),
  name: text().notNull(),
  digest: text().notNull(),
  /** What was raised after this time is not meant. */
  time: integer().notNull(),
  /** When it arrived. */
  at: integer().notNull(),
  /** Whether it waits for the emergency that it cancels. */
  waits: flag('waits'),
})

/** The emergencies that are not over: a row is deleted when its alert is resolved or cancelled. */
export const emergencies = sqliteTable('emergencies', {
  id: text().notNull(),
  deviceKey: integer('device_key').notNull(),
  name: text().notNull(),
  /** The alert's `dateTime`. */
  time: integer().notNull(),
  raisedAt: integer('raised_at').notNull(),
  details: text({ mode: 'json' }).$type<EmergencyDetails>().notNull(),
  updates: text({ mode: 'json' }).$type<AlertUpdate[]>().notNull(),
  /** How many messages the alert has, those of its rounds too. */
  messages: integer().notNull(),
  /** When to check that a message has reached somebody; null while that is settled. */
  checkAt: integer('check_at'),
  /** How many times the account was notified that nobody is reached. */
  reports: integer().notNull().default(0),
  /** How many rounds of its escalation have been sent. */
  round: integer().notNull(),
  nextRound: integer('next_round'),
  /** An acknowledged one is not joined, checked or sent again. */
  state: text().$type<'open' | 'acknowledged'>().notNull(),
  /** When an acknowledged one is reopened if nothing happens; null for never. */
  againAt: integer('again_at'),
})
export type EmergencyRow = typeof emergencies.$inferSelect

/** The states of alerts that were changed after they were raised. */
export const alertStates = sqliteTable('alert_states', {
  alertId: text('alert_id').notNull(),
  acknowledgedAt: integer('acknowledged_at'),
  acknowledgedBy: text('acknowledged_by'),
  resolvedAt: integer('resolved_at'),
  resolvedBy: text('resolved_by'),
  cancelledAt: integer('cancelled_at'),
  cancelledBy: text('cancelled_by'),
  reopened: integer().notNull(),
  notes: integer().notNull(),
  /** The number of the effect that writes it to the cell. */
  seq: integer().notNull(),
  changed: integer().notNull(),
})

/** The notes that were added, so that a repeat adds nothing; for two days. */
export const notes = sqliteTable('notes', {
  id: text().notNull(),
  at: integer().notNull(),
})

/** The tests of the emergency chain. */
export const drills = sqliteTable('drills', {
  alertId: text('alert_id').notNull(),
  at: integer().notNull(),
  /** The account's day on which it was run. */
  day: text().notNull(),
})

/** Devices that were deleted and can be restored. */
export const deletedDevices = sqliteTable('deleted_devices', {
  id: text().notNull(),
  at: integer().notNull(),
  /** The row as it was. */
  device: text({ mode: 'json' }).$type<DeviceRow>().notNull(),
})

/**
 * The messages that providers have accepted, by day of the account. The row without a provider has
 * the day since which they are counted.
 */
export const messageUsage = sqliteTable('message_usage', {
  day: text().notNull(),
  channel: text().$type<Channel>().notNull(),
  provider: text().notNull(),
  messages: integer().notNull(),
  /** Of SMS; of other channels as many as messages. */
  segments: integer().notNull(),
})

/** The import that fills this ledger: one row while it runs. */
export const imports = sqliteTable('imports', { session: text().notNull() })

/** The files of the archive that are stored. */
export const importFiles = sqliteTable('import_files', {
  name: text().notNull(),
  sha256: text().notNull(),
  bytes: integer().notNull(),
  rows: integer().notNull(),
})

/** The ids of deleted devices. */
export const deleted = sqliteTable('deleted', { id: text().notNull() })

/** Credentials of a provider, which are in no database and in no export. */
export const sourceSecrets = sqliteTable('source_secrets', {
  sourceId: text('source_id').notNull(),
  secrets: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
})

/** How many devices a source has created on a day. */
export const sourceDevices = sqliteTable('source_devices', {
  sourceId: text('source_id').notNull(),
  day: text().notNull(),
  count: integer().notNull(),
})

/** The numbers that commands of any device were sent to on a day; they outlive the device. */
export const commandNumbers = sqliteTable('command_numbers', {
  day: text().notNull(),
  number: text().notNull(),
})

/** The times of the alerts for each rule, device and zone, where the rule has a cooldown. */
export const ruleCooldowns = sqliteTable('rule_cooldowns', {
  ruleId: text('rule_id').notNull(),
  deviceId: text('device_id').notNull(),
  zoneId: text('zone_id').notNull(),
  time: integer().notNull(),
})
