import { deleteRows, findRow, insertRow, query } from '../db/objectTable.ts'
import type { DeviceRecord } from '../domain/account/device.ts'
import { HIDDEN } from '../domain/admin/audit.ts'
import type { Decision } from './decision.ts'
import { createDevice, type DeviceOutcome } from './devices/devices.ts'
import { sourceDevices, sourceSecrets } from './tables.ts'

/* What the ledger keeps and decides for the account's sources. */

/** Credentials of a provider, which are in no database and in no export. */
export type Secrets = Record<string, string>

/** Nothing; secrets to set, or to delete by null (those left out stay); or to delete all of the source. */
export type SecretsChange = null | Record<string, string | null> | 'delete'

export const readSecrets = (sql: SqlStorage, sourceId: string): Secrets =>
  findRow(sql, sourceSecrets, { sourceId })?.secrets ?? {}

/** The audit says which secrets were set, replaced or deleted, and shows none. */
const auditSecrets = (tx: Decision, sourceId: string, before: Secrets, after: Secrets): void => {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changes = [...names].flatMap((name) => {
    const [from, to] = [before[name], after[name]]
    return from === to
      ? []
      : [{ path: `settings/${name}`, from: from ? HIDDEN : null, to: to ? HIDDEN : null }]
  })
  if (changes.length > 0)
    tx.audit('source.secretsChanged', { type: 'source', id: sourceId }, changes)
}

/** The source's secrets after the change. */
export const changeSecrets = (
  tx: Decision,
  sourceId: string,
  change: NonNullable<SecretsChange>,
): { secrets: Secrets } => {
  const { sql } = tx
  const before = readSecrets(sql, sourceId)
  const given = change === 'delete' ? {} : { ...before, ...change }
  const secrets = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== null),
  )
  auditSecrets(tx, sourceId, before, secrets)
  if (change !== 'delete') insertRow(sql, sourceSecrets, { sourceId, secrets }, 'replace')
  else for (const table of [sourceSecrets, sourceDevices]) deleteRows(sql, table, { sourceId })
  return { secrets }
}

/** How many devices a source may create on a day. */
const MAX_NEW_DEVICES = 20

const NOBODY = { userId: null, groupId: null, cap: null }

export interface DeviceOfSource {
  sourceId: string
  id: string
  record: DeviceRecord
}

/** Null when the source has created enough devices today. */
export type SourceDeviceOutcome = DeviceOutcome | null

/** Creates a device for a new identifier. */
export const createDeviceForSource = (
  tx: Decision,
  { sourceId, id, record }: DeviceOfSource,
): SourceDeviceOutcome => {
  const { sql, account } = tx
  const { day } = account
  const created = findRow(sql, sourceDevices, { sourceId, day })?.count ?? 0
  if (created >= MAX_NEW_DEVICES) return null
  const outcome = createDevice(tx, id, record, NOBODY)
  if (!outcome.ok) return outcome
  const isOld = query`${sourceDevices.sourceId} = ${sourceId} AND ${sourceDevices.day} < ${day}`
  deleteRows(sql, sourceDevices, isOld)
  insertRow(sql, sourceDevices, { sourceId, day, count: created + 1 }, 'replace')
  return outcome
}
