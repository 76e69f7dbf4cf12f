import type { Env } from '../../env.ts'
import { ledgerOf } from '../../ledger/stub.ts'
import { hasEncryption, type PushSettings } from '../settings.ts'
import type { StoredSource } from '../store.ts'

/** Asks the ledger only for a provider whose pushes can be encrypted. */
export const readPushSettings = async (
  { env, accountId }: { env: Env; accountId: string },
  { id, provider, settings }: StoredSource,
): Promise<PushSettings> => {
  if (!hasEncryption(provider)) return settings
  const { encryptionKey } = await ledgerOf(env, accountId).editSourceSecrets(id, null)
  return { ...settings, encryptionKey }
}
