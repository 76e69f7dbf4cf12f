import { openCell } from '../../db/open.ts'
import { readRoundState } from '../../db/queries/recipients.ts'
import type { Env } from '../../env.ts'
import { readAccount } from '../accounts/accountRow.ts'
import type { EmergencyRow } from '../tables.ts'

/** What the cell knows of an emergency that is about to be sent again. */
export interface RoundContext {
  /** Users who would get its messages now: others may have been disabled since. */
  userIds: ReadonlySet<string>
  /** The cell has it as acknowledged, though the ledger does not: the ledger was restored. */
  isAcknowledged: boolean
}

/** A cell that does not answer must not hold up an emergency. */
const MAX_WAIT_MS = 2_000

/** Null when the cell cannot be asked: then the round goes to everyone who was sent a message before. */
export const readRoundContext = async (
  sql: SqlStorage,
  env: Env,
  row: EmergencyRow,
): Promise<RoundContext | null> => {
  const account = readAccount(sql)
  if (!account) return null
  const about = { accountId: account.id, deviceId: row.details.deviceId, now: Date.now() }
  try {
    return await Promise.race([
      readRoundState(openCell(env, account.cell), about, row.id),
      scheduler.wait(MAX_WAIT_MS).then(() => null),
    ])
  } catch {
    return null
  }
}
