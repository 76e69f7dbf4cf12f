import type { DeviceRecord } from '../domain/account/device.ts'
import type { Decision } from './decision.ts'
import { createDevice, type DeviceOutcome } from './devices/devices.ts'

/* What the ledger keeps and decides for the account's sources. */

/** Credentials of a provider, which are in no database and in no export. */
export type Secrets = Record<string, string>

/** Nothing; secrets to set, or to delete by null (those left out stay); or to delete all of the source. */
export type SecretsChange = null | Record<string, string | null> | 'delete'

const readSecrets = (sql: SqlStorage, sourceId: string): Secrets => {
  const [row] = sql
    .exec<{ secrets: string }>('SELECT secrets FROM source_secrets WHERE source_id = ?', sourceId)
    .toArray()
  return row ? (JSON.parse(row.secrets) as Secrets) : {}
}

/** The source's secrets after the change. */
export const changeSecrets = (
  sql: SqlStorage,
  sourceId: string,
  change: SecretsChange,
): Secrets => {
  if (change === 'delete') {
    sql.exec('DELETE FROM source_secrets WHERE source_id = ?', sourceId)
    sql.exec('DELETE FROM source_devices WHERE source_id = ?', sourceId)
    return {}
  }
  const changed = Object.entries({ ...readSecrets(sql, sourceId), ...change })
  const secrets = Object.fromEntries(
    changed.filter((entry): entry is [string, string] => entry[1] !== null),
  )
  if (change !== null)
    sql.exec(
      `INSERT INTO source_secrets (source_id, secrets) VALUES (?1, ?2)
       ON CONFLICT (source_id) DO UPDATE SET secrets = ?2`,
      sourceId,
      JSON.stringify(secrets),
    )
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
  const [row] = sql
    .exec<{ count: number }>(
      'SELECT count FROM source_devices WHERE source_id = ? AND day = ?',
      sourceId,
      account.day,
    )
    .toArray()
  if ((row?.count ?? 0) >= MAX_NEW_DEVICES) return null
  const outcome = createDevice(tx, id, record, NOBODY)
  if (!outcome.ok) return outcome
  sql.exec('DELETE FROM source_devices WHERE source_id = ? AND day < ?', sourceId, account.day)
  sql.exec(
    `INSERT INTO source_devices (source_id, day, count) VALUES (?, ?, 1)
     ON CONFLICT (source_id, day) DO UPDATE SET count = count + 1`,
    sourceId,
    account.day,
  )
  return outcome
}
