import type { DeviceRecord } from '../domain/device.ts'
import type { Decision } from './decision.ts'
import { createDevice, type DeviceOutcome } from './devices.ts'

/* What the ledger keeps and decides for the account's sources. */

/** Credentials of a provider, which are in no database and in no export. */
export type Secrets = Record<string, string>

export const readSecrets = (sql: SqlStorage, sourceId: string): Secrets => {
  const [row] = sql
    .exec<{ secrets: string }>('SELECT secrets FROM source_secrets WHERE source_id = ?', sourceId)
    .toArray()
  return row ? (JSON.parse(row.secrets) as Secrets) : {}
}

/** Members that are left out stay as they are. */
export const writeSecrets = (sql: SqlStorage, sourceId: string, secrets: Secrets): void => {
  const merged = JSON.stringify({ ...readSecrets(sql, sourceId), ...secrets })
  sql.exec(
    `INSERT INTO source_secrets (source_id, secrets) VALUES (?1, ?2)
     ON CONFLICT (source_id) DO UPDATE SET secrets = ?2`,
    sourceId,
    merged,
  )
}

export const forgetSecrets = (sql: SqlStorage, sourceId: string): void => {
  sql.exec('DELETE FROM source_secrets WHERE source_id = ?', sourceId)
  sql.exec('DELETE FROM source_devices WHERE source_id = ?', sourceId)
}

/** How many devices a source may create on a day. */
const MAX_NEW_DEVICES = 20

const NOBODY = { userId: null, groupId: null, cap: null }

export interface DeviceOfSource {
  sourceId: string
  id: string
  record: DeviceRecord
}

/** Creates a device for a new identifier; null when the source has created enough today. */
export const createForSource = (
  tx: Decision,
  { sourceId, id, record }: DeviceOfSource,
): DeviceOutcome | null => {
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
