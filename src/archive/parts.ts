import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { RowForm } from '../db/queries/archiveRows.ts'
import * as schema from '../db/schema.ts'
import type { FileType } from '../domain/archive/archive.ts'
import { countVertices, type ZoneShape } from '../domain/geo/zone.ts'
import { emailKey } from '../domain/message/email.ts'
import { LINK_BYTES, makeLink } from '../domain/message/link.ts'
import { fold } from '../domain/text/fold.ts'

/* What an archive has of an account: in which order, and without what. */

/** What an import knows of the account. */
export interface Target {
  accountId: string
  cell: number
  /** The account's last event. */
  sequence: number
}

type Row = Record<string, unknown>

export interface CellPart extends RowForm {
  type: FileType
  /** Unique among the account's rows, and the columns of an index. */
  order: SQLiteColumn[]
  pageRows: number
  /** Whether the rows are found by the keys of the account's devices. */
  isByDevice: boolean
  /** Whether rows have a device: `deviceKey` of the table is `deviceId` of a line. */
  hasDevice: boolean
  /** A row of no device has this key in place of one. */
  noDeviceKey: number | null
  /** Changes a row for the archive. */
  toArchive: (row: Row) => Row
  /** What an import adds to a row. */
  derive: (row: Row, target: Target) => Row
  /** Rows that are exported. */
  condition: SQL
}

const PAGE_ROWS = 1000

const part = (table: SQLiteTable, order: SQLiteColumn[], options: Partial<CellPart> = {}) => ({
  type: 'ndjson' as const,
  table,
  order,
  pageRows: PAGE_ROWS,
  isByDevice: order[0]?.name === 'device_key',
  hasDevice: 'deviceKey' in table,
  noDeviceKey: null,
  toArchive: (row: Row) => row,
  derive: () => ({}),
  condition: sql`true`,
  ...options,
  omitted: ['accountId', 'deviceKey', ...(options.omitted ?? [])],
})

const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes))

/** The same of a message that nobody will send any more: its ledger is another one. */
const withoutSending = (row: Row): Row =>
  row.status === 'queued' ? { ...row, status: 'failed', reason: 'account-exported' } : row

const { alertLog, alerts, audit, commands, events, groupDevices, groups, messages } = schema
const { quarantine, rules, silentMarks, sources, stays, users, watches, webhooks, zones } = schema

/** Secrets, and what only this installation knows, are omitted. */
export const CELL_PARTS = {
  groups: part(groups, [groups.id], {
    omitted: ['nameKey'],
    derive: ({ name }) => ({ nameKey: fold(String(name)) }),
  }),
  groupDevices: part(groupDevices, [groupDevices.deviceKey, groupDevices.groupId], {
    // The ledger fills them in when the import is finished.
    omitted: ['nameKey', 'creation'],
    derive: () => ({ nameKey: '', creation: 0 }),
  }),
  users: part(users, [users.id], {
    omitted: ['password', 'nameKey', 'emailKey'],
    derive: ({ name, email }) => ({
      nameKey: fold(String(name)),
      emailKey: emailKey(String(email)) ?? '',
    }),
  }),
  zones: part(zones, [zones.id], {
    type: 'geojson',
    pageRows: 20,
    omitted: ['vertices'],
    derive: ({ shape }) => ({ vertices: countVertices(shape as ZoneShape) }),
  }),
  rules: part(rules, [rules.id], { pageRows: 100 }),
  watches: part(watches, [watches.id], {
    omitted: ['link'],
    derive: (_, { cell }) => ({ link: makeLink(cell, random(LINK_BYTES)) }),
  }),
  sources: part(sources, [sources.id], {
    omitted: ['hash'],
    // Of no address: the account rotates it to get one.
    derive: () => ({ hash: random(32).toHex() }),
  }),
  webhooks: part(webhooks, [webhooks.id], {
    omitted: ['since'],
    derive: (_, { sequence }) => ({ since: sequence }),
  }),
  quarantine: part(quarantine, [quarantine.deviceKey, quarantine.receivedAt, quarantine.id]),
  stays: part(stays, [stays.deviceKey]),
  silentDevices: part(silentMarks, [silentMarks.deviceKey, silentMarks.ruleId]),
  alerts: part(alerts, [alerts.time, alerts.id], {
    pageRows: 200,
    omitted: ['seq'],
    derive: () => ({ seq: 0 }),
  }),
  alertLog: part(alertLog, [alertLog.alertId, alertLog.seq]),
  messages: part(messages, [messages.id], {
    pageRows: 500,
    noDeviceKey: 0,
    omitted: ['linkHash', 'linkExpires', 'link', 'seq'],
    toArchive: withoutSending,
    derive: () => ({ seq: 0 }),
  }),
  commands: part(commands, [commands.deviceKey, commands.creation, commands.id]),
  events: part(events, [events.sequence], { pageRows: 2000 }),
  audit: part(audit, [audit.id], { pageRows: 500 }),
} satisfies Record<string, CellPart>
export type CellPartName = keyof typeof CELL_PARTS
