import { deleteRows, findRow, insertRow, query } from '../db/objectTable.ts'
import type { DeviceRecord } from '../domain/account/device.ts'
import type { Decision } from './decision.ts'
import { createDevice, type DeviceOutcome } from './devices/devices.ts'
import { sourceDevices, sourceSecrets } from './tables.ts'

/* What the ledger keeps and decides for the account's sources. */

/** Credentials of a provider, which are in no database and in no export. */
export type Secrets = Record<string, string>

/** Nothing; secrets to set, or to delete by null (those left out stay); or to delete all of the source. */
export type SecretsChange = null | Record<string, string | null> | 'delete'

/** The source's secrets after the change. */
export const changeSecrets = (
  sql: SqlStorage,
  sourceId: string,
  change: SecretsChange,
): Secrets => {
  if (change === 'delete') {
    deleteRows(sql, sourceSecrets, { sourceId })
    deleteRows(sql, sourceDevices, { sourceId })
    return {}
  }
  const stored = findRow(sql, sourceSecrets, { sourceId })?.secrets
  const changed = Object.entries({ ...stored, ...change })
  const secrets = Object.fromEntries(
    changed.filter((entry): entry is [string, string] => entry[1] !== null),
  )
  if (change !== null) insertRow(sql, sourceSecrets, { sourceId, secrets }, 'replace')
  return secrets
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
